"""A large gap: diagnose and repair the generated program, within what the paper leaves open.

Everything runs in the sandbox: the watched training, every trial, and the full runs that decide. A
change that the repair verified is kept only when the gap to the paper's claims becomes smaller, and
is reported as a hypothesis about what the paper does not say.

What the paper fixes may not be changed: what an executable check of a criterion names, whatever the
check found, and what is on a line that the pass of a criterion rests on. A whole kind is fixed
when in doubt: a repair that contradicts the paper would explain nothing.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from reenact.codegen.project import ENTRY, Project
from reenact.codegen.runner import MountedSandbox
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.judge import read_only
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose_within
from reenact.diagnosis.services import DiagnoseServices
from reenact.errors import Inconclusive, InputError, ended_by
from reenact.journal import Kind as StepKind
from reenact.journal import Scope, mark
from reenact.journal.records import canonical
from reenact.paper.context import PaperContext, scale_arguments
from reenact.paper.criterion import Criterion, Judged, Value
from reenact.paper.criterion import Kind as CheckKind
from reenact.paper.measure.gap import Comparison, mean_gap
from reenact.probe.boxed import watch_boxed
from reenact.probe.options import WatchOptions, fresh_folder
from reenact.probe.outcome import Outcome as ProbeOutcome
from reenact.probe.read import is_trace, read_json_file, read_trace
from reenact.probe.trace import Root
from reenact.program.edit.change import Change, Insert, Rewrite, Set
from reenact.program.hyperparameter import Hyperparameter, HyperparameterId, Kind
from reenact.program.patch import Patch
from reenact.program.program import Program, read_program
from reenact.program.static_graph import hyperparameters_of
from reenact.repairs.options import LEAST_SEEDS, RepairOptions
from reenact.repairs.pipeline import repair_within
from reenact.repairs.prepare import RepairServices
from reenact.repairs.verdict import Repair
from reenact.sandbox.box import Sandbox
from reenact.sandbox.view import WORK
from reenact.trials.boxed import Boxed
from reenact.trials.metric import choose_measure
from reenact.trials.trial import Trial
from reenact.types import JsonValue

LARGE = 0.1
"""Mean gap of the measured claims from which on a repair is worth its trainings."""
BUDGET = "20x"
"""Trainings' worth that the search may take."""
BUILD = (
    Kind.LAYER,
    Kind.UNITS,
    Kind.FILTERS,
    Kind.KERNEL_SIZE,
    Kind.NORMALIZATION,
)
BY_CHECK: dict[CheckKind, tuple[Kind, ...]] = {
    CheckKind.LAYER: BUILD,
    CheckKind.SHAPE: BUILD,
    CheckKind.OPTIMISER: (Kind.OPTIMIZER,),
    CheckKind.SCHEDULE: (Kind.SCHEDULER,),
    CheckKind.LOSS: (Kind.LOSS,),
}
BY_WORD = {
    ("activation", "relu", "tanh"): (Kind.ACTIVATION,),
    ("batch",): (Kind.BATCH_SIZE,),
    ("channel", "filter"): (Kind.FILTERS,),
    ("clip",): (Kind.GRADIENT_CLIP,),
    ("decay", "l2"): (Kind.WEIGHT_DECAY, Kind.WEIGHT_REGULARIZER),
    ("dropout",): (Kind.DROPOUT,),
    ("epoch",): (Kind.EPOCHS,),
    ("hidden", "layer", "units", "width"): BUILD,
    ("initial",): (Kind.WEIGHT_INIT, Kind.BIAS_INIT),
    ("kernel",): (Kind.KERNEL_SIZE,),
    ("learning rate", "step size"): (Kind.LEARNING_RATE,),
    ("loss",): (Kind.LOSS,),
    ("momentum",): (Kind.MOMENTUM,),
    ("norm",): (Kind.NORMALIZATION,),
    ("optim",): (Kind.OPTIMIZER,),
    ("schedule", "warm"): (Kind.SCHEDULER,),
    ("shuffle",): (Kind.SHUFFLE,),
}
"""Words of a check's subject, and what they fix."""
Fixed = Mapping[HyperparameterId, str]
"""Hyperparameters that the paper fixes, each with the id of a criterion that does."""


@dataclass(frozen=True)
class GapRepair:
    """Whether a repair closed the gap, and by which change."""

    sentence: str
    """What was found, or why nothing was tried."""
    hypotheses: tuple[str, ...] = ()
    """What the paper may not say, a sentence for each change."""
    diff: str = ""
    kept_fixed: tuple[str, ...] = ()
    """Settings that were left alone, each with the criterion that fixes it."""
    comparisons: tuple[Comparison, ...] = ()
    """The claims against the changed project."""


@dataclass(frozen=True)
class Gap:
    """A gap between the paper's numbers and those of a generated project."""

    project: Project
    criteria: tuple[Criterion, ...]
    judged: tuple[Judged, ...]
    comparisons: tuple[Comparison, ...]
    """The claims against the project as it was written."""
    measure: Callable[[Project], tuple[Comparison, ...]]
    """Runs a changed project in full and compares its claims."""


def is_large(comparisons: Sequence[Comparison]) -> bool:
    """Whether the measured claims miss by so much that a repair is worth trying."""
    gap = mean_gap(comparisons, executed=True)
    return gap is not None and gap >= LARGE


def repair_gap(gap: Gap, context: PaperContext, run: Scope) -> GapRepair:
    """Repair what the paper leaves open."""
    missed = [
        one
        for one in gap.comparisons
        if one.measured is not None and not one.holds and not one.better
    ]
    worst = max(missed, key=lambda one: one.gap, default=None)
    if worst is None:
        return GapRepair(
            "No measured claim is worse than the paper says; there is nothing to repair."
        )
    with tempfile.TemporaryDirectory(prefix="reenact-gap-") as made:
        for name, text in gap.project.files.items():
            path = Path(made, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        try:
            scale = scale_arguments(context.options.scale)
            program = read_program(
                (ENTRY, "--seed", "0", *scale),
                Path(made),
            )
            params = hyperparameters_of(program)
            fixed = fixed_hyperparameters(params, gap.criteria, gap.judged)
            kept = tuple(sorted(f"{param} ({by})" for param, by in fixed.items()))
            could = [param.id for param in params if param.changeable and param.alternatives]
            if all(one in fixed for one in could):
                none = "The code has no setting that a repair could change."
                words = "The paper fixes every setting that could be changed." if could else none
                return GapRepair(words, kept_fixed=kept)
            result = _repaired(
                program,
                fixed=fixed,
                worst=worst,
                context=context,
                run=run,
            )
        except (InputError, Inconclusive) as error:
            return GapRepair(f"Nothing was repaired. {error.sentence}")
        return _judged(gap, program, result, kept)


def fixed_hyperparameters(
    params: Sequence[Hyperparameter],
    criteria: Sequence[Criterion],
    judged: Sequence[Judged],
) -> dict[HyperparameterId, str]:
    """Hyperparameters that the paper fixes."""
    kinds: dict[Kind, str] = {}
    for one in criteria:
        if (check := one.check) is not None:
            words = f"{check.subject} {check.value}".lower()
            named = [
                fixes for parts, fixes in BY_WORD.items() if any(part in words for part in parts)
            ]
            for kind in chain(
                BY_CHECK.get(check.kind, ()),
                *named,
            ):
                kinds.setdefault(kind, one.id)
    passed = [one for one in judged if one.value is Value.PASS]
    lines = {(line.file, line.line): one.criterion for one in passed for line in one.lines}
    found: dict[HyperparameterId, str] = {}
    for param in params:
        by_line = ""
        if not param.absent:
            by_line = lines.get(
                (str(param.place.file), param.place.line),
                "",
            )
        by_kind = next(
            (kinds[kind] for kind in (param.kind, *param.also) if kind in kinds),
            by_line,
        )
        if by_kind:
            found[param.id] = by_kind
    return found


def forbidden(patch: Patch, fixed: Fixed) -> str:
    """Which criterion a patch would contradict, as a sentence; empty when none."""
    layers = {(one.file, one.model): by for one, by in fixed.items() if one.kind is Kind.LAYER}
    for change in patch.changes:
        if isinstance(change, Rewrite):
            return f"{change} rewrites code, and only what the paper leaves open is changed"
        param = change.anchor if isinstance(change, Insert) else change.hyperparameter
        if by := fixed.get(param) or (
            isinstance(change, Insert) and layers.get((param.file, param.model))
        ):
            return f"{change} contradicts {by}, which the paper fixes"
    return ""


class ConstrainedExecutor(Boxed):
    """Trains changed programs in boxes, but none that contradicts the paper: such a change fails at once."""

    def __init__(self, fixed: Fixed, *, sandbox: Sandbox, python: str) -> None:
        super().__init__(sandbox=sandbox, python=python)
        self.fixed = fixed

    def refusal(self, patch: Patch) -> str:
        """See `Boxed.refusal`."""
        return forbidden(patch, self.fixed)


def _judged(
    gap: Gap,
    program: Program,
    result: Repair,
    kept: tuple[str, ...],
) -> GapRepair:
    """The full runs decide, not the repair."""
    if not result.patch:
        return GapRepair(result.sentence, kept_fixed=kept)
    after = {str(file.path): file.text for file in result.patch.apply(program).files}
    own = {name: text for name, text in after.items() if name in gap.project.files}
    comparisons = gap.measure(gap.project.changed(own))
    old = mean_gap(gap.comparisons)
    new = mean_gap(comparisons)
    if old is None or new is None or new >= old:
        words = (
            f"{result.sentence} But the gap to the paper did not become smaller, so it was not "
            f"kept."
        )
        return GapRepair(words, diff=result.diff, kept_fixed=kept)
    return GapRepair(
        sentence=f"The gap became {new:.1%} (it was {old:.1%}). {result.sentence}",
        hypotheses=tuple(hypothesis(program, change) for change in result.patch.changes),
        diff=result.diff,
        kept_fixed=kept,
        comparisons=comparisons,
    )


def hypothesis(program: Program, change: Change) -> str:
    """A change as what the paper may not say."""
    words = str(change)
    for param in hyperparameters_of(program):
        if isinstance(change, Set) and param.id == change.hyperparameter:
            where = f"{param.place.file}:{param.place.line}"
            words = f"{param.kind.value} {change.value} in place of {param.in_force} ({where})"
    return f"The paper does not say it, but its numbers come out nearer with {words}."


@dataclass(frozen=True)
class WatchedRun:
    """What a watched run leaves for anyone who continues."""

    folder: Path
    outcome: ProbeOutcome


def _diagnosed(
    program: Program,
    python: str,
    around: Mapping[str, JsonValue],
    context: PaperContext,
    run: Scope,
) -> Diagnosis:
    """A diagnosis from one training that was watched in the sandbox."""
    context.say("repair: watch one training")
    journal = context.journal
    traces = context.traces
    stop = context.stop
    seen_now: set[Path] = set()

    def effect() -> WatchedRun:
        options = WatchOptions(
            fresh_folder(program.entry.stem, traces).resolve(), "normal", python=python
        )
        limits = context.runner.limits(context.options.run_wall_s)
        watched = watch_boxed(
            program,
            options,
            MountedSandbox(context.runner),
            limits=limits,
            stop=stop,
        )
        journal.seal(watched.folder)
        seen_now.add(watched.folder)
        if stop.asked:
            raise ended_by(stop, "Stopped while a training was watched.")
        return WatchedRun(watched.folder, watched.outcome)

    def still(left: WatchedRun) -> bool:
        return left.folder in seen_now or journal.is_sealed(left.folder, traces)

    inputs = {
        "program": Trial(program).key,
        **around,
    }
    left = run.step(
        "watch",
        effect,
        kind=StepKind.TRIAL,
        inputs=inputs,
        returns=WatchedRun,
        still=still,
    )
    header = read_json_file(left.folder, "header.json") or {}
    root = Root(
        program.folder,
        seen_as=str(header.get("cwd", WORK)),
    )
    trace = None
    if is_trace(left.folder):
        trace = read_trace(left.folder, root=root)
    seen = replace(
        read_only(program),
        trace=trace,
        outcome=left.outcome,
    )
    given = DiagnoseServices(
        journal=journal,
        traces=traces,
        tell=context.tell,
        stop=stop,
    )
    options = DiagnoseOptions(depth=Depth.QUICK)
    return diagnose_within(
        program,
        options=options,
        services=given,
        run=run.under("diagnosis"),
        seen=seen,
    )


def _repaired(
    program: Program,
    fixed: Fixed,
    worst: Comparison,
    context: PaperContext,
    run: Scope,
) -> Repair:
    """The search for a change, judged by the metric of the worst claim where the watched
    training has it.
    """
    runner = context.runner
    environment = runner.environment_of(
        Project({str(file.path): file.text for file in program.files})
    )
    limits = runner.limits(context.options.run_wall_s)
    # What a training in the box depends on besides the text of the program.
    bounds: JsonValue = [limits.cpu_s or limits.wall_s, limits.memory_bytes]
    around = {
        "environment": environment.key,
        "limits": bounds,
        "folders": runner.folder_marks,
    }
    python = environment.python
    found = _diagnosed(
        program,
        python=python,
        around=around,
        context=context,
        run=run,
    )
    metric = ""
    evidence = found.evidence
    with suppress(InputError):
        measure = None
        if evidence.trace:
            measure = choose_measure(evidence.trace, evidence.task, worst.metric)
        # Only where it means the same.
        if measure is not None and measure.larger_is_better == worst.claim.higher_is_better:
            metric = worst.metric
    context.say("repair: search what the paper leaves open")
    options = RepairOptions(
        budget=BUDGET,
        seeds=LEAST_SEEDS,
        python=python,
        workers=1,
        metric=metric,
    )
    given = RepairServices(
        journal=context.journal,
        traces=context.traces,
        tell=context.tell,
        stop=context.stop,
        studies=False,
        around=mark(canonical(around)),
        shared=False,
        executor=lambda: ConstrainedExecutor(fixed, sandbox=MountedSandbox(runner), python=python),
    )
    return repair_within(
        program,
        options=options,
        services=given,
        run=run.under("repair"),
        known=found,
    )
