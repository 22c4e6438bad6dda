"""What was measured, as rules ask for it: a layer's output or kernel over the steps, losses by epoch, and the
first layer that is wrong, where DeepLocalize and DeepDiagnosis stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

from reenact.faults.detector import Detector
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Findings
from reenact.probe.trace import TRAINING, Columns, Trace, no_rows
from reenact.program.hyperparameter import Kind
from reenact.program.layer_view import LayerView
from reenact.types import JsonValue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HALF = 0.5
BETTER = 0.01
"""A gain of accuracy that is worth the name."""
WIDEST = 3.0
"""Deviation up to which inputs about zero count as standardised."""
SCALING = ("Rescaling", "Normalization")
WINDOW = 5
"""Batches, or epochs, that the tools compare."""
Rows: TypeAlias = Callable[[Evidence, LayerView], Columns]
When: TypeAlias = Callable[[Evidence, LayerView], int | None]
"""The step at which a layer shows a symptom."""
Symptom: TypeAlias = tuple[str, float, When]
"""What is wrong, how sure that makes, and when a layer shows it."""
STILL = {
    "output": ("mean", "std", "minimum", "maximum"),
    "weights": ("weight_mean", "weight_std", "weight_max_abs"),
    "gradient": ("grad_mean", "grad_std", "grad_mean_abs"),
}
"""Columns that all stand still where an output, a kernel or its gradient does."""


def output_rows(evidence: Evidence, layer: LayerView) -> Columns:
    """A layer's output on the sampled training steps; no rows when it was not seen."""
    trace = evidence.trace
    if trace is None or layer.name not in trace.layer_names:
        return no_rows(("step",))
    return trace.layers.where(
        layer=trace.layer_names.index(layer.name),
        phase=TRAINING,
    )


def kernel_rows(evidence: Evidence, layer: LayerView) -> Columns:
    """A layer's main weights on the sampled steps; no rows when they are not to be learned."""
    kernel = layer.kernel()
    trace = evidence.trace
    if trace is None or kernel is None or not kernel.trainable:
        return no_rows(("step",))
    return parameter_rows(trace, kernel.path or kernel.name)


def zero_start(evidence: Evidence, layer: LayerView) -> float:
    """How far a layer that starts at zero is at fault: not where the first gradient reaches it and
    it is the last, or those before it are reached as well: a residual branch, one of several heads.
    Half where it leaves zero by itself, and all others wait for it; fully where no gradient comes.
    """
    if not _reached(evidence, layer):
        return 1.0
    before = evidence.weighted[: evidence.weighted.index(layer)]
    if layer.role == "output" or any(_reached(evidence, one) for one in before):
        return 0.0
    return HALF


def _reached(evidence: Evidence, layer: LayerView) -> bool:
    """Whether the first gradient that was seen of a layer is not zero."""
    return bool((kernel_rows(evidence, layer)["grad_norm"][:1] > 0).any())


def parameter_rows(trace: Trace, path: str) -> Columns:
    """The rows of a parameter; of two tensors of one name that which was seen more often."""
    numbers = [number for number, facts in enumerate(trace.parameter_facts) if facts.name == path]
    found = [trace.parameters.where(parameter=number) for number in numbers]
    return max(found, key=len, default=no_rows(("step",)))


def still_since(
    rows: Columns,
    columns: Sequence[str],
    window: int = WINDOW,
) -> int | None:
    """The step since which these columns have kept their value to the end, for `window` rows at
    least.
    """
    if len(rows) < window:
        return None
    same = len(rows) - 1
    values = [rows[column] for column in columns]
    while same > 0 and all(value[same - 1] == value[-1] for value in values):
        same -= 1
    alike = all(value[-1] == value[-1] for value in values)
    if alike and len(rows) - same >= window:
        return int(rows["step"][same])
    return None


def mostly_zero_since(rows: Columns, column: str, window: int = WINDOW) -> int | None:
    """The first step at which a column was zero, when it was so in half of at least `window`
    rows.
    """
    zero = rows[column] == 0
    if len(rows) >= window and zero.sum() >= HALF * len(rows):
        return _first(rows, zero)
    return None


def _first(rows: Columns, wrong: NDArray[np.bool_]) -> int | None:
    if wrong.any():
        return int(rows["step"][wrong.argmax()])
    return None


def first_invalid_loss(evidence: Evidence) -> int | None:
    """The first step whose loss is infinite or NaN. A loss that nobody saw is NaN in the trace as
    well: NaN counts at a step that went backward, when other losses are known or the outputs are
    NaN too.
    """
    import numpy as np

    trace = evidence.watched
    losses = trace.losses
    logged = trace.metric("loss")
    if len(losses.known) or (trace.layers["bad_share"] > 0).any():
        bad = np.isinf(losses.values) | (
            np.isnan(losses.values) & (trace.steps["backward_calls"] > 0)
        )
        if bad.any():
            return int(losses.steps[bad.argmax()])
    wrong = ~np.isfinite(logged.values)
    if wrong.any():
        return int(logged.steps[wrong.argmax()])
    return None


def epochs_of(evidence: Evidence, column: str) -> NDArray[np.float64]:
    """Mean of a column of the steps in each epoch; empty when there is no sign of epochs."""
    import numpy as np

    trace = evidence.watched
    epoch = np.maximum(trace.steps["epoch"], 0)
    values = trace.steps[column]
    parts = [
        values[(epoch == number) & (values == values)] for number in range(trace.epoch_count or 0)
    ]
    return np.array([float(part.mean()) for part in parts if len(part)])


def epoch_ends(evidence: Evidence, rows: Columns) -> Columns:
    """The last row of each epoch; all rows when there is no sign of epochs."""
    trace = evidence.watched
    if (trace.epoch_count or 0) < 2:
        return rows
    epoch = dict(zip(trace.steps["step"].tolist(), trace.steps["epoch"].tolist(), strict=True))
    last = {max(0, epoch.get(step, 0)): number for number, step in enumerate(rows["step"].tolist())}
    return Columns(
        rows.columns,
        rows.rows[sorted(last.values())],
    )


def accuracies(evidence: Evidence, split: str = "") -> NDArray[np.float64]:
    """Accuracy by epoch, as the program tells it, else as measured on the batches. `split` may
    be `val_`.
    """
    reported = evidence.watched.metric(f"{split}accuracy").known.values
    if len(reported) > 1 or split:
        return reported
    return epochs_of(evidence, "accuracy")


def stuck(accuracy: NDArray[np.float64], times: int) -> bool:
    """Whether an accuracy that is not perfect was the same so often in the end, and hardly rose
    before.
    """
    same = len(accuracy) >= times and len(set(accuracy[-times:])) == 1
    return bool(same and accuracy[-1] < 1 and accuracy[-1] <= accuracy[0] + BETTER)


def loss_halved(evidence: Evidence) -> bool:
    """The loss fell to less than half of what it was: where nothing moves any more, the
    training is over.
    """
    if evidence.trace is None or len(values := evidence.trace.losses.known.values) <= 1:
        return False
    few = max(1, min(5, len(values) // 4))
    first = float(values[:few].mean())
    last = float(values[-few:].mean())
    return math.isfinite(last) and last < HALF * first


def update_ratios(
    evidence: Evidence,
    until: int | None = None,
) -> dict[str, float]:
    """How far a step moves each layer's kernel, as a share of its size: the median over the sampled
    steps, up to the step `until`. Layers that no gradient reaches are left out.
    """
    found = {}
    for layer in evidence.weighted:
        rows = kernel_rows(evidence, layer)
        early = rows["step"] <= (math.inf if until is None else until)
        ratios = rows["update_ratio"][(rows["grad_norm"] > 0) & early].tolist()
        if known := [ratio for ratio in ratios if math.isfinite(ratio)]:
            found[layer.name] = median(known)
    return found


def largest_step(evidence: Evidence, until: int | None = None) -> float:
    """The largest of these shares; 0 where none is known."""
    return max(update_ratios(evidence, until).values(), default=0.0)


def inputs_scaled(evidence: Evidence) -> bool | None:
    """Whether inputs lie in -1..1, or about zero with a deviation of about one, or are scaled by
    the model; none for symbols and for data that nobody saw.
    """
    facts = evidence.inputs
    first = next(iter(evidence.weighted), None)
    if facts is None or first is None or first.family == "embedding":
        return None
    low = facts.minimum
    high = facts.maximum
    mean = facts.mean
    std = facts.std
    if low is None or high is None or mean is None or std is None or math.isnan(mean):
        return None
    ahead = evidence.layers[: evidence.layers.index(first)]
    if any(layer.family == "norm" or layer.type in SCALING for layer in ahead):
        return True
    return max(abs(low), abs(high)) <= 1 or (abs(mean) <= 1 and std <= WIDEST)


def among(
    evidence: Evidence,
    kind: Kind,
    wanted: Sequence[str],
    layer: LayerView | None = None,
) -> tuple[JsonValue, ...]:
    """The alternatives of a hyperparameter that are wanted, in that order, as the program
    spells them.
    """
    param = evidence.hyperparameter(kind, layer)
    if param is None:
        return ()
    spelled = {_plain(value): value for value in param.alternatives if isinstance(value, str)}
    return tuple(spelled[_plain(name)] for name in wanted if _plain(name) in spelled)


@dataclass(frozen=True, slots=True)
class Hit:
    """A layer, what is wrong with it and since when."""

    layer: LayerView
    step: int
    what: str
    sure: float
    """Confidence in a finding of this kind."""

    @property
    def saw(self) -> str:
        return f"{self.what} in layer {self.layer.name} ({self.layer.type}) at step {self.step}"


def bad(rows: Rows, column: str) -> When:
    """The first step at which a share of NaN or infinite values is not zero."""
    return lambda evidence, layer: _first(
        found := rows(evidence, layer),
        found[column] > 0,
    )


def zero(rows: Rows, column: str) -> When:
    """Zero in half of the steps."""
    return lambda evidence, layer: mostly_zero_since(rows(evidence, layer), column)


def still(rows: Rows, what: str) -> When:
    """The same to the end."""
    return lambda evidence, layer: still_since(
        rows(evidence, layer),
        STILL[what],
    )


def ends(rows: Rows) -> Rows:
    """The last row of each epoch."""
    return lambda evidence, layer: epoch_ends(evidence, rows(evidence, layer))


def first_hit(
    evidence: Evidence,
    layers: Iterable[LayerView],
    *symptoms: Symptom,
) -> Hit | None:
    """The earliest hit; of several at one step that of the first layer in the order given."""
    pairs = [
        (layer, what, sure, when(evidence, layer))
        for layer in layers
        for what, sure, when in symptoms
    ]
    found = [Hit(layer, step, what, sure) for layer, what, sure, step in pairs if step is not None]
    return min(found, key=lambda hit: hit.step, default=None)


def first_found(
    detector: Detector,
    evidence: Evidence,
    layers: Iterable[LayerView],
    *symptoms: Symptom,
) -> Findings:
    """The finding of a rule at the first layer that shows one of these symptoms."""
    hit = first_hit(evidence, layers, *symptoms)
    if hit is not None:
        yield detector.finding(
            evidence,
            hit.saw,
            layer=hit.layer,
            step=hit.step,
            confidence=hit.sure,
        )


def behind_weights(evidence: Evidence) -> tuple[LayerView, ...]:
    """Layers whose output training can change: the first with weights, and all that follow and
    are known.
    """
    behind = dropwhile(lambda layer: not layer.weighted, evidence.layers)
    return tuple(layer for layer in behind if layer.family)


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def softmax_of_classes(evidence: Evidence) -> bool:
    """Whether a softmax has one unit for every class number of the labels: where its range does not
    hold them, the loss is wrong and not the activation.
    """
    labels = evidence.labels
    output = evidence.output
    if labels is None or output is None or evidence.last_activation != "softmax":
        return False
    if labels.minimum is None or labels.maximum is None or labels.one_hot or not labels.integral:
        return False
    classes = output.width or 0
    return classes > 1 and labels.minimum >= 0 and labels.maximum < classes
