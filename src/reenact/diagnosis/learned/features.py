"""What the detector sees of a training: named numbers in a fixed order, none of them NaN.

DeepFD's monitored ones; those of what was seen beyond DeepFD's monitor: how far steps move the
weights, gradients along the depth, dead and saturated units, the shape of the loss; and those of
what is written: optimiser, rate, loss, activations, initial weights, data, regularisation, in
numbers that mean the same for every framework and every size of network.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reenact.diagnosis.learned.monitored import curves_of, monitored
from reenact.faults.evidence import Evidence
from reenact.faults.facts.measured import kernel_rows, output_rows
from reenact.probe.trace import Columns
from reenact.program.graph import TaskType
from reenact.program.layer_view import LayerView
from reenact.program.training.alternatives import USUAL_RATE
from reenact.program.training.loss_families import LossFamily, Wanted
from reenact.types import JsonValue

Floats: TypeAlias = NDArray[np.float64]

END = 0.25
"""The first and the last quarter of what was sampled are its beginning and its end."""
UNKNOWN = -20.0
"""A logarithm that is not known; known ones lie between -15 and 15."""
OPTIMIZERS = ("sgd", "adam", "rmsprop", "adagrad", "adadelta")
ADAMS = ("adamw", "nadam", "adamax", "radam", "amsgrad")
OUTPUTS = ("softmax", "sigmoid", "relu", "tanh", "linear", "log_softmax")
RELUS = (
    "relu",
    "leaky_relu",
    "elu",
    "gelu",
    "silu",
    "selu",
    "swish",
    "prelu",
    "mish",
    "celu",
    "softplus",
)
BENT = ("dense", "conv")
FITTING = {
    TaskType.REGRESSION: (LossFamily.REGRESSION,),
    TaskType.BINARY: (LossFamily.BINARY, LossFamily.CATEGORICAL, LossFamily.MARGIN),
    TaskType.MULTI_CLASS: (LossFamily.CATEGORICAL, LossFamily.MARGIN),
    TaskType.MULTI_LABEL: (LossFamily.BINARY, LossFamily.MARGIN),
}
SHARES = ("zero_share", "saturated_share", "dead_unit_share", "beyond_5_share")


def features(evidence: Evidence) -> dict[str, float]:
    """DeepFD's monitored features and ours; what is not known has a value that no known one
    has, or 0.
    """
    written = (_optimizer, _loss, _activations, _initial, _data, _size)
    observed = (_length, _curve, _movement, _outputs)
    with np.errstate(all="ignore"):
        own = (pair for part in (*written, *observed) for pair in part(evidence))
        found = monitored(evidence) | dict(own)
    finite = {name: float(value) if math.isfinite(value) else 0.0 for name, value in found.items()}
    return {name: max(-1e9, min(1e9, value)) for name, value in finite.items()}


def matrix(
    rows: Sequence[Mapping[str, float]],
    names: Sequence[str],
) -> NDArray[np.float32]:
    """Rows of features as an array with these columns; what a row lacks is 0."""
    return np.array(
        [[row.get(name, 0.0) for name in names] for row in rows],
        dtype=np.float32,
    )


def _length(evidence: Evidence) -> Iterator[tuple[str, float]]:
    """Steps, not epochs or rows of a batch: those are few or many only next to the data, and a
    detector would learn the sizes of the programs that it knows.
    """
    trace = evidence.trace
    steps = trace.step_count if trace is not None else 0
    epochs = (trace.epoch_count or 0) if trace is not None else 0
    yield "steps_log", log10(float(steps)) if steps else UNKNOWN
    yield "steps_an_epoch", log10(steps / epochs) if steps and epochs else UNKNOWN


def _curve(evidence: Evidence) -> Iterator[tuple[str, float]]:
    """The loss relative to where it began, so that its scale does not matter."""
    trace = evidence.trace
    every = trace.losses.values if trace is not None else np.empty(0)
    loss = _known(every)
    first, last = _ends(loss)
    lowest = float(_smooth(loss).min()) if len(loss) else math.nan
    yield "loss_change", _relative(last, first)
    yield "loss_best", _relative(lowest, first)
    yield "loss_from_best", _relative(last, lowest)
    half = _smooth(loss)[len(loss) // 2 :]
    yield "loss_late_change", _relative(*(_ends(half)[::-1])) if len(half) else UNKNOWN
    # How much of the loss's movement is to and fro.
    way = float(np.abs(np.diff(loss)).sum()) if len(loss) > 2 else 0.0
    yield "loss_rough", 1 - abs(float(loss[-1] - loss[0])) / way if way > 0 else 0.0
    yield "loss_bad", float(np.mean(~np.isfinite(every))) if len(every) else 0.0
    yield (
        "loss_exactly_still",
        float(np.mean(np.diff(loss) == 0)) if len(loss) > 1 else 0.0,
    )
    accuracy, held = map(
        _known,
        curves_of(evidence)[1::2],
    )
    most_common = majority(evidence)
    yield "accuracy_gain", float(accuracy[-1] - accuracy[0]) if len(accuracy) else 0.0
    yield "accuracy_last", float(accuracy[-1]) if len(accuracy) else -1.0
    above = float(accuracy[-1] - most_common) if len(accuracy) and most_common else 0.0
    yield "accuracy_over_majority", above
    yield (
        "accuracy_late_gain",
        float(accuracy[-1] - accuracy[len(accuracy) // 2]) if len(accuracy) else 0.0,
    )
    yield "held_late_gain", float(held[-1] - held[len(held) // 2]) if len(held) else 0.0
    yield (
        "held_gap",
        float(accuracy[-1] - held[-1]) if len(accuracy) and len(held) else 0.0,
    )


def _movement(evidence: Evidence) -> Iterator[tuple[str, float]]:
    """Per kernel: update sizes as a share of the weights, the slowest, the middle and the fastest;
    how the weights grow, and gradients along the depth.
    """
    tables = [rows for layer in evidence.weighted if len(rows := kernel_rows(evidence, layer))]
    early, late = _each(tables, "update_ratio")
    for name, values in (("early", early), ("late", late)):
        yield f"update_least_{name}", log10(min(values)) if values else UNKNOWN
        yield (
            f"update_middle_{name}",
            log10(float(np.median(values))) if values else UNKNOWN,
        )
        yield f"update_most_{name}", log10(max(values)) if values else UNKNOWN
    before, after = _each(tables, "weight_norm")
    growth = [_relative(new, old) for old, new in zip(before, after, strict=True)]
    yield "weights_least_growth", min(growth, default=0.0)
    yield "weights_most_growth", max(growth, default=0.0)
    early, late = _each(tables, "grad_norm")
    for name, values in (("early", early), ("late", late)):
        yield f"gradient_first_{name}", log10(values[0]) if values else UNKNOWN
        yield f"gradient_last_{name}", log10(values[-1]) if values else UNKNOWN
        yield (
            f"gradient_ratio_{name}",
            _relative(
                values[0],
                values[-1],
            )
            if values
            else UNKNOWN,
        )
    _, zeros = _each(tables, "grad_zero_share")
    yield "gradient_zero_most", max(zeros, default=0.0)


def _outputs(evidence: Evidence) -> Iterator[tuple[str, float]]:
    """Shares of units that are off, at their bounds or dead, in the worst layer, at the end of
    the run.
    """
    bent = [layer for layer in evidence.layers if layer.own_activation or layer.weighted]
    tables = [rows for layer in bent if len(rows := output_rows(evidence, layer))]
    for column in SHARES:
        early, late = _each(tables, column)
        yield f"{column}_early", max(early, default=0.0)
        yield f"{column}_late", max(late, default=0.0)
    early, late = _each(tables[-1:], "std")
    yield "output_spread_early", log10(early[0]) if early else UNKNOWN
    yield "output_spread_late", log10(late[0]) if late else UNKNOWN


def _each(
    tables: list[Columns],
    column: str,
) -> tuple[list[float], list[float]]:
    """A column at the beginning and at the end, for each table in which it is known."""
    pairs = [_ends(_known(rows[column])) for rows in tables]
    known = [pair for pair in pairs if not math.isnan(pair[0])]
    return [early for early, _ in known], [late for _, late in known]


def _ends(values: Floats) -> tuple[float, float]:
    """Median of the beginning and of the end; NaN for nothing."""
    if not len(values):
        return math.nan, math.nan
    few = max(1, min(20, int(END * len(values))))
    return float(np.median(values[:few])), float(np.median(values[-few:]))


def _known(values: Floats) -> Floats:
    return values[np.isfinite(values)]


def _smooth(values: Floats) -> Floats:
    """Moving mean over a twentieth of the run."""
    width = max(1, len(values) // 20)
    if not len(values):
        return values
    return np.convolve(
        values,
        np.ones(width) / width,
        mode="valid",
    )


def _relative(new: float, old: float) -> float:
    """Logarithm of a quotient, between -6 and 6; 0 when one of them is unknown."""
    if math.isnan(new) or math.isnan(old):
        return 0.0
    return max(-6.0, min(6.0, log10(abs(new)) - log10(abs(old))))


def log10(value: float | None) -> float:
    """Logarithm of a size, bounded; `UNKNOWN` for what is not a number."""
    if value is None or math.isnan(value):
        return UNKNOWN
    if value > 0:
        return max(-15.0, min(15.0, math.log10(value)))
    return -15.0


def _optimizer(evidence: Evidence) -> Iterator[tuple[str, float]]:
    facts = evidence.optimizer
    name = facts.name.lower() if facts is not None else ""
    plain = "adam" if name in ADAMS else name
    for known in OPTIMIZERS:
        yield f"optimizer_{known}", float(plain == known)
    yield "optimizer_other", float(plain not in OPTIMIZERS)
    rate = evidence.learning_rate
    usual = USUAL_RATE.get(plain, 1e-3)
    yield "rate_log", log10(rate)
    yield "rate_to_usual", log10(rate / usual) if rate is not None else UNKNOWN
    settings = facts.settings if facts is not None else {}
    yield "momentum", _number(settings, "momentum")
    yield "weight_decay_log", log10(_number(settings, "weight_decay"))
    regularizers = [_strength(layer.settings) for layer in evidence.weighted]
    yield "regularized_share", _share(value > 0 for value in regularizers)
    yield "regularizer_log", log10(max(regularizers, default=0.0))
    rates = [
        _number(layer.settings, "rate", "p")
        for layer in evidence.layers
        if layer.family == "dropout"
    ]
    yield "dropout_most", max(rates, default=0.0)


def _loss(evidence: Evidence) -> Iterator[tuple[str, float]]:
    for task in TaskType:
        yield f"task_{task.value}", float(evidence.task is task)
    family = evidence.loss_family
    for known in LossFamily:
        yield f"loss_{known.value}", float(family is known)
    yield "loss_fits_task", _loss_fits(evidence.task, family)


def _loss_fits(task: TaskType, family: LossFamily | None) -> float:
    """1 where the loss is one for the task, -1 where it is not, 0 where no one can say."""
    fitting = FITTING.get(task)
    if fitting is None or family is None:
        return 0.0
    return 1.0 if family in fitting else -1.0


def _output_fits(wanted: Wanted, last: str) -> float:
    """1 where the loss gets what it wants, -1 where not, 0 where it takes anything."""
    if wanted is Wanted.ANY:
        return 0.0
    word = "linear" if wanted is Wanted.LOGITS else wanted.value
    return 1.0 if last == word else -1.0


def _activations(evidence: Evidence) -> Iterator[tuple[str, float]]:
    last = evidence.last_activation or "linear"
    for known in OUTPUTS:
        yield f"output_{known}", float(last == known)
    yield "output_fits_loss", _output_fits(evidence.wanted_output, last)
    yield "output_fits_labels", _range_fits(evidence, last)
    hidden = [
        layer for layer in evidence.weighted if layer.role == "hidden" and layer.family in BENT
    ]
    words = [layer.activation or "linear" for layer in hidden]
    yield "hidden_relu", _share(word in RELUS for word in words)
    for known in ("sigmoid", "tanh", "softmax", "linear"):
        yield f"hidden_{known}", _share(word == known for word in words)
    strange = ("sigmoid", "tanh", "softmax", "linear", *RELUS)
    yield "hidden_strange", _share(word not in strange for word in words)


def _range_fits(evidence: Evidence, last: str) -> float:
    """Whether the output can reach the labels of a regression; 0 where that is not a question."""
    labels = evidence.labels
    bounds = {
        "sigmoid": (0.0, 1.0),
        "softmax": (0.0, 1.0),
        "tanh": (-1.0, 1.0),
        "relu": (0.0, math.inf),
    }
    if evidence.task is not TaskType.REGRESSION or labels is None or last not in bounds:
        return 0.0
    low, high = bounds[last]
    if (labels.minimum or 0.0) >= low and (labels.maximum or 0.0) <= high:
        return 1.0
    return -1.0


def _initial(evidence: Evidence) -> Iterator[tuple[str, float]]:
    """Initial weights next to what He and Glorot would give them."""
    ratios = [ratio for layer in evidence.weighted if (ratio := _to_glorot(layer)) is not None]
    yield "initial_least", min(ratios, default=UNKNOWN)
    yield "initial_most", max(ratios, default=UNKNOWN)
    kernels = [kernel for layer in evidence.weighted if (kernel := layer.kernel()) is not None]
    yield "initial_constant", _share(kernel.std == 0 for kernel in kernels)
    offsets = [abs(kernel.mean) / kernel.std for kernel in kernels if kernel.std > 0]
    yield "initial_offset", min(10.0, max(offsets, default=0.0))
    biases = [bias for layer in evidence.weighted if (bias := layer.bias()) is not None]
    yield (
        "initial_bias",
        min(10.0, max((abs(bias.mean) for bias in biases), default=0.0)),
    )


def _to_glorot(layer: LayerView) -> float | None:
    kernel = layer.kernel()
    if kernel is None or len(kernel.shape) < 2 or layer.family == "embedding":
        return None
    # Inputs and outputs of a convolution: Keras has them last, PyTorch first, and both are the two
    # largest unless a window is wider than the layer: then this is a guess.
    shape = sorted(kernel.shape)
    fans = math.prod(shape[:-2]) * sum(shape[-2:])
    if not fans:
        return None
    return log10(kernel.std / math.sqrt(2 / fans))


def _data(evidence: Evidence) -> Iterator[tuple[str, float]]:
    inputs = evidence.inputs
    labels = evidence.labels
    edges = (
        [abs(edge) for edge in (inputs.minimum, inputs.maximum) if edge is not None]
        if inputs
        else []
    )
    yield "input_largest", log10(max(edges)) if edges else UNKNOWN
    yield "input_std", log10(inputs.std) if inputs is not None else UNKNOWN
    yield (
        "input_mean",
        log10(abs(inputs.mean)) if inputs is not None and inputs.mean is not None else UNKNOWN,
    )
    yield (
        "classes",
        log10(float(labels.classes)) if labels is not None and labels.classes else UNKNOWN,
    )
    yield "majority", majority(evidence)


def majority(evidence: Evidence) -> float:
    """Share of the commonest class; 0 when there are none."""
    counts = evidence.labels.class_counts if evidence.labels is not None else None
    if counts and sum(counts):
        return max(counts) / sum(counts)
    return 0.0


def _size(evidence: Evidence) -> Iterator[tuple[str, float]]:
    yield "depth", float(len(evidence.weighted))
    widths = [layer.width for layer in evidence.weighted if layer.role == "hidden" and layer.width]
    yield "narrowest", log10(float(min(widths))) if widths else UNKNOWN
    yield "normalized", _share(layer.family == "norm" for layer in evidence.layers)


def _number(settings: Mapping[str, JsonValue], *names: str) -> float:
    values = (settings.get(name) for name in names)
    numbers = (one for one in values if isinstance(one, int | float) and not isinstance(one, bool))
    return float(next(numbers, 0.0))


def _strength(settings: Mapping[str, JsonValue]) -> float:
    """How strongly a layer's weights are held back by its own regulariser; its default when it
    reports none.
    """
    given = settings.get("kernel_regularizer")
    if not given:
        return 0.0
    parts = given.get("config", given) if isinstance(given, Mapping) else {}
    numbers = [_number(parts, name) for name in ("l1", "l2")] if isinstance(parts, Mapping) else []
    return max((value for value in numbers if value > 0), default=0.01)


def _share(flags: Iterable[bool]) -> float:
    found = list(flags)
    return sum(found) / len(found) if found else 0.0
