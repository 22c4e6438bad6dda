"""Evaluate: generated code against its paper, a reference implementation, a rubric, people: what was asked.

The code runs only where that is asked for, and then in the sandbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from reenact.asking import carry_budget
from reenact.codegen.project import ENTRY
from reenact.errors import InputError, ended_by
from reenact.intake.papers.paper import Paper
from reenact.journal import Journal, OpenRun, mark
from reenact.llm.ask import Model
from reenact.paper.context import project_runner
from reenact.paper.evaluate.align import AlignScore, align
from reenact.paper.evaluate.evaluation import EvaluateOptions, Evaluation, RubricScore
from reenact.paper.evaluate.execution import Ended, edit_scores, edits_of, ended_run, executed_score, left_by
from reenact.paper.evaluate.lineage import LineageScore, cited_of, lineage_score, read_cited
from reenact.paper.evaluate.people import human_scores, read_form, read_panel
from reenact.paper.evaluate.quality import Code, quality_of, read_code
from reenact.paper.evaluate.rubric import (
    code_development,
    judge_leaves,
    read_rubric,
    resources_provided,
    score_tree,
)
from reenact.paper.lineage.trace import choose_lineage
from reenact.paper.measure.runs import full_runs
from reenact.paper.options import PaperOptions
from reenact.sandbox.box import Sandbox
from reenact.sandbox.environments.prepare import Environments
from reenact.types import Progress, Stop, Tell, tell_nobody


@dataclass(frozen=True)
class EvaluateServices:
    """What an evaluation needs from outside."""

    journal: Journal
    model: Model | None = None
    sandbox: Sandbox | None = None
    """Where code runs, where it is to be run."""
    environments: Environments | None = None
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)
    argv: Sequence[str] = ()
    fresh: bool = False

    def say(self, note: str) -> None:
        """Tell the user what happens; stop here when that was asked for."""
        if self.stop.asked:
            raise ended_by(self.stop, "Stopped between two steps.")
        self.tell(Progress("paper", note=note))


def evaluate(options: EvaluateOptions, paper: Paper | None, services: EvaluateServices) -> Evaluation:
    """All that was asked for; the same call after an interruption continues."""
    _check(options, paper, services)
    code = read_code(options.code)
    request = {
        "code": code.project.identity,
        "paper": mark(paper.text()) if paper is not None else None,
        "goal": options.goal.text(),
        "model": services.model.name if services.model is not None else None,
        "asked": {name: str(getattr(options, name)) for name in ("align", "reference", "rubric", "expert")},
    }
    with services.journal.run(
        pipeline="evaluate", request=request, argv=services.argv, what=options.code.name, fresh=services.fresh
    ) as run:
        if services.model is not None:
            carry_budget(services.model, run, services.journal)
        forms = tuple(read_form(file) for file in options.forms)
        ran = [left_by(file, options.metric) for file in options.metrics]
        ran += _run(options, code, services, run)
        edited = (edits_of(services.journal, name) for name in options.runs)
        found = Evaluation(
            title=paper.title if paper is not None else "",
            code=str(options.code),
            quality=quality_of(code.python),
            align=_align(options, paper, code, services, run),
            rubric=_rubric(options, paper, code, services, run),
            forms=forms,
            human=human_scores(forms) if forms else (),
            panel=read_panel(options.judgements) if options.judgements is not None else None,
            lineage=_lineage(options, paper, services, run),
            edits=edit_scores([edits for edits in edited if edits is not None]),
            executed=executed_score(options.value or 0.0, ran),
            notes=(*code.notes, *(one.why for one in ran if one.why)),
            tokens=run.record.tokens_in + run.record.tokens_out,
            money=None if run.record.unpriced else Decimal(run.record.money),
            seconds=run.worked_s,
            run_id=run.record.id,
            reused=run.reused,
        )
        run.finish({"unjudged": found.unjudged})
    return found


def _check(options: EvaluateOptions, paper: Paper | None, services: EvaluateServices) -> None:
    if options.needs_paper and paper is None:
        raise InputError(
            "This is judged against the paper, and none is named.", next_step="Add --paper PAPER."
        )
    if options.needs_model and services.model is None:
        raise InputError(
            "Align-Score and rubrics are judged by a model, and none is named.",
            next_step="--model anthropic:NAME, openai:NAME, ollama:NAME, command:PROGRAM or relay:FOLDER.",
        )
    if (options.metrics or options.execute) and (not options.metric or options.value is None):
        raise InputError(
            "A gap needs the metric and what the reference reaches.",
            next_step="Add --metric NAME and --value NUMBER.",
        )


def _align(
    options: EvaluateOptions, paper: Paper | None, code: Code, services: EvaluateServices, run: OpenRun
) -> tuple[AlignScore, ...]:
    if not options.align or paper is None or services.model is None:
        return ()
    reference = read_code(options.reference).project if options.reference is not None else None
    return align(paper, options.goal, code.project, services.model, run, reference=reference)


def _rubric(
    options: EvaluateOptions, paper: Paper | None, code: Code, services: EvaluateServices, run: OpenRun
) -> RubricScore | None:
    if options.rubric is None or paper is None or services.model is None:
        return None
    whole = read_rubric(options.rubric)
    tree = code_development(whole)
    if tree is None:
        raise InputError(f"The rubric has no leaf about writing code. Received: {options.rubric}")
    tree = resources_provided(tree) if options.resources else tree
    judged = judge_leaves(tree, paper, code.project, services.model, run, tell=services.tell)
    pruned = sum(1 for _ in whole.leaves()) - sum(1 for _ in tree.leaves())
    return RubricScore(score_tree(tree, judged), pruned)


def _lineage(
    options: EvaluateOptions, paper: Paper | None, services: EvaluateServices, run: OpenRun
) -> LineageScore | None:
    if options.expert is None:
        return None
    expert, most = read_cited(options.expert), options.exemplars
    if options.chosen is not None:
        return lineage_score(read_cited(options.chosen)[:most], expert)
    if paper is None:
        return None
    chosen = choose_lineage(paper, options.goal, services.model, run.under("lineage"), most=most)
    return lineage_score(cited_of(paper, [one.candidate.reference.key for one in chosen]), expert)


def _run(options: EvaluateOptions, code: Code, services: EvaluateServices, run: OpenRun) -> list[Ended]:
    """A full run for each of so many seeds: `python train.py --seed N` must leave metrics.json."""
    if not options.execute:
        return []
    if services.sandbox is None:
        raise InputError("Code runs in a sandbox only, and none is given.")
    if ENTRY not in code.project.files:
        raise InputError(
            f"The code has no {ENTRY}, so there is nothing to run.",
            next_step="Give it one that takes --seed N and leaves metrics.json, or name such files: --run.",
        )
    runner = project_runner(
        PaperOptions(data=options.data),
        services.sandbox,
        environments=services.environments,
        stop=services.stop,
    )
    place, seeds = run.under("execute"), range(options.execute)
    runs = full_runs(code.project, runner, place, seeds, wall_s=options.run_wall_s, say=services.say)
    return [ended_run(one, options.metric) for one in runs]
