"""Diagnose: read the program, watch it, ask the rules, change the suspects, say what is at fault.

program -> static findings -> watched run and small experiments -> rules and learned opinion
-> suspects -> intervention -> accusations, surest first
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from reenact.diagnosis.accused import accused_source
from reenact.diagnosis.attempts import Attempts
from reenact.diagnosis.depth import spending
from reenact.diagnosis.diagnosis import Accusation, Diagnosis, Spent, Standing
from reenact.diagnosis.intervene import intervene
from reenact.diagnosis.judge import rule_findings
from reenact.diagnosis.learned.opinion import learned_opinion
from reenact.diagnosis.observe import Looking, look, read_only
from reenact.diagnosis.opinion.hear import model_opinion
from reenact.diagnosis.suppress import unsuppressed
from reenact.diagnosis.sureness import sureness
from reenact.diagnosis.suspect import Suspect, suspects_from
from reenact.diagnosis.wishes import Wishes
from reenact.errors import InputError, Stopped, TimeSpent
from reenact.journal import Journal, Kind, Scope
from reenact.llm.ask import Model
from reenact.probe.naming import fresh_folder
from reenact.probe.opened import Opened, read_opened
from reenact.probe.outcome import Outcome, OutcomeKind
from reenact.probe.read import is_trace, read_trace
from reenact.probe.root import Root
from reenact.probe.surroundings import surroundings, training_mark
from reenact.program.graph import TaskType
from reenact.program.program import Program
from reenact.rules.evidence import Evidence
from reenact.rules.experiments import Experiments
from reenact.rules.finding import Finding
from reenact.rules.registry import chosen
from reenact.rules.rule import Needs
from reenact.trials.executor import Executor
from reenact.trials.metric import Measure, choose_measure
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Trial
from reenact.types import Progress, Stop, Tell, tell_nobody


@dataclass(frozen=True)
class Services:
    """What the story needs from outside."""

    journal: Journal
    traces: Path
    """Folder below which traces are kept."""
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)
    stdout: int | IO[bytes] | None = None
    """Where the program's own output goes."""
    model: Model | None = None
    """A language model to ask for its opinion."""
    executor: Callable[[Wishes], Executor] | None = None
    """Another way to train; none: a pool of processes."""
    argv: Sequence[str] = ()
    fresh: bool = False
    """Start anew instead of continuing an earlier, interrupted diagnosis."""


def diagnose(program: Program, wishes: Wishes, services: Services, seen: Evidence | None = None) -> Diagnosis:
    """The whole story, as a run of its own; the same call after an interruption continues it, after a
    finished one it is made again.

    `seen` is evidence that somebody gathered already: the program is not watched again.
    """
    asked = services.model.name if services.model is not None else None
    request = {
        "program": Trial(program).key,
        "folder": str(program.folder),
        "model": asked,
        **wishes.to_json(),
    }
    with services.journal.run(
        story="diagnose", request=request, argv=services.argv, what=str(program.entry), fresh=services.fresh
    ) as run:
        found = replace(diagnose_within(program, wishes, services, run, seen), reused=run.reused)
        run.finish(found.in_short(), found.exit_code)
    return found


def diagnose_within(
    program: Program, wishes: Wishes, services: Services, run: Scope, seen: Evidence | None = None
) -> Diagnosis:
    """The same as steps of a run that somebody else has opened: a repair is one run with its diagnosis."""
    rules = chosen(wishes.select, wishes.ignore)
    begun = time.monotonic()
    evidence, notes = (seen, []) if seen is not None else _observe(program, wishes, services, run)
    findings = [*rule_findings(rules, evidence), *_opinions(evidence, wishes, services, run, notes)]
    observed = {rule.code for rule in rules if rule.needs & Needs.TRACE}
    suspects = suspects_from(unsuppressed(findings, program), observed)
    accusable = [one for one in suspects if one.first.accuses]
    symptoms = tuple(one for one in suspects if one not in accusable)
    measure, attempts, judged = _intervene(accusable, evidence, wishes, services, run, notes)
    found = Diagnosis(
        depth=wishes.depth,
        evidence=evidence,
        accusations=_sorted(one for one in judged if one.confidence >= wishes.threshold),
        doubts=_sorted(one for one in judged if one.confidence < wishes.threshold),
        symptoms=symptoms,
        threshold=wishes.threshold,
        spent=_spent(time.monotonic() - begun, attempts),
        measure=measure,
        notes=tuple(notes),
    )
    run.note("result", found.to_store())
    run.note("source", accused_source(found))
    return found


def _observe(program: Program, wishes: Wishes, services: Services, run: Scope) -> tuple[Evidence, list[str]]:
    """Read the program; when the depth allows it, watch one run and experiment beside it."""
    evidence = read_only(program)
    notes = [f"{file.path} could not be read: {file.unparsed}." for file in program.unparsed]
    if not wishes.depth.runs:
        return evidence, notes
    services.tell(Progress("diagnose", 1, 5, "watch one training; one batch and a range of rates beside it"))
    looking = Looking(python=wishes.python, training_time=wishes.training_time, stdout=services.stdout)

    watched: set[Path] = set()

    def effect() -> Left:
        folder = fresh_folder(program.entry.stem, services.traces).resolve()
        seen, experiments = look(program, looking, folder, services.stop)
        services.journal.seal(folder)
        watched.add(folder)
        if services.stop.by_user:
            raise Stopped("Stopped while the program was being watched.")
        own = [program.folder.resolve() / file.path for file in program.files]
        opened = read_opened(folder, own, aside=services.traces.parent)
        return Left(folder, seen.outcome, experiments, opened, traced=seen.trace is not None)

    of = {
        "program": Trial(program).key,
        "preset": looking.preset,
        "training_time": wishes.training_time,
        "max_time": services.stop.limit,
        "around": surroundings(program, wishes.python),
    }

    def holds(left: Left) -> bool:
        mine = left.folder in watched or services.journal.is_sealed(left.folder, services.traces)
        return mine and left.holds()

    left = run.step("watch", effect, kind=Kind.TRIAL, inputs=of, returns=Left, still=holds)
    trace = read_trace(left.folder, root=Root(program.folder)) if is_trace(left.folder) else None
    if trace is None or left.outcome.crash is not None:
        notes.append(left.outcome.sentence)
    else:
        notes += [*left.experiments.missing, *trace.missing]
    return replace(
        evidence, trace=trace, outcome=left.outcome, experiments=left.experiments, opened=left.opened
    ), notes


@dataclass(frozen=True)
class Left:
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


def _opinions(
    evidence: Evidence, wishes: Wishes, services: Services, run: Scope, notes: list[str]
) -> Iterator[Finding]:
    """What the learned detector and a language model think, when they are asked."""
    if wishes.learned:
        yield from learned_opinion(evidence)
    if services.model is not None and evidence.program is not None:
        services.tell(Progress("diagnose", 2, 5, f"ask {services.model.name} for its opinion"))
        scope = run.under("model")
        try:
            yield from model_opinion(evidence.program, services.model, wishes.samples, scope, notes)
        except TimeSpent as error:
            notes.append(f"The model was not asked to the end. {error.sentence}")


def _intervene(
    suspects: Sequence[Suspect],
    evidence: Evidence,
    wishes: Wishes,
    services: Services,
    run: Scope,
    notes: list[str],
) -> tuple[Measure | None, Attempts | None, list[Accusation]]:
    """Change the suspects when that was asked for and the program can be judged."""
    untried = [Accusation(one, Standing.UNTRIED, sureness(one)) for one in suspects]
    trained = evidence.trace is not None and evidence.outcome is not None
    if not wishes.depth.intervenes or not suspects or not trained:
        return None, None, untried
    assert evidence.program is not None
    assert evidence.trace is not None
    assert evidence.outcome is not None
    if evidence.outcome.kind is OutcomeKind.TIMEOUT:
        notes.append("Nothing was tried: the training did not come to its end within the time that it had.")
        return None, None, untried
    try:
        measure = choose_measure(evidence.trace, evidence.task, wishes.metric or None)
    except InputError as error:
        if wishes.metric:
            raise
        notes.append(f"Nothing was tried. {error}")
        return None, None, untried
    make = services.executor or _pool
    with make(wishes) as executor:
        attempts = Attempts(
            program=evidence.program,
            executor=executor,
            measure=measure,
            spending=spending(wishes.depth, wishes.budget),
            one_training=evidence.trace.seconds,
            one_wall=evidence.trace.seconds,
            trials=run.under("trials"),
            stop=services.stop,
            label_spread=_spread(evidence),
            around=training_mark(evidence.program, wishes.python, evidence.opened),
            training_time=wishes.training_time,
        )
        try:
            attempts.weigh()
            judged, remarks = intervene(suspects, attempts, threshold=wishes.threshold, tell=services.tell)
        except TimeSpent as error:
            judged, remarks = untried, [f"The suspects were not tried. {error.sentence}"]
    notes.extend(remarks)
    return measure, attempts, judged


def _spread(evidence: Evidence) -> float | None:
    labels = evidence.labels
    return labels.std if labels is not None and evidence.task is TaskType.REGRESSION else None


def _pool(wishes: Wishes) -> ProcessPool:
    """Recognised Keras trainings run as bare loops, the first batch of each checked against Keras."""
    return ProcessPool(workers=wishes.workers or os.cpu_count() or 1, python=wishes.python, express=True)


def _sorted(accusations: Iterable[Accusation]) -> tuple[Accusation, ...]:
    order = (Standing.CONFIRMED, Standing.HELPED, Standing.UNTRIED, Standing.REFUTED)
    return tuple(sorted(accusations, key=lambda one: (order.index(one.standing), -one.confidence)))


def _spent(seconds: float, attempts: Attempts | None) -> Spent:
    if attempts is None:
        return Spent(seconds)
    return Spent(seconds, len(attempts.paid), attempts.cpu_seconds, attempts.one_training)
