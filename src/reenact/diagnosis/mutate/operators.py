"""The operators: each a sort of fault that a training program can be given."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from reenact.diagnosis.mutate.mutant import Operator, Proposals, number, turnable
from reenact.program.change import Remove, Replace, Set
from reenact.program.fault import Fault
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.rules.losses import LossFamily, loss_family
from reenact.types import JsonValue

# Operators on the numbers of a training: learning rate, epochs, batch size, momentum, clipping.

RATE_FACTORS = (1e-3, 100.0, 1e-5, 1000.0, 0.02, 20.0)
"""Far down and far up, by turns: DeepFD's seeds lie six and more orders away, where no one would look."""
EPOCH_FACTORS = (0.1, 0.02, 0.25)
BATCH_FACTORS = (8.0, 1 / 16)
WHOLE = 100_000
"""A batch that holds any data of the size this is for: batching is off."""


def learning_rate(params: Sequence[Hyperparameter]) -> Proposals:
    """Too large and too small; the smallest still representable in print."""
    for param in turnable(params, Kind.LEARNING_RATE):
        rate = number(param)
        if rate is None or rate <= 0:
            continue
        for factor in RATE_FACTORS:
            yield (Set(param.id, _rounded(rate * factor)),)


def epochs(params: Sequence[Hyperparameter]) -> Proposals:
    for param in turnable(params, Kind.EPOCHS):
        count = number(param)
        if count is not None and count > 1:
            for factor in EPOCH_FACTORS:
                yield (Set(param.id, max(1, round(count * factor))),)


def batch_size(params: Sequence[Hyperparameter]) -> Proposals:
    for param in turnable(params, Kind.BATCH_SIZE):
        size = number(param)
        if size is not None and size >= 1:
            for factor in BATCH_FACTORS:
                yield (Set(param.id, max(1, round(size * factor))),)


def no_batches(params: Sequence[Hyperparameter]) -> Proposals:
    for param in turnable(params, Kind.BATCH_SIZE):
        yield (Set(param.id, WHOLE),)


def momentum(params: Sequence[Hyperparameter]) -> Proposals:
    """Nearly all of the old direction is kept, or none."""
    for param in turnable(params, Kind.MOMENTUM):
        if not param.absent:
            yield (Set(param.id, 0.999),)
            yield (Set(param.id, 0.0),)


def gradient_clip(params: Sequence[Hyperparameter]) -> Proposals:
    """Removed, or so tight that hardly anything is left of the gradient."""
    for param in turnable(params, Kind.GRADIENT_CLIP):
        if not param.absent:
            yield (Remove(param.id),)
            yield (Set(param.id, None),)
        yield (Set(param.id, 1e-4),)


def _rounded(value: float) -> float:
    digits = 2 - math.floor(math.log10(abs(value)))
    return round(value, max(0, digits))


# Operators that exchange a part of the training: optimiser, loss.

OPTIMIZERS = ("SGD", "Adadelta", "Adagrad", "RMSprop", "Adam")
"""Those of DeepFD."""
OTHER = {
    LossFamily.REGRESSION: (
        "BCEWithLogitsLoss", "binary_crossentropy", "SoftMarginLoss", "hinge", "poisson", "kl_divergence",
    ),
    None: (
        "MSELoss", "mean_squared_error", "L1Loss", "mean_absolute_error", "SmoothL1Loss",
        "mean_absolute_percentage_error", "mean_squared_logarithmic_error", "cosine_similarity",
    ),
}  # fmt: skip
"""Losses of the other family, by the family of what stands there; none: any loss of a classification."""
_CAMEL = {
    "crossentropyloss": "cross_entropy",
    "mseloss": "mse",
    "l1loss": "l1",
    "huberloss": "huber",
    "smoothl1loss": "smooth_l1",
}


def optimizer(params: Sequence[Hyperparameter]) -> Proposals:
    """Another optimiser with the learning rate of the first."""
    for param in turnable(params, Kind.OPTIMIZER):
        for name in _spelled(param, OPTIMIZERS):
            yield (Replace(param.id, name),)


def loss(params: Sequence[Hyperparameter]) -> Proposals:
    """A loss of the other family: as an engineer would exchange it, with what it demands, and bare."""
    for param in turnable(params, Kind.LOSS):
        family = LossFamily.REGRESSION if _is_regression(param) else None
        for name in _spelled(param, OTHER[family]):
            yield (Replace(param.id, name),)
            if family is not None or param.library != "torch":  # PyTorch would stumble over class labels
                yield (Set(param.id, name),)


def _is_regression(param: Hyperparameter) -> bool:
    name = str(param.in_force).rpartition(".")[2]
    plain = name.lower().replace("_", "")
    return loss_family(_CAMEL.get(plain, name)) is LossFamily.REGRESSION or plain.startswith(("mean", "mse"))


def _spelled(param: Hyperparameter, wanted: Sequence[str]) -> Iterator[str]:
    """Of what is wanted that which the program's library has, as the program would write it."""
    spelled = {_plain(value): str(value) for value in param.alternatives if isinstance(value, str)}
    for name in wanted:
        if _plain(name) in spelled:
            yield spelled[_plain(name)]


def _plain(name: JsonValue) -> str:
    return str(name).lower().replace("_", "")


# Operators on activations: changed, removed, added.

HIDDEN = ("sigmoid", "softmax", "exponential", "hardshrink")
"""Seldom right between layers: they squash, and stacked they let no gradient through."""
OUTPUT = ("relu", "tanh", "sigmoid", "softmax", "softsign")


def hidden(params: Sequence[Hyperparameter]) -> Proposals:
    """All hidden activations at once, and the first one alone."""
    found = [param for param in _written(params) if param.role != "output"]
    for word in HIDDEN:
        changed = tuple(Set(param.id, word) for param in found if param.in_force != word)
        if changed:
            yield changed
            yield changed[:1]


def output(params: Sequence[Hyperparameter]) -> Proposals:
    """Another one at the end; added where the loss wants the bare output."""
    for param in turnable(params, Kind.ACTIVATION):
        if param.role == "output" and not param.absent:
            for word in OUTPUT:
                yield (Set(param.id, word),)


def removed(params: Sequence[Hyperparameter]) -> Proposals:
    """All hidden ones at once; the one at the end."""
    written = list(_written(params))
    inside = tuple(Set(param.id, "linear") for param in written if param.role != "output" and _bends(param))
    if inside:
        yield inside
    for param in written:
        if param.role == "output" and _bends(param):
            yield (Set(param.id, "linear"),)


def added(params: Sequence[Hyperparameter]) -> Proposals:
    """One that bends what should be straight: at the end, or before the next layer."""
    for param in turnable(params, Kind.ACTIVATION):
        if param.absent or not _bends(param):
            for word in OUTPUT if param.role == "output" else HIDDEN[:1]:
                yield (Set(param.id, word),)


def _written(params: Sequence[Hyperparameter]) -> Iterator[Hyperparameter]:
    return (param for param in turnable(params, Kind.ACTIVATION) if not param.absent)


def _bends(param: Hyperparameter) -> bool:
    return param.in_force not in (None, "linear", "identity")


# Operators on weights: how they begin, and how much they are held back.

INITS = ("zeros", "ones", "random_normal", "zeros_", "ones_", "normal_", "uniform_")
"""Constant, or (PyTorch's `normal_`, `uniform_`) with a deviation that knows nothing of the layer's width."""
DECAYS = (0.3, 0.05)
REGULARIZERS: tuple[JsonValue, ...] = ("l2", "l1", "l1_l2")


def initial_weights(params: Sequence[Hyperparameter]) -> Proposals:
    """All layers, and the first one alone."""
    found = list(turnable(params, Kind.WEIGHT_INIT))
    for name in INITS:
        fitting = [param for param in found if name.endswith("_") == (param.library == "torch")]
        if fitting:
            yield tuple(Set(param.id, name) for param in fitting)
            yield (Set(fitting[0].id, name),)


def initial_biases(params: Sequence[Hyperparameter]) -> Proposals:
    found = list(turnable(params, Kind.BIAS_INIT))
    for name in ("ones", "ones_", "normal_"):
        fitting = [param for param in found if name.endswith("_") == (param.library == "torch")]
        if fitting:
            yield tuple(Set(param.id, name) for param in fitting)


def regularisation(params: Sequence[Hyperparameter]) -> Proposals:
    """Put on every layer, with the library's own strength (0.01)."""
    found = [param for param in turnable(params, Kind.WEIGHT_REGULARIZER) if param.absent]
    for name in REGULARIZERS:
        if found:
            yield tuple(Set(param.id, name) for param in found)


def regularisation_changed(params: Sequence[Hyperparameter]) -> Proposals:
    for param in turnable(params, Kind.WEIGHT_REGULARIZER):
        if not param.absent:
            for name in REGULARIZERS:
                yield (Set(param.id, name),)


def regularisation_removed(params: Sequence[Hyperparameter]) -> Proposals:
    for param in turnable(params, Kind.WEIGHT_REGULARIZER):
        if not param.absent:
            yield (Set(param.id, None),)


def weight_decay(params: Sequence[Hyperparameter]) -> Proposals:
    """So strong that the weights cannot grow: PyTorch's way to regularise."""
    for param in turnable(params, Kind.WEIGHT_DECAY):
        for value in DECAYS:
            yield (Set(param.id, value),)


# Operators on layers: dropout, taken out, repeated, made narrow, normalisation gone.

WEIGHTED = ("hidden",)


def dropout(params: Sequence[Hyperparameter]) -> Proposals:
    for param in turnable(params, Kind.DROPOUT):
        if not param.absent:
            for rate in (0.95, 0.8, 0.0):
                yield (Set(param.id, rate),)


def layer_removed(params: Sequence[Hyperparameter]) -> Proposals:
    for param in turnable(params, Kind.LAYER):
        if param.role in WEIGHTED:
            yield (Set(param.id, None),)


def layer_repeated(params: Sequence[Hyperparameter]) -> Proposals:
    for param in turnable(params, Kind.LAYER):
        if param.role in WEIGHTED:
            for times in (2, 8):
                yield (Set(param.id, {"repeat": times}),)


def units(params: Sequence[Hyperparameter]) -> Proposals:
    """So narrow that little can pass."""
    for param in turnable(params, Kind.UNITS, Kind.FILTERS):
        width = number(param)
        if param.role in WEIGHTED and width is not None and width > 2:
            for narrow in (1, 2):
                yield (Set(param.id, narrow),)


def normalisation_removed(params: Sequence[Hyperparameter]) -> Proposals:
    for param in turnable(params, Kind.NORMALIZATION):
        if not param.absent:
            yield (Set(param.id, None),)
            yield (Remove(param.id),)


# Operators on the data: scaling, order, validation.


def scaling(params: Sequence[Hyperparameter]) -> Proposals:
    """Grey values stay between 0 and 255: they are divided by one."""
    for param in turnable(params, Kind.PREPROCESSING):
        divisor = None if param.absent else number(param)
        if divisor is not None and divisor > 1:
            yield (Set(param.id, 1.0),)


def shuffle(params: Sequence[Hyperparameter]) -> Proposals:
    for param in turnable(params, Kind.SHUFFLE):
        yield (Set(param.id, False),)


def validation(params: Sequence[Hyperparameter]) -> Proposals:
    for param in turnable(params, Kind.VALIDATION):
        if not param.absent:
            yield (Remove(param.id),)
            yield (Set(param.id, None),)


OPERATORS = (
    Operator(
        "learning-rate",
        Fault.HLR,
        "The learning rate is far too large or too small.",
        learning_rate,
        ("HLR",),
    ),
    Operator("epochs", Fault.HNE, "Training stops long before it is done.", epochs, ("HNE",)),
    Operator("batch-size", Fault.HBS, "Batches are far larger or smaller.", batch_size, ("HBS",)),
    Operator("no-batches", Fault.HBS, "All data is one batch.", no_batches, ("HDB",)),
    Operator("momentum", Fault.HMO, "Momentum is nearly one, or gone.", momentum),
    Operator(
        "gradient-clip", Fault.GCL, "Gradients are not clipped, or to nothing.", gradient_clip, ("OCG",)
    ),
    Operator("optimizer", Fault.OCH, "Another optimiser takes the old learning rate.", optimizer, ("OCH",)),
    Operator("loss", Fault.LCH, "The loss is one of the other family.", loss, ("LCH",)),
    Operator(
        "activation-hidden", Fault.ACH, "Hidden layers are bent by a squashing activation.", hidden, ("ACH",)
    ),
    Operator("activation-output", Fault.ACH, "The output is bent by another activation.", output, ("ACH",)),
    Operator(
        "activation-removed", Fault.ARM, "Hidden layers, or the output, stay linear.", removed, ("ARM",)
    ),
    Operator("activation-added", Fault.AAL, "An output that should be bare is bent.", added, ("AAL",)),
    Operator(
        "weight-init",
        Fault.WCI,
        "Weights begin constant, or with the wrong spread.",
        initial_weights,
        ("WCI",),
    ),
    Operator("bias-init", Fault.BCI, "Biases begin far from zero.", initial_biases),
    Operator("regularisation", Fault.RAW, "Every layer is held back.", regularisation, ("RAW",)),
    Operator(
        "regularisation-changed", Fault.RAW, "A layer is held back more.", regularisation_changed, ("RCW",)
    ),
    Operator(
        "regularisation-removed",
        Fault.RAW,
        "A layer is no longer held back.",
        regularisation_removed,
        ("RRW",),
    ),
    Operator("weight-decay", Fault.RAW, "The optimiser shrinks the weights too much.", weight_decay),
    Operator("dropout", Fault.RCD, "Nearly everything is dropped, or nothing.", dropout, ("RCD",)),
    Operator("layer-removed", Fault.LRM, "A hidden layer is missing.", layer_removed),
    Operator("layer-repeated", Fault.LAD, "A hidden layer stands there several times.", layer_repeated),
    Operator("units", Fault.LCN, "A hidden layer is far too narrow.", units),
    Operator("normalisation-removed", Fault.LNM, "A normalisation layer is missing.", normalisation_removed),
    Operator("scaling", Fault.CPP, "Inputs are not scaled.", scaling),
    Operator("shuffle", Fault.SHF, "Training data always comes in the same order.", shuffle),
    Operator("validation", Fault.VRM, "There is no validation data.", validation, ("VRM",)),
)
