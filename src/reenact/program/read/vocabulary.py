"""Shapes of the vocabulary: what a library's layer or optimiser takes, and under which names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reenact.program.hyperparameter import Kind
from reenact.types import JsonValue


class Family(StrEnum):
    """What sort of layer it is."""

    DENSE = "dense"
    CONV = "conv"
    RECURRENT = "recurrent"
    EMBEDDING = "embedding"
    DROPOUT = "dropout"
    NORM = "norm"
    ACTIVATION = "activation"
    POOL = "pool"
    SHAPE = "shape"
    MERGE = "merge"
    INPUT = "input"
    COMPOSITE = "composite"
    WRAPPER = "wrapper"
    NOISE = "noise"


WEIGHTED = frozenset((Family.DENSE, Family.CONV, Family.RECURRENT))
"""Layers with a weight matrix whose output an activation acts on."""


@dataclass(frozen=True, slots=True)
class Slot:
    """An argument that is a hyperparameter."""

    kind: Kind
    names: tuple[str, ...]
    """Keywords it goes by, the one to write first."""
    position: int | None = None
    default: JsonValue = None
    """What the library takes when nothing is written."""
    reported: bool = True
    """False: worth knowing when written, but its absence says nothing."""


@dataclass(frozen=True, slots=True)
class LayerSpec:
    """A layer class of a library."""

    family: Family
    slots: tuple[Slot, ...] = ()
    width_in: Slot | None = None
    """Input width, where the library wants it told: no hyperparameter, but it must follow the layer
    before."""

    @property
    def weighted(self) -> bool:
        return self.family in WEIGHTED


@dataclass(frozen=True, slots=True)
class OptimizerSpec:
    """An optimiser class: its arguments in the order of its signature, with their defaults."""

    arguments: tuple[tuple[str, JsonValue], ...]

    def position(self, name: str) -> int | None:
        names = [argument for argument, _ in self.arguments]
        return names.index(name) if name in names else None

    def takes(self, name: str) -> bool:
        return self.position(name) is not None

    def default(self, name: str) -> JsonValue:
        return dict(self.arguments).get(name)
