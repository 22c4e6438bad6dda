"""Features of what stands there: optimiser, rate, loss, activations, initial weights, data, regularisation.
In numbers that mean the same for every framework and every size of network."""

import math
from collections.abc import Iterable, Iterator, Mapping

from reenact.program.graph import TaskType
from reenact.program.read.alternatives import USUAL_RATE
from reenact.rules.evidence import Evidence
from reenact.rules.layer_view import LayerView
from reenact.rules.losses import LossFamily, Wanted
from reenact.types import JsonValue

UNKNOWN = -20.0
"""A logarithm that is not known; known ones lie between -15 and 15."""
OPTIMIZERS = ("sgd", "adam", "rmsprop", "adagrad", "adadelta")
ADAMS = ("adamw", "nadam", "adamax", "radam", "amsgrad")
OUTPUTS = ("softmax", "sigmoid", "relu", "tanh", "linear", "log_softmax")
RELUS = ("relu", "leaky_relu", "elu", "gelu", "silu", "selu", "swish", "prelu", "mish", "celu", "softplus")
BENT = ("dense", "conv")
FITTING = {
    TaskType.REGRESSION: (LossFamily.REGRESSION,),
    TaskType.BINARY: (LossFamily.BINARY, LossFamily.CATEGORICAL, LossFamily.MARGIN),
    TaskType.MULTI_CLASS: (LossFamily.CATEGORICAL, LossFamily.MARGIN),
    TaskType.MULTI_LABEL: (LossFamily.BINARY, LossFamily.MARGIN),
}


def log10(value: float | None) -> float:
    """Logarithm of a size, bounded; `UNKNOWN` for what is not a number."""
    if value is None or math.isnan(value):
        return UNKNOWN
    if value <= 0:
        return -15.0
    return max(-15.0, min(15.0, math.log10(value)))


def written(evidence: Evidence) -> dict[str, float]:
    """Everything that is known before the first step."""
    found: dict[str, float] = {}
    for part in (_optimizer, _loss, _activations, _initial, _data, _size):
        found |= dict(part(evidence))
    return found


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
    rates = [_number(layer.settings, "rate", "p") for layer in evidence.layers if layer.family == "dropout"]
    yield "dropout_most", max(rates, default=0.0)


def _loss(evidence: Evidence) -> Iterator[tuple[str, float]]:
    for task in TaskType:
        yield f"task_{task.value}", float(evidence.task is task)
    family = evidence.loss_family
    for known in LossFamily:
        yield f"loss_{known.value}", float(family is known)
    fitting = FITTING.get(evidence.task)
    yield "loss_fits_task", 0.0 if fitting is None or family is None else (1.0 if family in fitting else -1.0)


def _activations(evidence: Evidence) -> Iterator[tuple[str, float]]:
    last = evidence.last_activation or "linear"
    for known in OUTPUTS:
        yield f"output_{known}", float(last == known)
    yield "output_fits_loss", _agreement(evidence.wanted_output, last)
    yield "output_fits_labels", _range_fits(evidence, last)
    hidden = [layer for layer in evidence.weighted if layer.role == "hidden" and layer.family in BENT]
    words = [layer.activation or "linear" for layer in hidden]
    yield "hidden_relu", _share(word in RELUS for word in words)
    for known in ("sigmoid", "tanh", "softmax", "linear"):
        yield f"hidden_{known}", _share(word == known for word in words)
    strange = ("sigmoid", "tanh", "softmax", "linear", *RELUS)
    yield "hidden_strange", _share(word not in strange for word in words)


def _agreement(wanted: Wanted, last: str) -> float:
    """1 when the loss gets what it wants, -1 when not, 0 when it takes anything."""
    if wanted is Wanted.ANY:
        return 0.0
    if wanted is Wanted.LOGITS:
        return 1.0 if last == "linear" else -1.0
    return 1.0 if last == wanted.value else -1.0


def _range_fits(evidence: Evidence, last: str) -> float:
    """Whether the output can reach the labels of a regression; 0 where that is no question."""
    labels = evidence.labels
    bounds = {"sigmoid": (0.0, 1.0), "softmax": (0.0, 1.0), "tanh": (-1.0, 1.0), "relu": (0.0, math.inf)}
    if evidence.task is not TaskType.REGRESSION or labels is None or last not in bounds:
        return 0.0
    low, high = bounds[last]
    fits = (labels.minimum or 0.0) >= low and (labels.maximum or 0.0) <= high
    return 1.0 if fits else -1.0


def _initial(evidence: Evidence) -> Iterator[tuple[str, float]]:
    """Initial weights beside what He and Glorot would give them."""
    ratios = [ratio for layer in evidence.weighted if (ratio := _to_glorot(layer)) is not None]
    yield "initial_least", min(ratios, default=UNKNOWN)
    yield "initial_most", max(ratios, default=UNKNOWN)
    kernels = [kernel for layer in evidence.weighted if (kernel := layer.kernel()) is not None]
    yield "initial_constant", _share(kernel.std == 0 for kernel in kernels)
    offsets = [abs(kernel.mean) / kernel.std for kernel in kernels if kernel.std > 0]
    yield "initial_offset", min(10.0, max(offsets, default=0.0))
    biases = [bias for layer in evidence.weighted if (bias := layer.bias()) is not None]
    yield "initial_bias", min(10.0, max((abs(bias.mean) for bias in biases), default=0.0))


def _to_glorot(layer: LayerView) -> float | None:
    kernel = layer.kernel()
    if kernel is None or len(kernel.shape) < 2 or layer.family == "embedding":
        return None
    fans = sum(kernel.shape[:2]) if len(kernel.shape) == 2 else _conv_fans(kernel.shape)
    return log10(kernel.std / math.sqrt(2 / fans)) if fans else None


def _conv_fans(shape: tuple[int, ...]) -> int:
    """Inputs and outputs of a convolution; Keras has them last, PyTorch first, and both are the two largest
    unless a window is wider than the layer: then this is a guess."""
    window = math.prod(sorted(shape)[: len(shape) - 2])
    return window * sum(sorted(shape)[len(shape) - 2 :])


def _data(evidence: Evidence) -> Iterator[tuple[str, float]]:
    inputs, labels = evidence.inputs, evidence.labels
    edges = [abs(edge) for edge in (inputs.minimum, inputs.maximum) if edge is not None] if inputs else []
    yield "input_largest", log10(max(edges)) if edges else UNKNOWN
    yield "input_std", log10(inputs.std) if inputs is not None else UNKNOWN
    yield "input_mean", log10(abs(inputs.mean)) if inputs is not None and inputs.mean is not None else UNKNOWN
    yield "classes", log10(float(labels.classes)) if labels is not None and labels.classes else UNKNOWN
    yield "majority", majority(evidence)


def majority(evidence: Evidence) -> float:
    """Share of the commonest class; 0 when there are none."""
    counts = evidence.labels.class_counts if evidence.labels is not None else None
    return max(counts) / sum(counts) if counts and sum(counts) else 0.0


def _size(evidence: Evidence) -> Iterator[tuple[str, float]]:
    yield "depth", float(len(evidence.weighted))
    widths = [layer.width for layer in evidence.weighted if layer.role == "hidden" and layer.width]
    yield "narrowest", log10(float(min(widths))) if widths else UNKNOWN
    yield "normalized", _share(layer.family == "norm" for layer in evidence.layers)


def _number(settings: Mapping[str, JsonValue], *names: str) -> float:
    for name in names:
        value = settings.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return 0.0


def _strength(settings: Mapping[str, JsonValue]) -> float:
    """How strongly a layer's weights are held back by its own regulariser; its default when it tells none."""
    given = settings.get("kernel_regularizer")
    if not given:
        return 0.0
    parts = given.get("config", given) if isinstance(given, Mapping) else {}
    numbers = [_number(parts, name) for name in ("l1", "l2")] if isinstance(parts, Mapping) else []
    return max((value for value in numbers if value > 0), default=0.01)


def _share(flags: Iterable[bool]) -> float:
    found = list(flags)
    return sum(found) / len(found) if found else 0.0
