"""A hyperparameter: one hyper-parameter in the source, with its place, value and alternatives."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TypedDict

from reenact.types import JsonValue, Place


class Kind(StrEnum):
    """What a hyperparameter turns."""

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
    """The status of the value in the source."""

    LITERAL = "literal"
    KEYWORD_DEFAULT = "keyword-default"
    """The default of a parameter of a function or class in the program."""
    CONSTANT = "constant"
    """A module-level or local name, or a class attribute, assigned once."""
    CONFIG = "config"
    """A dictionary entry."""
    DATACLASS = "dataclass"
    ARGPARSE = "argparse"
    DATA_FILE = "data-file"
    """YAML or JSON read at start."""
    ABSENT = "absent"
    """Not written: the library's default holds."""


@dataclass(frozen=True, slots=True, order=True)
class HyperparameterId:
    """Structural identity: survives edits elsewhere, never holds a line number."""

    file: str
    """The Python file that uses the value, which may stand in another: `Hyperparameter.place`."""
    model: str
    """Class, variable or function that holds the model; empty for what belongs to the training."""
    layer: str
    """Path of the layer in the model; empty for what belongs to the training."""
    kind: Kind
    number: int = 0
    """Reports apart those that share all of the above, in the order of the text."""

    def __str__(self) -> str:
        parts = [part for part in (self.file, self.model, self.layer, self.kind.value) if part]
        return "::".join(parts) + (f"#{self.number}" if self.number else "")

    def to_json(self) -> dict[str, JsonValue]:
        return {**asdict(self), "kind": self.kind.value}

    @classmethod
    def from_json(cls, data: object) -> HyperparameterId:
        """The id written by `to_json`; raises ValueError for anything else."""
        if not isinstance(data, dict):
            raise ValueError(f"A hyperparameter's id is an object. Received: {data!r}")  # noqa: TRY004
        try:
            number = int(data.get("number", 0))
            return cls(
                str(data["file"]),
                str(data["model"]),
                str(data["layer"]),
                Kind(data["kind"]),
                number,
            )
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"A hyperparameter's id has file, model, layer and kind. Received: {data!r}"
            ) from error


class HyperparameterJson(TypedDict):
    """A hyperparameter as JSON."""

    id: HyperparameterId
    name: str
    kind: Kind
    value: JsonValue
    written: Written
    file: PurePosixPath
    line: int
    column: int
    text: str
    alternatives: tuple[JsonValue, ...]
    layer_type: str
    role: str
    library: str
    uses: list[str]
    also: tuple[Kind, ...]
    default: JsonValue
    overridden: str
    computed: JsonValue
    changeable: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Hyperparameter:
    """One hyper-parameter in the source."""

    id: HyperparameterId
    value: JsonValue
    """The value in force: the literal, the name of what is called, the source text of anything
    else; none when absent.
    """
    written: Written
    place: Place
    """Where the value is; for an absent one, the call that would take it."""
    alternatives: tuple[JsonValue, ...] = ()
    """Values worth trying, in order of how usual they are."""
    text: str = ""
    """What is at the place."""
    layer_type: str = ""
    """Class of the layer it belongs to."""
    role: str = ""
    """`hidden` or `output`, for layers with weights."""
    library: str = ""
    """Whose words the value is in: `torch`, `keras`, `lightning`, `transformers`, `data`."""
    uses: tuple[Place, ...] = ()
    """Every place that takes this value; more than one when a constant serves several."""
    also: tuple[Kind, ...] = ()
    """Other kinds that the same written value serves."""
    default: JsonValue = None
    """What the library takes when it is absent; what the source says when the command line says
    otherwise.
    """
    overridden: str = ""
    """The option on the command line that is in force instead of what is written."""
    computed: JsonValue = None
    """What an expression comes to, where that can be determined without running it."""
    changeable: bool = True
    reason: str = ""
    """Why it cannot be changed, or not alone."""

    def json_fields(self) -> HyperparameterJson:
        return {
            "id": self.id,
            "name": str(self.id),
            "kind": self.kind,
            "value": self.value,
            "written": self.written,
            "file": self.place.file,
            "line": self.place.line,
            "column": self.place.column,
            "text": self.text,
            "alternatives": self.alternatives,
            "layer_type": self.layer_type,
            "role": self.role,
            "library": self.library,
            "uses": self.used_at,
            "also": self.also,
            "default": self.default,
            "overridden": self.overridden,
            "computed": self.computed,
            "changeable": self.changeable,
            "reason": self.reason,
        }

    @property
    def kind(self) -> Kind:
        return self.id.kind

    @property
    def absent(self) -> bool:
        return self.written is Written.ABSENT

    @property
    def in_force(self) -> JsonValue:
        """The value that counts: what is written or computed, else the library's default."""
        if self.absent:
            return self.default
        if self.computed is not None:
            return self.computed
        return self.value

    @property
    def used_at(self) -> list[str]:
        return [str(use) for use in self.uses]
