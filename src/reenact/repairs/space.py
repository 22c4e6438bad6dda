"""The space of a search: every hyperparameter that may be turned, with the values it may take.

`own` is what reenact knows to be worth trying. `study` is the search space of "Fault Localisation
and Repair for DL Systems" (section 5.3 and its replication package), for comparison: learning rates
drawn evenly between 1e-6 and 10, epochs by powers of a factor, names of Keras.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from reenact.errors import InputError
from reenact.program.edit.change import Change
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.patch import Patch, change_for
from reenact.program.training.alternatives import same_value
from reenact.types import JsonValue

SEARCHED = (
    Kind.LOSS,
    Kind.OPTIMIZER,
    Kind.LEARNING_RATE,
    Kind.BATCH_SIZE,
    Kind.EPOCHS,
    Kind.ACTIVATION,
    Kind.WEIGHT_INIT,
    Kind.BIAS_INIT,
    Kind.WEIGHT_REGULARIZER,
    Kind.UNITS,
    Kind.LAYER,
    Kind.DROPOUT,
)
"""Kinds that the study's tools may change."""
LOSSES = (
    "mean_squared_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_logarithmic_error",
    "squared_hinge",
    "hinge",
    "categorical_hinge",
    "log_cosh",
    "categorical_crossentropy",
    "sparse_categorical_crossentropy",
    "binary_crossentropy",
    "kl_divergence",
    "poisson",
)
OPTIMIZERS = (
    "sgd",
    "rmsprop",
    "adagrad",
    "adadelta",
    "adam",
    "adamax",
    "nadam",
)
INITIALIZERS = (
    "zeros",
    "ones",
    "random_normal",
    "random_uniform",
    "truncated_normal",
    "orthogonal",
    "lecun_uniform",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "lecun_normal",
    "he_uniform",
)
ACTIVATIONS = (
    "elu",
    "softmax",
    "selu",
    "softplus",
    "softsign",
    "relu",
    "tanh",
    "sigmoid",
    "hard_sigmoid",
    "exponential",
    "linear",
)
POWERS = 4


@dataclass(frozen=True, slots=True)
class Dimension:
    """One hyperparameter. Either some values, the first of which is in force, or all between
    two bounds.
    """

    hyperparameter: Hyperparameter
    values: tuple[JsonValue, ...] = ()
    low: float = 0.0
    high: float = 0.0
    logarithmic: bool = False

    @property
    def name(self) -> str:
        return str(self.hyperparameter.id)

    @property
    def is_range(self) -> bool:
        return not self.values

    @property
    def start(self) -> float:
        """Where the program is now: its number within the bounds, or the place of the first
        value.
        """
        now = self.hyperparameter.in_force
        if not self.is_range:
            return 0
        return min(max(float(str(now)), self.low), self.high)

    def value_at(self, drawn: float) -> JsonValue:
        """What was drawn, as a value: a number of four digits, or the value at that place."""
        if self.is_range:
            return float(f"{drawn:.4g}")
        return self.values[int(drawn)]


Space: TypeAlias = tuple[Dimension, ...]


def patch_at(
    space: Space, point: Mapping[str, JsonValue], applies: Callable[[Patch], bool]
) -> Patch:
    """The change that leads from the unchanged program to a point."""
    params = [(one.hyperparameter, point[one.name]) for one in space]
    moved = [(param, value) for param, value in params if not same_value(value, param.in_force)]
    return fitting(
        [change_for(param, value) for param, value in moved],
        applies,
    )


def space_of(params: Sequence[Hyperparameter], which: str, chance: int = 0) -> Space:
    """The space of a program; raises InputError where there is none."""
    usable = [param for param in params if param.changeable and param.kind in SEARCHED]
    if which == "study" and any(param.library == "torch" for param in usable):
        raise InputError(
            "The study's search space is written in the words of Keras; this is PyTorch."
        )
    numbers = random.Random(chance)  # noqa: S311 - a search, no secret
    made = [_study(param, numbers) if which == "study" else _own(param) for param in usable]
    found = tuple(one for one in made if one is not None)
    if not found:
        raise InputError(
            "Nothing in this program can be searched over: no hyper-parameter can be changed."
        )
    return found


def fitting(
    changes: Sequence[Change],
    applies: Callable[[Patch], bool],
) -> Patch:
    """As many of the changes as go together: a removed layer has no width."""
    whole = Patch(tuple(changes))
    if not changes or applies(whole):
        return whole
    kept: list[Change] = []
    for change in changes:
        if applies(Patch((*kept, change))):
            kept.append(change)
    return Patch(tuple(kept))


def _own(param: Hyperparameter) -> Dimension | None:
    now = param.in_force
    if param.kind is Kind.LEARNING_RATE and isinstance(now, int | float):
        return Dimension(param, low=1e-6, high=1.0, logarithmic=True)
    others = tuple(value for value in param.alternatives if not same_value(value, now))
    return Dimension(param, (now, *others)) if others else None


def _study(param: Hyperparameter, chance: random.Random) -> Dimension | None:
    now = param.in_force
    lists: dict[Kind, Sequence[JsonValue]] = {
        Kind.LOSS: LOSSES,
        Kind.OPTIMIZER: OPTIMIZERS,
        Kind.BATCH_SIZE: (16, 32, 64, 128, 256, 512),
        Kind.WEIGHT_INIT: INITIALIZERS,
        Kind.BIAS_INIT: INITIALIZERS,
        Kind.WEIGHT_REGULARIZER: (None, "l1", "l2", "l1_l2"),
        Kind.ACTIVATION: ACTIVATIONS,
        Kind.LAYER: (None, {"repeat": 2}),
    }
    if param.kind is Kind.LEARNING_RATE:
        return Dimension(param, low=1e-6, high=10.0)
    if param.kind is Kind.UNITS and isinstance(now, int):
        if param.role != "output":
            return Dimension(
                param,
                (now, max(1, now // 2), 2 * now),
            )
        return None
    if param.kind is Kind.EPOCHS and isinstance(now, int):
        factor = chance.uniform(1.1, 1.3)
        scaled = [now * factor**power for power in range(1, POWERS + 1)]
        scaled += [now / factor**power for power in range(1, POWERS + 1)]
        return Dimension(
            param,
            tuple(
                dict.fromkeys(
                    [
                        now,
                        *(max(1, round(one)) for one in scaled),
                    ]
                )
            ),
        )
    if param.kind is Kind.LAYER and not param.alternatives:
        return None
    if param.kind is Kind.WEIGHT_REGULARIZER and param.absent:
        return None
    others = tuple(value for value in lists.get(param.kind, ()) if not same_value(value, now))
    return Dimension(param, (now, *others)) if others else None
