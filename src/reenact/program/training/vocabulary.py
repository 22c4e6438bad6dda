"""Shapes of the vocabulary: what a library's layer, optimiser or loss takes."""

import json
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from reenact.program.hyperparameter import Kind
from reenact.program.syntax.source import words
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
    """Input width, where it must be written: no hyperparameter, but it must follow the layer
    before.
    """

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


@dataclass(frozen=True, slots=True)
class LibraryWords:
    """What a library calls things."""

    layers: dict[str, LayerSpec]
    optimizers: dict[str, OptimizerSpec]
    tables: dict[str, dict[str, str]]

    def named(self, name: str) -> tuple[str, ...]:
        return words(self.tables["words"][name])


def read_library(name: str) -> LibraryWords:
    """The table of a library that lies next to this file."""
    tables = _read(name)
    slots: dict[str, Slot] = {}
    for key, one in tables.pop("slots").items():
        slots[key] = Slot(
            Kind(one.pop("kind")),
            words(one.pop("names")),
            **one,
        )
    layers: dict[str, LayerSpec] = {}
    for one in tables.pop("layers"):
        taken = tuple(slots[key] for key in words(one.get("slots", "")))
        spec = LayerSpec(
            Family(one["family"]),
            taken,
            slots.get(one.get("width_in", "")),
        )
        layers |= dict.fromkeys(words(one["names"]), spec)
    every = _signature(tables["words"].get("every_optimizer", ""))
    own = {key: _signature(text) for key, text in tables.pop("optimizers").items()}
    optimizers = {
        key: OptimizerSpec(
            tuple(
                {
                    **one,
                    **every,
                    **one,
                }.items()
            )
        )
        for key, one in own.items()
    }
    return LibraryWords(layers, optimizers, tables)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


def _signature(text: str) -> dict[str, JsonValue]:
    pairs = (word.partition("=") for word in words(text))
    return {name: json.loads(default) if default else None for name, _, default in pairs}


def plain_name(name: str) -> str:
    """For comparing: lower case, no underscores, no trailing `Loss`."""
    return name.lower().replace("_", "")


class Form(StrEnum):
    """How labels are written down."""

    NUMBERS = "any numbers, one for each output"
    BITS = "numbers from 0 to 1, one for each output"
    COLUMNS = "one column a class"
    CLASSES = "the number of a class"


_LOSSES: dict[str, dict[str, str]] = _read("losses")
_FORMS = {
    plain_name(loss): Form[form]
    for form, names in _LOSSES["labels"].items()
    for loss in words(names)
}
_ACTIVATIONS = {
    plain_name(loss): word for word, names in _LOSSES["outputs"].items() for loss in words(names)
}


def form_of(loss: str) -> Form | None:
    """The labels a loss takes, by any of its names; none where nothing is demanded that others
    do not.
    """
    return _FORMS.get(plain_name(loss))


def takes_any_number(loss: str) -> bool:
    """Losses that can be computed whatever the labels are, though they are made for less."""
    return plain_name(loss) in ("bcewithlogitsloss", "binarycrossentropywithlogits")


def activation_for(loss: str) -> str:
    """The output activation a loss is made for; `linear` when it applies its own, empty when
    any will do.
    """
    return _ACTIVATIONS.get(plain_name(loss), "")
