"""What the book of models holds: modes of the passes that were stepped and that judged, weights that were
restored, and averages.
"""

from __future__ import annotations

from dataclasses import dataclass

from reenact.types import Place


@dataclass(frozen=True, slots=True)
class Modes:
    """Layers of a pass that behave differently in training, by what they did."""

    drops: int
    keeps: int
    """Dropout that was off."""
    follows: int
    """Batch norm that used its batch."""
    stays: int
    """Batch norm that used its running statistics."""

    @property
    def on(self) -> int:
        return self.drops + self.follows

    @property
    def off(self) -> int:
        return self.keeps + self.stays


@dataclass(frozen=True, slots=True)
class Stepped:
    """A step that was looked at, by a model whose loss it came from."""

    root: int
    step: int
    modes: Modes


@dataclass(frozen=True, slots=True)
class JudgedPass:
    """A pass without gradients."""

    root: int
    step: int
    within: bool
    """A pass with gradients had begun whose loss was still to go backward."""
    again: bool
    """It was asked what it had been asked just before."""
    modes: Modes
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model that passed forward."""

    name: str
    owned: int
    """Tensors of it that an optimizer was given."""
    tensors: int
    moved: int
    fresh_norms: bool
    """Running statistics of batch norm were those it was made with when it was stepped first."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A model was given its own tensors to load."""

    model: str
    step: int
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Mixed:
    """A model that no optimizer moves, as a mixture of what another one was and is."""

    root: int
    of: int
    old: float
    """The part of it that is what the other one began with."""
    off: float
    """How far it is from any such mixture, by the way that the other one went, squared."""
    walked: float
    """That way, by the length of the weights."""
    moved: bool


@dataclass(frozen=True, slots=True)
class ModelsBook:
    """Which weights were trained, judged and restored, in which mode."""

    models: tuple[ModelRow, ...]
    steps: int
    stepped: tuple[Stepped, ...]
    judged: tuple[JudgedPass, ...]
    unused: int
    """Passes with gradients that never went backward."""
    restored: tuple[Restored, ...]
    averages: tuple[Mixed, ...]
