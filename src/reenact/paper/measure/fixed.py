"""Which settings of the generated program the paper fixes: those may not be changed by a repair.

Fixed is what an executable check of a criterion names, whatever the check found, and what stands on a line
that the pass of a criterion rests on. A whole kind is fixed when in doubt: a repair that contradicts the
paper would explain nothing.
"""

from collections.abc import Mapping, Sequence
from itertools import chain

from reenact.paper.criterion import Criterion, Judged, Value
from reenact.paper.criterion import Kind as CheckKind
from reenact.probe.outcome import OutcomeKind
from reenact.program.change import Insert
from reenact.program.hyperparameter import Hyperparameter, HyperparameterId, Kind
from reenact.program.patch import Patch
from reenact.sandbox.box import Sandbox
from reenact.trials.boxed import Boxed
from reenact.trials.trial import Outcome, Trial
from reenact.types import Stop

BUILD = (Kind.LAYER, Kind.UNITS, Kind.FILTERS, Kind.KERNEL_SIZE, Kind.NORMALIZATION)
BY_CHECK = {
    CheckKind.OPTIMISER: (Kind.OPTIMIZER,),
    CheckKind.SCHEDULE: (Kind.SCHEDULER,),
    CheckKind.LOSS: (Kind.LOSS,),
    CheckKind.LAYER: BUILD,
    CheckKind.SHAPE: BUILD,
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


def fixed_hyperparameters(
    params: Sequence[Hyperparameter], criteria: Sequence[Criterion], judged: Sequence[Judged]
) -> dict[HyperparameterId, str]:
    """Hyperparameters that the paper fixes, each with the id of a criterion that does."""
    kinds: dict[Kind, str] = {}
    for one in criteria:
        for kind in _kinds(one):
            kinds.setdefault(kind, one.id)
    passed = [one for one in judged if one.value is Value.PASS]
    lines = {(line.file, line.line): one.criterion for one in passed for line in one.lines}
    found: dict[HyperparameterId, str] = {}
    for param in params:
        by_line = lines.get((str(param.place.file), param.place.line))
        by_kind = next((kinds[kind] for kind in (param.kind, *param.also) if kind in kinds), None)
        by = by_kind or (by_line if not param.absent else None)
        if by:
            found[param.id] = by
    return found


def forbidden(patch: Patch, fixed: Mapping[HyperparameterId, str]) -> str:
    """Which criterion a patch would contradict, as a sentence; empty when none."""
    layers = {(one.file, one.model): by for one, by in fixed.items() if one.kind is Kind.LAYER}
    for change in patch.changes:
        param = change.anchor if isinstance(change, Insert) else change.hyperparameter
        by = fixed.get(param)
        if isinstance(change, Insert):
            by = by or layers.get((param.file, param.model))
        if by:
            return f"{change} contradicts {by}, which the paper fixes"
    return ""


class ConstrainedExecutor(Boxed):
    """Trains changed programs in boxes, but none that contradicts the paper: such a change fails at once."""

    def __init__(self, fixed: Mapping[HyperparameterId, str], *, sandbox: Sandbox, python: str) -> None:
        super().__init__(1, sandbox=sandbox, python=python)
        self.fixed = fixed

    def attempt(self, trial: Trial, stop: Stop) -> Outcome:
        """See `Boxed.attempt`."""
        why = forbidden(trial.patch, self.fixed)
        return Outcome(OutcomeKind.NOT_STARTED, note=why) if why else super().attempt(trial, stop)


def _kinds(criterion: Criterion) -> tuple[Kind, ...]:
    check = criterion.check
    if check is None:
        return ()
    words = f"{check.subject} {check.value}".lower()
    named = (kinds for parts, kinds in BY_WORD.items() if any(part in words for part in parts))
    return (*BY_CHECK.get(check.kind, ()), *chain.from_iterable(named))
