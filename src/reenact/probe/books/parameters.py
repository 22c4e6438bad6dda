"""What the book of parameters holds: of each tensor that could learn, what became of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from reenact.types import Place


@dataclass(frozen=True, slots=True)
class TensorRow:
    """One tensor that could learn."""

    path: str
    """Its name within its model."""
    root: int
    """Number of the model; -1 where none holds it."""
    shape: tuple[int, ...]
    trainable: bool
    """Whether it asked for a gradient at any look."""
    is_parameter: bool
    owners: tuple[int, ...]
    """Optimizers that were given it, by number."""
    graded: int
    """Looks at which a gradient other than zero came to it."""
    spent: int
    """Steps of its optimizers, among those that were read, at which it had one."""
    stepped: int
    """Steps of its optimizers that were read."""
    share: float
    """Largest share of the norm of all gradients."""
    order: int
    """When its layer ran first, among all; -1 where it was not seen to run."""
    asked: int
    """Passes with gradients in which its layer ran."""
    asked_without: int
    """The same without gradients."""
    moved: bool
    met: int
    """The look at which it was met."""
    gone: int
    """The look at which its model held it no longer; -1 where it does."""
    given: str
    """`loaded`, `copied`, or empty."""
    spread: tuple[float, ...]
    """Mean, deviation, kurtosis and largest size, of a kernel as it was met."""

    @property
    def count(self) -> int:
        """Numbers in it."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class MadeAt:
    """Where a part of a model was made."""

    path: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class ModelParts:
    """A model that passed forward."""

    name: str
    parts: tuple[MadeAt, ...]


@dataclass(frozen=True, slots=True)
class Parted:
    """Two layers that shared a parameter once and hold two now."""

    one: str
    other: str
    count: int
    place: Place | None = None
    """Where one of them was given another."""


@dataclass(frozen=True, slots=True)
class ParametersBook:
    """Every tensor, as it was seen."""

    looks: int
    reads: int
    """Backward passes after which gradients were read."""
    steps: int
    models: tuple[ModelParts, ...]
    tensors: tuple[TensorRow, ...]
    parted: tuple[Parted, ...]
