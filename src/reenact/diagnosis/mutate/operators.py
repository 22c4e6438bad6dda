"""The operators: each a sort of fault that a training program can be given."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from reenact.diagnosis.mutate.mutant import Operator, Proposals, number, turnable
from reenact.program.change import Remove, Replace, Set
from reenact.program.fault import Fault
from reenact.program.knob import Kind, Knob
from reenact.rules.losses import LossFamily, loss_family
from reenact.types import JsonValue

# Operators on the numbers of a training: learning rate, epochs, batch size, momentum, clipping.

RATE_FACTORS = (1e-3, 100.0, 1e-5, 1000.0, 0.02, 20.0)
"""Far down and far up, by turns: DeepFD's seeds lie six and more orders away, where no one would look."""
EPOCH_FACTORS = (0.1, 0.02, 0.25)
BATCH_FACTORS = (8.0, 1 / 16)
WHOLE = 100_000
"""A batch that holds any data of the size this is for: batching is off."""


def learning_rate(knobs: Sequence[Knob]) -> Proposals:
    """Too large and too small; the smallest still representable in print."""
    for knob in turnable(knobs, Kind.LEARNING_RATE):
        rate = number(knob)
        if rate is None or rate <= 0:
            continue
        for factor in RATE_FACTORS:
            yield (Set(knob.id, _rounded(rate * factor)),)


def epochs(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.EPOCHS):
        count = number(knob)
        if count is not None and count > 1:
            for factor in EPOCH_FACTORS:
                yield (Set(knob.id, max(1, round(count * factor))),)


def batch_size(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.BATCH_SIZE):
        size = number(knob)
        if size is not None and size >= 1:
            for factor in BATCH_FACTORS:
                yield (Set(knob.id, max(1, round(size * factor))),)


def no_batches(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.BATCH_SIZE):
        yield (Set(knob.id, WHOLE),)


def momentum(knobs: Sequence[Knob]) -> Proposals:
    """Nearly all of the old direction is kept, or none."""
    for knob in turnable(knobs, Kind.MOMENTUM):
        if not knob.absent:
            yield (Set(knob.id, 0.999),)
            yield (Set(knob.id, 0.0),)


def gradient_clip(knobs: Sequence[Knob]) -> Proposals:
    """Removed, or so tight that hardly anything is left of the gradient."""
    for knob in turnable(knobs, Kind.GRADIENT_CLIP):
        if not knob.absent:
            yield (Remove(knob.id),)
            yield (Set(knob.id, None),)
        yield (Set(knob.id, 1e-4),)


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


def optimizer(knobs: Sequence[Knob]) -> Proposals:
    """Another optimiser with the learning rate of the first."""
    for knob in turnable(knobs, Kind.OPTIMIZER):
        for name in _spelled(knob, OPTIMIZERS):
            yield (Replace(knob.id, name),)


def loss(knobs: Sequence[Knob]) -> Proposals:
    """A loss of the other family: as an engineer would exchange it, with what it demands, and bare."""
    for knob in turnable(knobs, Kind.LOSS):
        family = LossFamily.REGRESSION if _is_regression(knob) else None
        for name in _spelled(knob, OTHER[family]):
            yield (Replace(knob.id, name),)
            if family is not None or knob.library != "torch":  # PyTorch would stumble over class labels
                yield (Set(knob.id, name),)


def _is_regression(knob: Knob) -> bool:
    name = str(knob.in_force).rpartition(".")[2]
    plain = name.lower().replace("_", "")
    return loss_family(_CAMEL.get(plain, name)) is LossFamily.REGRESSION or plain.startswith(("mean", "mse"))


def _spelled(knob: Knob, wanted: Sequence[str]) -> Iterator[str]:
    """Of what is wanted that which the program's library has, as the program would write it."""
    spelled = {_plain(value): str(value) for value in knob.alternatives if isinstance(value, str)}
    for name in wanted:
        if _plain(name) in spelled:
            yield spelled[_plain(name)]


def _plain(name: JsonValue) -> str:
    return str(name).lower().replace("_", "")


# Operators on activations: changed, removed, added.

HIDDEN = ("sigmoid", "softmax", "exponential", "hardshrink")
"""Seldom right between layers: they squash, and stacked they let no gradient through."""
OUTPUT = ("relu", "tanh", "sigmoid", "softmax", "softsign")


def hidden(knobs: Sequence[Knob]) -> Proposals:
    """All hidden activations at once, and the first one alone."""
    found = [knob for knob in _written(knobs) if knob.role != "output"]
    for word in HIDDEN:
        changed = tuple(Set(knob.id, word) for knob in found if knob.in_force != word)
        if changed:
            yield changed
            yield changed[:1]


def output(knobs: Sequence[Knob]) -> Proposals:
    """Another one at the end; added where the loss wants the bare output."""
    for knob in turnable(knobs, Kind.ACTIVATION):
        if knob.role == "output" and not knob.absent:
            for word in OUTPUT:
                yield (Set(knob.id, word),)


def removed(knobs: Sequence[Knob]) -> Proposals:
    """All hidden ones at once; the one at the end."""
    written = list(_written(knobs))
    inside = tuple(Set(knob.id, "linear") for knob in written if knob.role != "output" and _bends(knob))
    if inside:
        yield inside
    for knob in written:
        if knob.role == "output" and _bends(knob):
            yield (Set(knob.id, "linear"),)


def added(knobs: Sequence[Knob]) -> Proposals:
    """One that bends what should be straight: at the end, or before the next layer."""
    for knob in turnable(knobs, Kind.ACTIVATION):
        if knob.absent or not _bends(knob):
            for word in OUTPUT if knob.role == "output" else HIDDEN[:1]:
                yield (Set(knob.id, word),)


def _written(knobs: Sequence[Knob]) -> Iterator[Knob]:
    return (knob for knob in turnable(knobs, Kind.ACTIVATION) if not knob.absent)


def _bends(knob: Knob) -> bool:
    return knob.in_force not in (None, "linear", "identity")


# Operators on weights: how they begin, and how much they are held back.

INITS = ("zeros", "ones", "random_normal", "zeros_", "ones_", "normal_", "uniform_")
"""Constant, or (PyTorch's `normal_`, `uniform_`) with a deviation that knows nothing of the layer's width."""
DECAYS = (0.3, 0.05)
REGULARIZERS: tuple[JsonValue, ...] = ("l2", "l1", "l1_l2")


def initial_weights(knobs: Sequence[Knob]) -> Proposals:
    """All layers, and the first one alone."""
    found = list(turnable(knobs, Kind.WEIGHT_INIT))
    for name in INITS:
        fitting = [knob for knob in found if name.endswith("_") == (knob.library == "torch")]
        if fitting:
            yield tuple(Set(knob.id, name) for knob in fitting)
            yield (Set(fitting[0].id, name),)


def initial_biases(knobs: Sequence[Knob]) -> Proposals:
    found = list(turnable(knobs, Kind.BIAS_INIT))
    for name in ("ones", "ones_", "normal_"):
        fitting = [knob for knob in found if name.endswith("_") == (knob.library == "torch")]
        if fitting:
            yield tuple(Set(knob.id, name) for knob in fitting)


def regularisation(knobs: Sequence[Knob]) -> Proposals:
    """Put on every layer, with the library's own strength (0.01)."""
    found = [knob for knob in turnable(knobs, Kind.WEIGHT_REGULARIZER) if knob.absent]
    for name in REGULARIZERS:
        if found:
            yield tuple(Set(knob.id, name) for knob in found)


def regularisation_changed(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.WEIGHT_REGULARIZER):
        if not knob.absent:
            for name in REGULARIZERS:
                yield (Set(knob.id, name),)


def regularisation_removed(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.WEIGHT_REGULARIZER):
        if not knob.absent:
            yield (Set(knob.id, None),)


def weight_decay(knobs: Sequence[Knob]) -> Proposals:
    """So strong that the weights cannot grow: PyTorch's way to regularise."""
    for knob in turnable(knobs, Kind.WEIGHT_DECAY):
        for value in DECAYS:
            yield (Set(knob.id, value),)


# Operators on layers: dropout, taken out, repeated, made narrow, normalisation gone.

WEIGHTED = ("hidden",)


def dropout(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.DROPOUT):
        if not knob.absent:
            for rate in (0.95, 0.8, 0.0):
                yield (Set(knob.id, rate),)


def layer_removed(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.LAYER):
        if knob.role in WEIGHTED:
            yield (Set(knob.id, None),)


def layer_repeated(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.LAYER):
        if knob.role in WEIGHTED:
            for times in (2, 8):
                yield (Set(knob.id, {"repeat": times}),)


def units(knobs: Sequence[Knob]) -> Proposals:
    """So narrow that little can pass."""
    for knob in turnable(knobs, Kind.UNITS, Kind.FILTERS):
        width = number(knob)
        if knob.role in WEIGHTED and width is not None and width > 2:
            for narrow in (1, 2):
                yield (Set(knob.id, narrow),)


def normalisation_removed(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.NORMALIZATION):
        if not knob.absent:
            yield (Set(knob.id, None),)
            yield (Remove(knob.id),)


# Operators on the data: scaling, order, validation.


def scaling(knobs: Sequence[Knob]) -> Proposals:
    """Grey values stay between 0 and 255: they are divided by one."""
    for knob in turnable(knobs, Kind.PREPROCESSING):
        divisor = None if knob.absent else number(knob)
        if divisor is not None and divisor > 1:
            yield (Set(knob.id, 1.0),)


def shuffle(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.SHUFFLE):
        yield (Set(knob.id, False),)


def validation(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.VALIDATION):
        if not knob.absent:
            yield (Remove(knob.id),)
            yield (Set(knob.id, None),)


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
