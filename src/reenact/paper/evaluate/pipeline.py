"""Evaluate: generated code against its paper, a reference implementation, a rubric, people: what was asked.

The code runs only where that is asked for, and then in the sandbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from reenact.asking import carry_budget
from reenact.errors import InputError
from reenact.intake.papers.paper import Paper
from reenact.journal import Journal, OpenRun, mark
from reenact.llm.ask import Model
from reenact.paper.evaluate.agreement import agreements, interval, krippendorff_alpha, read_judgements
from reenact.paper.evaluate.align import AlignScore, align
from reenact.paper.evaluate.asked import Asked
from reenact.paper.evaluate.code import Code, read_code
from reenact.paper.evaluate.edits import edit_scores, edited_run
from reenact.paper.evaluate.evaluation import Evaluation, Panel, RubricScore
from reenact.paper.evaluate.execute import Ended, Executed, Machine, executed_now, executed_score, left_by
from reenact.paper.evaluate.human import human_scores, read_form
from reenact.paper.evaluate.lineage import LineageScore, cited_of, lineage_score, read_cited
from reenact.paper.evaluate.quality import quality_of
from reenact.paper.evaluate.rubric import (
    code_development,
    judge_leaves,
    read_rubric,
    resources_provided,
    score_tree,
)
from reenact.paper.lineage.questions import choose_lineage
from reenact.types import Tell, tell_nobody


@dataclass(frozen=True)
class Services:
    """What the story needs from outside."""

    journal: Journal
    model: Model | None = None
    machine: Machine | None = None
    """What code runs with, where it is to be run."""
    tell: Tell = tell_nobody
    argv: Sequence[str] = ()
    fresh: bool = False


def evaluate(asked: Asked, paper: Paper | None, services: Services) -> Evaluation:
    """All that was asked for; the same call after an interruption continues."""
    _check(asked, paper, services)
    code = read_code(asked.code)
    request = {
        "code": code.project.identity,
        "paper": mark(paper.text()) if paper is not None else None,
        "goal": asked.goal.text(),
        "model": services.model.name if services.model is not None else None,
        "asked": {name: str(getattr(asked, name)) for name in ("align", "reference", "rubric", "expert")},
    }
    with services.journal.run(
        pipeline="evaluate", request=request, argv=services.argv, what=asked.code.name, fresh=services.fresh
    ) as run:
        if services.model is not None:
            carry_budget(services.model, run, services.journal)
        forms = tuple(read_form(file) for file in asked.forms)
        ran = [*left_by(asked.metrics, asked.metric), *_run(asked, code, services, run)]
        found = Evaluation(
            title=paper.title if paper is not None else "",
            code=str(asked.code),
            quality=quality_of(code.python),
            align=_align(asked, paper, code, services, run),
            rubric=_rubric(asked, paper, code, services, run),
            forms=forms,
            human=human_scores(forms) if forms else (),
            panel=_panel(asked.judgements) if asked.judgements is not None else None,
            lineage=_lineage(asked, paper, services, run),
            edits=edit_scores([edited_run(services.journal, name) for name in asked.runs]),
            executed=executed_score(
                [Executed(asked.code.name, asked.value or 0.0, one.value) for one in ran]
            ),
            notes=(*code.notes, *(one.why for one in ran if one.why)),
            tokens=run.record.tokens_in + run.record.tokens_out,
            money=None if run.record.unpriced else Decimal(run.record.money),
            seconds=run.worked_s,
            run_id=run.record.id,
            reused=run.reused,
        )
        run.finish({"unjudged": found.unjudged})
    return found


def _check(asked: Asked, paper: Paper | None, services: Services) -> None:
    if asked.needs_paper and paper is None:
        raise InputError(
            "This is judged against the paper, and none is named.", next_step="Add --paper PAPER."
        )
    if asked.needs_model and services.model is None:
        raise InputError(
            "Align-Score and rubrics are judged by a model, and none is named.",
            next_step="--model anthropic:NAME, openai:NAME, ollama:NAME, command:PROGRAM or relay:FOLDER.",
        )
    if (asked.metrics or asked.execute) and (not asked.metric or asked.value is None):
        raise InputError(
            "A gap needs the metric and what the reference reaches.",
            next_step="Add --metric NAME and --value NUMBER.",
        )


def _align(
    asked: Asked, paper: Paper | None, code: Code, services: Services, run: OpenRun
) -> tuple[AlignScore, ...]:
    if not asked.align or paper is None or services.model is None:
        return ()
    reference = read_code(asked.reference).project if asked.reference is not None else None
    return align(paper, asked.goal, code.project, services.model, run, reference=reference)


def _rubric(
    asked: Asked, paper: Paper | None, code: Code, services: Services, run: OpenRun
) -> RubricScore | None:
    if asked.rubric is None or paper is None or services.model is None:
        return None
    whole = read_rubric(asked.rubric)
    tree = code_development(whole)
    if tree is None:
        raise InputError(f"The rubric has no leaf about writing code. Received: {asked.rubric}")
    tree = resources_provided(tree) if asked.resources else tree
    judged = judge_leaves(tree, paper, code.project, services.model, run, tell=services.tell)
    pruned = sum(1 for _ in whole.leaves()) - sum(1 for _ in tree.leaves())
    return RubricScore(score_tree(tree, judged), pruned)


def _lineage(asked: Asked, paper: Paper | None, services: Services, run: OpenRun) -> LineageScore | None:
    if asked.expert is None:
        return None
    expert = read_cited(asked.expert)
    if asked.chosen is not None:
        return lineage_score(read_cited(asked.chosen), expert, asked.exemplars)
    if paper is None:
        return None
    chosen = choose_lineage(paper, asked.goal, services.model, run.under("lineage"), most=asked.exemplars)
    return lineage_score(cited_of(paper, [one.candidate.reference.key for one in chosen]), expert)


def _panel(file: Path) -> Panel:
    said = read_judgements(file)
    distance = interval if said.in_numbers else None
    return Panel(agreements(said), krippendorff_alpha(said.ratings, distance), len(said.items))


def _run(asked: Asked, code: Code, services: Services, run: OpenRun) -> tuple[Ended, ...]:
    if not asked.execute:
        return ()
    if services.machine is None:
        raise InputError("Code runs in a sandbox only, and none is given.")
    return executed_now(code.project, services.machine, run, asked.execute, asked.metric)
