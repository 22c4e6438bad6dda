"""The fault classes the detector can name, each with a code, literal for ever."""

from __future__ import annotations

from dataclasses import dataclass

from reenact.program.fault import Fault
from reenact.program.hyperparameter import Kind


@dataclass(frozen=True, slots=True)
class FaultClass:
    """One answer of the detector."""

    code: str
    name: str
    fault: Fault
    """The fault type its findings carry."""
    joined: frozenset[Fault]
    """Fault types that it stands for."""
    kinds: tuple[Kind, ...]
    """Hyperparameters at fault, the likeliest first."""
    why: str
    word: str
    """What the reader calls it."""


def _one(code: str, name: str, faults: str, kinds: tuple[Kind, ...], word: str, why: str) -> FaultClass:
    joined = tuple(Fault(text) for text in faults.split())
    return FaultClass(code, f"learned-{name}", joined[0], frozenset(joined), kinds, why, word)


CLASSES = (
    _one("LD001", "learning-rate", "HLR", (Kind.LEARNING_RATE,), "learning rate",
         "Trainings that looked like this one in the detector's school had a wrong learning rate."),
    _one("LD002", "optimizer", "OCH", (Kind.OPTIMIZER,), "optimiser",
         "Trainings that looked like this one in the detector's school had an unsuitable optimiser."),
    _one("LD003", "activation", "ACH ARM AAL", (Kind.ACTIVATION,), "activation",
         "Trainings that looked like this one in the detector's school had a wrong activation."),
    _one("LD004", "loss", "LCH", (Kind.LOSS,), "loss",
         "Trainings that looked like this one in the detector's school had an unsuitable loss."),
    _one("LD005", "epochs", "HNE", (Kind.EPOCHS,), "number of epochs",
         "Trainings that looked like this one in the detector's school were stopped too soon."),
    _one("LD006", "batch-size", "HBS", (Kind.BATCH_SIZE,), "batch size",
         "Trainings that looked like this one in the detector's school had unsuitable batches."),
    _one("LD007", "weight-init", "WCI", (Kind.WEIGHT_INIT,), "initial weights",
         "Trainings that looked like this one in the detector's school began with unsuitable weights."),
    _one("LD008", "regularisation", "RAW HWD", (Kind.WEIGHT_REGULARIZER, Kind.WEIGHT_DECAY), "regularisation",
         "Trainings that looked like this one in the detector's school were held back too much."),
)  # fmt: skip
BY_CODE = {one.code: one for one in CLASSES}
