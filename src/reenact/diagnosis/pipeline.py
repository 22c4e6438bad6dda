"""Diagnose: read the program, watch it, ask the rules, change the suspects, say what is at fault.

program -> static findings -> watched run and small experiments -> rules and other detectors
-> suspects -> intervention -> findings, surest first
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from reenact.diagnosis.accused import accused_source
from reenact.diagnosis.depth import PLANS, budget_for
from reenact.diagnosis.diagnosis import Diagnosis, DiagnosisFinding
from reenact.diagnosis.judge import conclude, suspects_of, untried
from reenact.diagnosis.observe import ObserveOptions, observe, read_only
from reenact.diagnosis.options import DiagnoseOptions
from reenact.diagnosis.suspects import Suspect
from reenact.errors import InputError, Stopped, TimeSpent
from reenact.journal import Journal, Kind, Scope
from reenact.llm.ask import Model
from reenact.probe.options import fresh_folder
from reenact.probe.outcome import Outcome, OutcomeKind
from reenact.probe.read import is_trace, read_trace
from reenact.probe.surroundings import Opened, read_opened, surroundings, training_mark
from reenact.probe.trace import Root
from reenact.program.graph import TaskType
from reenact.program.program import Program
from reenact.rules.evidence import Evidence
from reenact.rules.experiments import Experiments
from reenact.rules.finding import Finding
from reenact.trials.budget import TrainingUsage
from reenact.trials.metric import Measure, choose_measure
from reenact.trials.trial import Trial
from reenact.types import Progress, Stop, Tell, tell_nobody

if TYPE_CHECKING:
    from reenact.trials.executor import Executor
    from reenact.trials.trainer import BudgetedTrainer


@dataclass(frozen=True)
class DiagnoseServices:
    """What it needs from outside."""

    journal: Journal
    traces: Path
    """Folder below which traces are kept."""
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)
    stdout: int | IO[bytes] | None = None
    """Where the program's own output goes."""
    model: Model | None = None
    """A language model that looks for faults too."""
    executor: Callable[[DiagnoseOptions], Executor] | None = None
    """Another way to train; none: a pool of processes."""
    argv: Sequence[str] = ()
    fresh: bool = False
    """Start over instead of resuming an interrupted diagnosis."""


def diagnose(
    program: Program, options: DiagnoseOptions, services: DiagnoseServices, seen: Evidence | None = None
) -> Diagnosis:
    """All of it, as a run of its own; the same call after an interruption continues it, after a
    finished one it is made again.

    `seen` is evidence that somebody gathered already: the program is not watched again.
    """
    asked = services.model.name if services.model is not None else None
    request = {
        "program": Trial(program).key,
        "folder": str(program.folder),
        "model": asked,
        **options.to_json(),
    }
    with services.journal.run(
        pipeline="diagnose",
        request=request,
        argv=services.argv,
        what=str(program.entry),
        fresh=services.fresh,
    ) as run:
        found = replace(diagnose_within(program, options, services, run, seen), reused=run.reused)
        run.finish(found.in_short(), found.exit_code)
    return found


def diagnose_within(
    program: Program,
    options: DiagnoseOptions,
    services: DiagnoseServices,
    run: Scope,
    seen: Evidence | None = None,
) -> Diagnosis:
    """The same as steps of a run that somebody else has opened: a repair is one run with its diagnosis."""
    begun = time.monotonic()
    evidence, notes = (seen, ()) if seen is not None else _observe(program, options, services, run)
    others, remarks = _other_detectors(evidence, options, services, run)
    suspects = suspects_of(evidence, options, others)
    tried = _intervene([one for one in suspects if one.first.is_root_cause], evidence, options, services, run)
    found = conclude(
        evidence, options, suspects, tried.accused, replace(tried.spent, seconds=time.monotonic() - begun),
        measure=tried.measure, notes=(*notes, *remarks, *tried.notes),
    )  # fmt: skip
    run.note("result", found.to_store())
    run.note("source", accused_source(found))
    return found


def _observe(
    program: Program, options: DiagnoseOptions, services: DiagnoseServices, run: Scope
) -> tuple[Evidence, tuple[str, ...]]:
    """Read the program; when the depth allows it, watch one run and experiment beside it. Notes say what
    could not be seen."""
    evidence = read_only(program)
    unread = tuple(f"{file.path} could not be read: {file.unparsed}." for file in program.unparsed)
    if not options.depth.runs:
        return evidence, unread
    services.tell(Progress("diagnose", 1, 5, "watch one training; one batch and a range of rates beside it"))
    observing = ObserveOptions(
        python=options.python, training_time=options.training_time, stdout=services.stdout
    )

    new_folders: set[Path] = set()

    def effect() -> WatchedRun:
        folder = fresh_folder(program.entry.stem, services.traces).resolve()
        seen, experiments = observe(program, observing, folder, services.stop)
        services.journal.seal(folder)
        new_folders.add(folder)
        if services.stop.by_user:
            raise Stopped("Stopped while the program was being watched.")
        own = [program.folder.resolve() / file.path for file in program.files]
        opened = read_opened(folder, own, aside=services.traces.parent)
        return WatchedRun(folder, seen.outcome, experiments, opened, traced=seen.trace is not None)

    of = {
        "program": Trial(program).key,
        "preset": observing.preset,
        "training_time": options.training_time,
        "max_time": services.stop.limit,
        "around": surroundings(program, options.python),
    }

    def holds(kept: WatchedRun) -> bool:
        mine = kept.folder in new_folders or services.journal.is_sealed(kept.folder, services.traces)
        return mine and kept.holds()

    kept = run.step("watch", effect, kind=Kind.TRIAL, inputs=of, returns=WatchedRun, still=holds)
    trace = read_trace(kept.folder, root=Root(program.folder)) if is_trace(kept.folder) else None
    if trace is None or kept.outcome.crash is not None:
        unseen: tuple[str, ...] = (kept.outcome.sentence,)
    else:
        unseen = (*kept.experiments.missing, *trace.missing)
    return replace(
        evidence,
        trace=trace,
        outcome=kept.outcome,
        experiments=kept.experiments,
        opened=kept.opened,
    ), (*unread, *unseen)


@dataclass(frozen=True)
class WatchedRun:
    """What a watched run leaves for whoever continues."""

    folder: Path
    outcome: Outcome
    experiments: Experiments
    opened: Opened
    traced: bool = False
    """Whether there was something to see: a trace that is gone now was cleared away."""

    def holds(self) -> bool:
        """Whether the program would be seen to do the same now: all that it read is as it was, and the trace
        was not cleared away."""
        return self.opened.is_unchanged() and (not self.traced or is_trace(self.folder))


def _other_detectors(
    evidence: Evidence, options: DiagnoseOptions, services: DiagnoseServices, run: Scope
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """What the learned detector and a language model find, when asked, and notes on their answers."""
    learned: tuple[Finding, ...] = ()
    if options.learned:
        from reenact.diagnosis.learned.findings import learned_findings

        learned = learned_findings(evidence)
    if services.model is None or evidence.program is None:
        return learned, ()
    from reenact.diagnosis.llm_detector.findings import llm_findings

    services.tell(Progress("diagnose", 2, 5, f"ask {services.model.name} for its opinion"))
    scope = run.under("model")
    try:
        found, notes = llm_findings(evidence.program, services.model, options.samples, scope)
    except TimeSpent as error:
        return learned, (f"The model was not asked to the end. {error.sentence}",)
    return (*learned, *found), notes


@dataclass(frozen=True)
class _Intervention:
    """What came of changing the suspects."""

    accused: Sequence[DiagnosisFinding]
    spent: TrainingUsage = field(default_factory=lambda: TrainingUsage(0.0))
    measure: Measure | None = None
    notes: tuple[str, ...] = ()


def _intervene(
    suspects: Sequence[Suspect],
    evidence: Evidence,
    options: DiagnoseOptions,
    services: DiagnoseServices,
    run: Scope,
) -> _Intervention:
    """Change the suspects when that was asked for and the program can be judged."""
    nothing = _Intervention(untried(suspects))
    if not options.depth.intervenes or not suspects or evidence.trace is None or evidence.outcome is None:
        return nothing
    if evidence.outcome.kind is OutcomeKind.TIMEOUT:
        late = "Nothing was tried: the training did not come to its end within the time that it had."
        return replace(nothing, notes=(late,))
    try:
        measure = choose_measure(evidence.trace, evidence.task, options.metric or None)
    except InputError as error:
        if options.metric:
            raise
        return replace(nothing, notes=(f"Nothing was tried. {error}",))
    from reenact.diagnosis.candidates import Screening
    from reenact.diagnosis.intervene import intervene

    make = services.executor or _pool
    with make(options) as executor:
        trainer = _trainer(evidence, executor, measure, options, services, run)
        try:
            trainer.measure_cost()
            short = trainer.budget.stretches(trainer.one_training)
            plan = PLANS[options.depth].for_short_trainings() if short else PLANS[options.depth]
            screening = Screening(trainer, plan, services.tell)
            accused, remarks = intervene(suspects, screening, threshold=options.threshold)
        except TimeSpent as error:
            accused, remarks = untried(suspects), [f"The suspects were not tried. {error.sentence}"]
    noted = [trainer.budget.note] if trainer.budget.note else []
    return _Intervention(accused, trainer.usage, measure, (*noted, *remarks))


def _trainer(
    evidence: Evidence,
    executor: Executor,
    measure: Measure,
    options: DiagnoseOptions,
    services: DiagnoseServices,
    run: Scope,
) -> BudgetedTrainer:
    """Trains the program that was watched."""
    from reenact.trials.trainer import BudgetedTrainer

    program, trace = evidence.program, evidence.trace
    assert program is not None
    assert trace is not None
    return BudgetedTrainer(
        program=program,
        executor=executor,
        measure=measure,
        budget=budget_for(options.depth, options.budget),
        one_training=trace.seconds,
        one_wall=trace.seconds,
        trials=run.under("trials"),
        stop=services.stop,
        label_spread=_spread(evidence),
        around=training_mark(program, options.python, evidence.opened),
        training_time=options.training_time,
    )


def _spread(evidence: Evidence) -> float | None:
    labels = evidence.labels
    return labels.std if labels is not None and evidence.task is TaskType.REGRESSION else None


def _pool(options: DiagnoseOptions) -> Executor:
    """Recognised Keras trainings run as bare loops, the first batch of each checked against Keras."""
    from reenact.trials.pool import ProcessPool

    return ProcessPool(workers=options.workers or os.cpu_count() or 1, python=options.python, express=True)
