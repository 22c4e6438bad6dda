"""A large gap: diagnose and repair the generated program, within what the paper leaves open.

Everything runs in the sandbox: the watched training, every trial, and the full runs that decide. A change
that the repair verified is kept only when the gap to the paper's claims becomes smaller, and is told as a
hypothesis about what the paper does not say.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reenact.diagnosis.depth import Depth
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.observe import read_only
from reenact.diagnosis.options import DiagnoseOptions
from reenact.diagnosis.pipeline import DiagnoseServices, diagnose_within
from reenact.errors import Inconclusive, InputError, ended_by
from reenact.journal import Journal, Kind, Scope, mark
from reenact.journal.keys import canonical
from reenact.paper.criterion import Criterion, Judged
from reenact.paper.develop.packages import Prepared
from reenact.paper.develop.trying import scaled
from reenact.paper.develop.workshop import Workshop
from reenact.paper.measure.fixed import fixed_knobs
from reenact.paper.measure.gap import Comparison, mean_gap
from reenact.paper.measure.within import Furnished, WithinPaper
from reenact.paper.project import ENTRY, Project
from reenact.probe.boxed import watch_boxed
from reenact.probe.naming import fresh_folder
from reenact.probe.options import WatchOptions
from reenact.probe.outcome import Outcome as ProbeOutcome
from reenact.probe.read import is_trace, read_json_file, read_trace
from reenact.probe.root import Root
from reenact.program.change import Change, Set
from reenact.program.knob import KnobId
from reenact.program.knobs import knobs_of
from reenact.program.program import Program, read_program
from reenact.repairs.options import LEAST_SEEDS, RepairOptions
from reenact.repairs.pipeline import repair_within
from reenact.repairs.prepare import RepairServices
from reenact.repairs.verdict import Repair
from reenact.sandbox.walls.view import WORK
from reenact.trials.metric import choose_measure
from reenact.trials.trial import Trial
from reenact.types import JsonValue

LARGE = 0.1
"""Mean gap of the measured claims from which on a repair is worth its trainings."""
BUDGET = "20x"
"""Trainings' worth that the search may take."""


@dataclass(frozen=True)
class Mending:
    """What came of it."""

    project: Project | None
    """The changed project when the gap became smaller; none when nothing was changed."""
    sentence: str
    """What was found, or why nothing was tried."""
    hypotheses: tuple[str, ...] = ()
    """What the paper may not say, a sentence for each change."""
    diff: str = ""
    kept_fixed: tuple[str, ...] = ()
    """Settings that were left alone, each with the criterion that fixes it."""
    comparisons: tuple[Comparison, ...] = ()
    """The claims against the changed project."""
    repaired: Repair | None = None


Measure = Callable[[Project], tuple[Comparison, ...]]


def is_large(comparisons: Sequence[Comparison]) -> bool:
    """Whether the measured claims miss by so much that a repair is worth trying."""
    gap = mean_gap(comparisons, executed=True)
    return gap is not None and gap >= LARGE


def mended(
    project: Project,
    criteria: Sequence[Criterion],
    judged: Sequence[Judged],
    before: Sequence[Comparison],
    measure: Measure,
    services: Workshop,
    run: Scope,
    journal: Journal,
    traces: Path,
    *,
    budget: str = BUDGET,
) -> Mending:
    """Repair what the paper leaves open. `measure` runs a changed project in full and compares its claims."""
    worst = _worst(before)
    if worst is None:
        return Mending(None, "No measured claim is worse than the paper says; there is nothing to repair.")
    with tempfile.TemporaryDirectory(prefix="reenact-mend-") as made:
        try:
            program = _placed(project, Path(made), services)
            knobs = knobs_of(program)
            fixed = fixed_knobs(knobs, criteria, judged)
            told = tuple(sorted(f"{knob} ({by})" for knob, by in fixed.items()))
            could = [knob.id for knob in knobs if knob.changeable and knob.alternatives]
            if all(one in fixed for one in could):
                none = "The code has no setting that a repair could change."
                words = "The paper fixes every setting that could be changed." if could else none
                return Mending(None, words, kept_fixed=told)
            found = _diagnosed(program, services, run, journal, traces)
            metric = _judge(found, worst)
            result = _repaired(program, found, fixed, services, run, journal, traces, budget, metric)
        except (InputError, Inconclusive) as error:
            return Mending(None, f"Nothing was repaired. {error.sentence}")
        return _judged(project, program, result, before, measure, told)


def _judged(
    project: Project,
    program: Program,
    result: Repair,
    before: Sequence[Comparison],
    measure: Measure,
    told: tuple[str, ...],
) -> Mending:
    """The full runs decide, not the repair."""
    if not result.patch:
        return Mending(None, result.sentence, kept_fixed=told, repaired=result)
    after = result.patch.apply(program)
    changed = project.changed(
        {str(file.path): file.text for file in after.files if str(file.path) in project.files}
    )
    comparisons = measure(changed)
    old, new = mean_gap(before), mean_gap(comparisons)
    if old is None or new is None or new >= old:
        words = f"{result.sentence} But the gap to the paper did not become smaller, so it was not kept."
        return Mending(None, words, diff=result.diff, kept_fixed=told, repaired=result)
    return Mending(
        project=changed,
        sentence=f"The gap became {new:.1%} (it was {old:.1%}). {result.sentence}",
        hypotheses=tuple(hypothesis(program, change) for change in result.patch.changes),
        diff=result.diff, kept_fixed=told, comparisons=comparisons, repaired=result,
    )  # fmt: skip


def hypothesis(program: Program, change: Change) -> str:
    """A change as what the paper may not say."""
    words = str(change)
    knob = next((one for one in knobs_of(program) if isinstance(change, Set) and one.id == change.knob), None)
    if knob is not None and isinstance(change, Set):
        where = f"{knob.place.file}:{knob.place.line}"
        words = f"{knob.kind.value} {change.value} in place of {knob.in_force} ({where})"
    return f"The paper does not say it, but its numbers come out nearer with {words}."


def _worst(before: Sequence[Comparison]) -> Comparison | None:
    """The measured claim that misses most, to the worse side."""
    missed = [one for one in before if one.measured is not None and not one.holds and not one.better]
    return max(missed, key=lambda one: one.gap, default=None)


def _judge(found: Diagnosis, worst: Comparison) -> str:
    """The metric of the worst claim, where the watched training tells it and it means the same; else none."""
    if found.evidence.trace is None:
        return ""
    try:
        measure = choose_measure(found.evidence.trace, found.evidence.task, worst.metric)
    except InputError:
        return ""
    return worst.metric if measure.larger_is_better == worst.claim.higher_is_better else ""


def _placed(project: Project, folder: Path, services: Workshop) -> Program:
    for name, text in project.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return read_program((ENTRY, "--seed", "0", *scaled(services)), folder)


@dataclass(frozen=True)
class Left:
    """What a watched run leaves for whoever continues."""

    folder: Path
    outcome: ProbeOutcome


def _diagnosed(program: Program, services: Workshop, run: Scope, journal: Journal, traces: Path) -> Diagnosis:
    """A diagnosis from one training that was watched in the sandbox."""
    services.say("repair: watch one training")

    seen_now: set[Path] = set()

    def effect() -> Left:
        folder = fresh_folder(program.entry.stem, traces).resolve()
        options = WatchOptions(folder, "normal", python=_python(program, services))
        limits = services.limits(services.wishes.run_wall_s)
        watched = watch_boxed(program, options, Furnished(services), limits=limits, stop=services.stop)
        journal.seal(watched.folder)
        seen_now.add(watched.folder)
        if services.stop.asked:
            raise ended_by(services.stop, "Stopped while a training was watched.")
        return Left(watched.folder, watched.outcome)

    left = run.step(
        "watch",
        effect,
        kind=Kind.TRIAL,
        inputs={"program": Trial(program).key, **_around(program, services)},
        returns=Left,
        still=lambda left: left.folder in seen_now or journal.is_sealed(left.folder, traces),
    )
    header = read_json_file(left.folder, "header.json") or {}
    root = Root(program.folder, seen_as=str(header.get("cwd", WORK)))
    trace = read_trace(left.folder, root=root) if is_trace(left.folder) else None
    seen = replace(read_only(program), trace=trace, outcome=left.outcome)
    given = DiagnoseServices(journal=journal, traces=traces, tell=services.tell, stop=services.stop)
    return diagnose_within(program, DiagnoseOptions(depth=Depth.QUICK), given, run.under("diagnosis"), seen)


def _repaired(
    program: Program,
    found: Diagnosis,
    fixed: dict[KnobId, str],
    services: Workshop,
    run: Scope,
    journal: Journal,
    traces: Path,
    budget: str,
    metric: str,
) -> Repair:
    services.say("repair: search what the paper leaves open")
    python = _python(program, services)
    wishes = RepairOptions(budget=budget, seeds=LEAST_SEEDS, python=python, workers=1, metric=metric)
    given = RepairServices(
        journal=journal, traces=traces, tell=services.tell, stop=services.stop, studies=False,
        around=mark(canonical(_around(program, services))), shared=False,
        executor=lambda _: WithinPaper(fixed, sandbox=Furnished(services), python=python),
    )  # fmt: skip
    return repair_within(program, wishes, given, run.under("repair"), found)


def _around(program: Program, services: Workshop) -> dict[str, JsonValue]:
    """What a training in the box depends on beside the text of the program."""
    limits = services.limits(services.wishes.run_wall_s)
    return {
        "environment": _prepared(program, services).key,
        "limits": [limits.wall_s, limits.memory_bytes],
        "folders": list(services.folder_marks()),
        "gpu": services.gpu,
    }


def _python(program: Program, services: Workshop) -> str:
    return _prepared(program, services).python


def _prepared(program: Program, services: Workshop) -> Prepared:
    return services.prepared(Project({str(file.path): file.text for file in program.files}))
