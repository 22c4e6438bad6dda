"""The model graph: layers, loss, optimiser, data facts and task type, read from a live model.

The part of the probe that runs inside a user's program writes it as JSON; this is the type that the
rest of the package reads. Every field that could not be learned is not one, never a guess.
"""

from dataclasses import dataclass
from enum import StrEnum

from reenact.types import JsonValue, Place


class TaskType(StrEnum):
    """What the model is asked to learn."""

    REGRESSION = "regression"
    BINARY = "binary"
    MULTI_CLASS = "multi-class"
    MULTI_LABEL = "multi-label"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class WeightFacts:
    """A parameter tensor before the first step."""

    name: str
    shape: tuple[int, ...]
    trainable: bool
    mean: float
    std: float
    minimum: float
    maximum: float
    path: str = ""
    """Name of the tensor in the whole model, for example `features.0.weight`."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer, in execution order."""

    name: str
    """Path inside the model: `features.0` in torch, the layer's name in Keras."""
    type: str
    """Class name: `Linear`, `Conv2d`, `Dense`."""
    place: Place | None
    """The source line that made it."""
    input_shapes: tuple[tuple[int | None, ...], ...]
    output_shape: tuple[int | None, ...] | None
    activation: str | None
    """The non-linearity this layer applies itself, or is, in lower case; none when it applies
    none.
    """
    settings: dict[str, JsonValue]
    """What its constructor was given: units, kernel size, rate, initialisers, regularisers."""
    weights: tuple[WeightFacts, ...]
    calls: int = 1
    """How often one forward pass goes through it."""
    takes: str | None = None
    """The layer whose output it is given; empty where that is not a single one's (the scores of an
    attention), none where no one saw.
    """


@dataclass(frozen=True, slots=True)
class LossFacts:
    """The loss that is minimised."""

    name: str
    """Class or function name in lower case with underscores, for example `cross_entropy`."""
    from_logits: bool | None
    settings: dict[str, JsonValue]
    place: Place | None
    compared: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """Shapes of output and target, as it was first given them."""
    called: Place | None = None
    """Where it is given them."""
    bend: str = ""
    """What activates the very output that it is given; `none` where nothing does, empty where
    no one knows.
    """


@dataclass(frozen=True, slots=True)
class OptimizerFacts:
    """The optimiser and its settings."""

    name: str
    learning_rate: float | None
    settings: dict[str, JsonValue]
    place: Place | None
    parameters_given: int | None
    """How many parameter tensors it was given."""


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """What the data looks like: inputs or labels of one split."""

    split: str
    """`train`, `validation` or `test`."""
    role: str
    """`input` or `label`."""
    shape: tuple[int | None, ...]
    dtype: str
    minimum: float | None
    maximum: float | None
    mean: float | None
    std: float | None
    nan_share: float
    constant_features: int
    classes: int | None
    class_counts: tuple[int, ...] | None
    rows_seen: int
    class_values: tuple[int, ...] | None = None
    """The label values behind `class_counts`, in the same order."""
    integral: bool = False
    """Labels only: every value is a whole number."""
    one_hot: bool = False
    """Labels only: every row has a single one."""
    batch_spread: float | None = None
    """Classes only: how far the means of batches lie apart, in standard deviations of the
    labels.
    """
    feature_spread: float | None = None
    """Held-out inputs: spread of a feature as a share of that in training."""


@dataclass(frozen=True, slots=True)
class ModelGraph:
    """A model as it stood when training began."""

    framework: str
    model: str
    """Class name of the model."""
    layers: tuple[Layer, ...]
    loss: LossFacts | None
    optimizer: OptimizerFacts | None
    data: tuple[TensorFacts, ...]
    task: TaskType
    batch_size: int | None
    parameters: int
    trainable_parameters: int
    unregistered: tuple[str, ...] = ()
    """Tensors or modules held by the model that its parameters() does not reach."""
    unregistered_at: Place | None = None
    """Where the first of them, or what holds it, was made."""
    outputs: int | None = None
    """How many tensors that can be learned from a training pass gives; none where no one saw, where it
    gives other things too, or where passes go through different layers.
    """
