"""Evaluate: generated code against its paper, a reference implementation, a rubric, people: what
was asked.

What was not asked for is none or empty. The code runs only where that is asked for, and then in the
sandbox.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path

from reenact.asking import carry_budget
from reenact.codegen.project import ENTRY, Project
from reenact.errors import InputError
from reenact.intake.papers.paper import Paper
from reenact.journal import Journal, OpenRun, Scope, mark
from reenact.llm.ask import Model
from reenact.paper.context import project_runner, say_or_stop
from reenact.paper.criterion import Value
from reenact.paper.evaluate import scores
from reenact.paper.evaluate.align import AlignScore, align
from reenact.paper.evaluate.people import (
    Form,
    HumanScore,
    Panel,
    human_scores,
    read_form,
    read_panel,
)
from reenact.paper.evaluate.quality import Quality, quality_of, read_code
from reenact.paper.evaluate.rubric import RubricScore, rubric_score
from reenact.paper.lineage.trace import choose_lineage
from reenact.paper.measure.runs import full_runs
from reenact.paper.options import Goal, PaperOptions
from reenact.result import Result
from reenact.sandbox.box import Sandbox
from reenact.sandbox.environments.prepare import Environments
from reenact.types import Stop, Tell, tell_nobody


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """What the user of `reenact evaluate` may ask for; only the code must be named."""

    code: Path
    goal: Goal = field(default_factory=Goal)
    align: bool = False
    """Judge the Align-Score."""
    reference: Path | None = None
    """Folder of a reference implementation: adds the code and mixed levels."""
    rubric: Path | None = None
    """A rubric tree in PaperBench's JSON."""
    resources: bool = False
    """Data and models are provided: getting them weighs nothing."""
    forms: tuple[Path, ...] = ()
    """Filled forms of the human rubric."""
    judgements: Path | None = None
    """A table of several judges' ratings, for their agreement."""
    expert: Path | None = None
    """An expert's list of the papers that matter, the most relevant first."""
    chosen: Path | None = None
    """The lineage to compare with it; none: it is chosen now."""
    exemplars: int = 3
    runs: tuple[str, ...] = ()
    """Ids of runs of `reenact paper` whose edits are counted."""
    metrics: tuple[Path, ...] = ()
    """metrics.json of runs; one that is not there is a run that failed."""
    execute: int = 0
    """Seeds with which the code is run here."""
    data: Path | None = None
    """The user's folder of data, seen read-only at DATA_DIR."""
    run_wall_s: float = 3600.0
    """Seconds that one run may take."""
    metric: str = ""
    value: float | None = None
    """What the reference implementation reaches of that metric."""

    @property
    def needs_model(self) -> bool:
        return self.align or self.rubric is not None


@dataclass(frozen=True, repr=False)
class PaperEvaluation(Result):
    """The whole answer."""

    title: str
    """Of the paper; empty when none was named."""
    code: str
    quality: Quality
    align: tuple[AlignScore, ...] = ()
    rubric: RubricScore | None = None
    forms: tuple[Form, ...] = ()
    human: tuple[HumanScore, ...] = ()
    panel: Panel | None = None
    lineage: scores.LineageScore | None = None
    edits: tuple[scores.EditScore, ...] = ()
    executed: scores.ExecutedScore | None = None
    notes: tuple[str, ...] = ()
    tokens: int = 0
    money: Decimal | None = Decimal(0)
    """US dollars; none when a price is unknown."""
    seconds: float = 0.0
    run_id: str = ""
    reused: str = ""
    """What was not made by this execution, in a line; empty for nothing."""

    def in_a_line(self) -> str:
        return f"{self.title or 'no paper'}: code in {self.code}"

    @property
    def unjudged(self) -> int:
        """Marks and leaves that no one could judge."""
        marks = sum(len(one.marks) - one.judged for one in self.align)
        return marks + (self.rubric.count(Value.UNKNOWN) if self.rubric is not None else 0)

    @property
    def is_silent(self) -> bool:
        """Whether a judge was asked and gave nothing at all."""
        tree = None
        if self.rubric is not None:
            tree = self.rubric.scored
        given = any(one.judged for one in self.align) or (
            tree is not None and tree.score is not None
        )
        return (bool(self.align) or self.rubric is not None) and not given


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


def evaluate(
    options: EvaluateOptions, paper: Paper | None, services: EvaluateServices
) -> PaperEvaluation:
    """All that was asked for; the same call after an interruption continues."""
    _check(options, paper, services)
    code, left_out = read_code(options.code)
    text = None
    if paper is not None:
        text = mark(paper.text())
    goal = options.goal.text()
    judge = None
    if services.model is not None:
        judge = services.model.name
    asked = {
        name: str(getattr(options, name)) for name in ("align", "reference", "rubric", "expert")
    }
    request = {
        "code": code.identity,
        "paper": text,
        "goal": goal,
        "model": judge,
        "asked": asked,
    }
    with services.journal.run(
        pipeline="evaluate",
        request=request,
        argv=services.argv,
        what=options.code.name,
        fresh=services.fresh,
    ) as run:
        if services.model is not None:
            carry_budget(services.model, run, services.journal)
        forms = tuple(read_form(file) for file in options.forms)
        ran = [scores.left_by(file, options.metric) for file in options.metrics]
        ran += _run(options, code, services, run)
        edited = (scores.edits_of(services.journal, name) for name in options.runs)
        aligned, rubric = _judged(
            options,
            paper=paper,
            code=code,
            services=services,
            run=run,
        )
        found = PaperEvaluation(
            title=paper.title if paper is not None else "",
            code=str(options.code),
            quality=quality_of(code.python),
            align=aligned,
            rubric=rubric,
            forms=forms,
            human=human_scores(forms) if forms else (),
            panel=read_panel(options.judgements) if options.judgements is not None else None,
            lineage=_lineage(options, paper, services, run),
            edits=scores.edit_scores([edits for edits in edited if edits is not None]),
            executed=scores.executed_score(options.value or 0.0, ran),
            notes=(
                *left_out,
                *(one.why for one in ran if one.why),
            ),
            **run.paid,
            seconds=run.worked_s,
            reused=run.reused,
        )
        run.finish({"unjudged": found.unjudged})
    return found


def _check(options: EvaluateOptions, paper: Paper | None, services: EvaluateServices) -> None:
    chooses = options.expert is not None and options.chosen is None
    if paper is None and (options.needs_model or chooses):
        why = "This is judged against the paper, and none is named."
        raise InputError(why, next_step="Add --paper PAPER.")
    if options.needs_model and services.model is None:
        how = "--model anthropic:NAME, openai:NAME, ollama:NAME, command:PROGRAM or relay:FOLDER."
        raise InputError(
            "Align-Score and rubrics are judged by a model, and none is named.",
            next_step=how,
        )
    if (options.metrics or options.execute) and (not options.metric or options.value is None):
        why = "A gap needs the metric and what the reference reaches."
        raise InputError(why, next_step="Add --metric NAME and --value NUMBER.")


def _judged(
    options: EvaluateOptions,
    paper: Paper | None,
    code: Project,
    services: EvaluateServices,
    run: OpenRun,
) -> tuple[tuple[AlignScore, ...], RubricScore | None]:
    """What a model judges, and is asked for: Align-Score and rubric."""
    model = services.model
    aligned = tuple[AlignScore, ...]()
    rubric = None
    if paper is None or model is None:
        return aligned, rubric
    if options.align:
        reference = None
        if options.reference is not None:
            reference = read_code(options.reference)[0]
        aligned = align(
            paper,
            options.goal,
            code,
            model,
            run,
            reference=reference,
        )
    if (file := options.rubric) is not None:
        given = options.resources
        tell = services.tell
        rubric = rubric_score(
            file,
            paper=paper,
            code=code,
            model=model,
            run=run,
            resources=given,
            tell=tell,
        )
    return aligned, rubric


def _lineage(
    options: EvaluateOptions,
    paper: Paper | None,
    services: EvaluateServices,
    run: OpenRun,
) -> scores.LineageScore | None:
    if options.expert is None:
        return None
    expert = scores.read_cited(options.expert)
    most = options.exemplars
    if options.chosen is not None:
        return scores.lineage_score(
            scores.read_cited(options.chosen)[:most],
            expert,
        )
    assert paper is not None
    chosen = choose_lineage(
        paper,
        options.goal,
        services.model,
        run.under("lineage"),
        most=most,
    )
    return scores.lineage_score(
        scores.cited_of(paper, [one.key for one in chosen]),
        expert,
    )


def _run(
    options: EvaluateOptions,
    code: Project,
    services: EvaluateServices,
    run: Scope,
) -> list[scores.Ended]:
    """A full run for each of so many seeds: `python train.py --seed N` must leave metrics.json."""
    if not options.execute:
        return []
    if services.sandbox is None:
        raise InputError("Code runs in a sandbox only, and none is given.")
    if ENTRY not in code.files:
        how = "Give it one that takes --seed N and leaves metrics.json, or name such files: --run."
        raise InputError(f"The code has no {ENTRY}, so there is nothing to run.", next_step=how)
    given = PaperOptions(data=options.data, run_wall_s=options.run_wall_s)
    runner = project_runner(
        given, services.sandbox, environments=services.environments, stop=services.stop
    )
    place = run.under("execute")
    seeds = range(options.execute)
    runs = full_runs(
        code,
        runner=runner,
        run=place,
        seeds=seeds,
        options=given,
        say=partial(say_or_stop, services.tell, services.stop),
    )
    return [scores.ended_run(one, options.metric) for one in runs]
