"""A knob: one hyper-parameter in the source, with its place, value and alternatives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reenact.types import JsonValue, Place


class Kind(StrEnum):
    """What a knob turns."""

    BATCH_SIZE = "batch-size"
    LEARNING_RATE = "learning-rate"
    EPOCHS = "epochs"
    ACTIVATION = "activation"
    WEIGHT_REGULARIZER = "weight-regularizer"
    WEIGHT_INIT = "weight-init"
    BIAS_INIT = "bias-init"
    LOSS = "loss"
    OPTIMIZER = "optimizer"
    LAYER = "layer"
    """A layer itself: may be removed, repeated, or have another inserted after it."""
    UNITS = "units"
    """Width of a dense or recurrent layer."""
    FILTERS = "filters"
    KERNEL_SIZE = "kernel-size"
    PREPROCESSING = "preprocessing"
    """Scaling or encoding of inputs and labels."""
    DROPOUT = "dropout"
    WEIGHT_DECAY = "weight-decay"
    MOMENTUM = "momentum"
    NORMALIZATION = "normalization"
    GRADIENT_CLIP = "gradient-clip"
    SCHEDULER = "scheduler"
    VALIDATION = "validation"
    SHUFFLE = "shuffle"
    ZERO_GRAD = "zero-grad"
    MODE = "mode"
    """`model.train()` and `model.eval()` at the right moment."""


class Written(StrEnum):
    """How the value stands in the source."""

    LITERAL = "literal"
    KEYWORD_DEFAULT = "keyword-default"
    """The default of a parameter of a function or class in the program."""
    CONSTANT = "constant"
    """A module-level or local name assigned once."""
    CONFIG = "config"
    """A dictionary entry."""
    DATACLASS = "dataclass"
    ARGPARSE = "argparse"
    DATA_FILE = "data-file"
    """YAML or JSON read at start."""
    ABSENT = "absent"
    """Not written: the library's default holds."""


@dataclass(frozen=True, slots=True, order=True)
class KnobId:
    """Structural identity: survives edits elsewhere, never holds a line number."""

    file: str
    model: str
    """Class, variable or function that holds the model; empty for what belongs to the training."""
    layer: str
    """Path of the layer in the model; empty for what belongs to the training."""
    kind: Kind

    def __str__(self) -> str:
        return "::".join(part for part in (self.file, self.model, self.layer, self.kind.value) if part)


@dataclass(frozen=True, slots=True)
class Knob:
    """One hyper-parameter in the source."""

    id: KnobId
    value: JsonValue
    """The literal value; the source text where it is not a literal; none when absent."""
    written: Written
    place: Place
    """Where the value stands; for an absent one, the call that would take it."""
    alternatives: tuple[JsonValue, ...] = ()
    """Values worth trying, in order of how usual they are."""

    @property
    def kind(self) -> Kind:
        return self.id.kind
