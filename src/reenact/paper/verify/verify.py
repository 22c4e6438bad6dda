"""Every criterion against one version of the code: by program where that can tell, else by a judge."""

from __future__ import annotations

from collections.abc import Sequence

from reenact.codegen.project import Project
from reenact.codegen.runner import ProjectRunner
from reenact.intake.papers.paper import Paper
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.paper.criterion import Criterion, Judged, Kind
from reenact.paper.verify.finding import CodeFinding, unjudged
from reenact.paper.verify.formula import computed
from reenact.paper.verify.judge import judge
from reenact.paper.verify.mechanical import looked_up
from reenact.paper.verify.reading import read_project


def verify(
    criteria: Sequence[Criterion],
    project: Project,
    paper: Paper,
    model: Model | None,
    run: Scope,
    *,
    runner: ProjectRunner | None = None,
) -> tuple[Judged, ...]:
    """A verdict for each criterion, in their order. `runner` runs the functions of formulas; none: a judge.

    A criterion whose words are not in the paper is nobody's fact and cannot be judged.
    """
    code = read_project(project)
    found: dict[str, CodeFinding] = {one.id: looked_up(one.check, code) for one in criteria}
    if model is not None and runner is not None:
        formulas = [one for one in criteria if one.check is not None and one.check.kind is Kind.FORMULA]
        found |= computed(formulas, project, model, runner, run)
    judged = {one.id: _by_check(one, found[one.id], paper) for one in criteria}
    left = [one for one in criteria if judged[one.id] is None]
    if model is None:
        return tuple(
            judged[one.id]
            or unjudged(one, f"{found[one.id].seen} There is no model to judge.", found[one.id].lines)
            for one in criteria
        )
    said = {one.criterion: one for one in judge(left, found, project, model, run)}
    return tuple(judged[one.id] or said[one.id] for one in criteria)


def _by_check(one: Criterion, finding: CodeFinding, paper: Paper) -> Judged | None:
    """The verdict of a program, when it has one."""
    if any(place not in paper.by_id for place in one.places):
        return unjudged(one, "It names a place that is not in this paper.")
    return finding.judged(one, finding.value) if finding.value is not None else None
