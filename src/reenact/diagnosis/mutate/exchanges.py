"""Operators that exchange a part of the training: optimiser, loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reenact.diagnosis.mutate.mutant import Operator, Proposals, turnable
from reenact.program.change import Replace, Set
from reenact.program.fault import Fault
from reenact.program.knob import Kind, Knob
from reenact.rules.losses import LossFamily, loss_family
from reenact.types import JsonValue

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


OPERATORS = (
    Operator("optimizer", Fault.OCH, "Another optimiser takes the old learning rate.", optimizer, ("OCH",)),
    Operator("loss", Fault.LCH, "The loss is one of the other family.", loss, ("LCH",)),
)
