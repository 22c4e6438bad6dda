"""A live graph in the words of the hyperparameters, and what each kind of change may do to it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from reenact.program.graph import Layer, ModelGraph
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.training.layers import LayerSite
from reenact.program.training.reading import Reading

WIDTHS = {
    *(
        "in_features",
        "out_features",
        "in_channels",
        "out_channels",
        "num_features",
        "normalized_shape",
    ),
    *("input_size", "hidden_size", "units", "filters", "embedding_dim", "d_model"),
}
OUT = (
    "out_features",
    "out_channels",
    "units",
    "filters",
    "hidden_size",
    "embedding_dim",
)
UNSAID = {"name", "dtype", "build_config", "batch_shape", "input_shape", "functional"}
BENDING = {"activation", "nonlinearity", "mode"}
"""Settings that give recurrent layers their activation."""
DROPS = ("p", "rate", "dropout", "recurrent_dropout")
SHORT = {
    "bceloss": "binarycrossentropy",
    "bcewithlogitsloss": "binarycrossentropywithlogits",
    "meansquarederror": "mse",
    "meanabsoluteerror": "mae",
}
"""How the live graph calls a loss that the source calls otherwise."""
Line = tuple[str, int]


@dataclass(frozen=True)
class Unit:
    """A layer with the activations that follow it, as far as a patch may touch it."""

    name: str
    line: Line
    type: str
    width: Any
    weighted: bool
    settings: tuple[tuple[str, str], ...] = ()
    activations: tuple[str, ...] = ()
    bent_at: tuple[Line, ...] = ()
    """Where its activations stand."""

    @property
    def shape(self) -> tuple[Any, ...]:
        """Everything but widths, names and places."""
        return self.type, self.settings, self.activations

    @property
    def body(self) -> tuple[Any, ...]:
        return self.type, self.settings

    @property
    def only_bends(self) -> bool:
        return plain(self.type) in self.activations


@dataclass(frozen=True)
class Face:
    """A live graph in the words of the hyperparameters."""

    units: tuple[Unit, ...]
    loss: str
    optimizer: str
    rate: float | None
    batch_size: int | None
    spreads: dict[str, tuple[float, ...]] = field(compare=False)
    """Initial weights by layer."""
    first_loss: float = field(compare=False)

    @property
    def training(self) -> tuple[Any, ...]:
        return self.loss, self.optimizer, self.rate, self.batch_size

    def where(self, param: Hyperparameter, reading: Reading) -> list[int]:
        """Positions of the units that a hyperparameter belongs to: one layer in the source may make
        several."""
        lines = {(str(place.file), place.line) for place in (param.place, *param.uses)}
        units = list(enumerate(self.units))
        own = reading.sites[param.id].layer
        found = {i for i, unit in units if unit.name.split(">")[-1] == param.id.layer}
        if own is not None:
            alike = [other for other in reading.models.layers if made_at(other) & made_at(own)]
            there = {i for i, u in units if u.line in made_at(own) and u.type == own.name}
            found = there if len([one for one in alike if one.name == own.name]) == 1 else found
        found = found or {i for i, unit in units if unit.line in lines}
        found |= {i for i, unit in units if lines & set(unit.bent_at) and unit.line not in lines}
        found = found or {i for i, unit in units if unit.type == param.id.model}
        # A library copies what it is given: the blocks of a transformer stand where their container
        # does.
        return sorted(found or range(len(units)))


def made_at(layer: LayerSite) -> set[Line]:
    last = layer.call.end_lineno or layer.call.lineno
    return {(layer.scope.file, line) for line in range(layer.call.lineno, last + 1)}


def plain(word: object) -> str:
    return re.sub(r"[^a-z0-9]", "", str(word).lower())


def line_of(layer: Layer) -> Line:
    return (str(layer.place.file), layer.place.line) if layer.place else ("", 0)


def face(graph: ModelGraph, first_loss: float) -> Face:
    units: list[Unit] = []
    for layer in graph.layers:
        if layer.type == "Identity":
            # what a patch leaves where it takes out a layer that the program calls by name
            continue
        if layer.activation and (not layer.weights or layer.type == "PReLU") and units:
            last = units[-1]
            bent = (*last.activations, plain(layer.activation))
            units[-1] = replace(last, activations=bent, bent_at=(*last.bent_at, line_of(layer)))
        else:
            units.append(unit(layer))
    assert graph.loss is not None
    assert graph.optimizer is not None
    rate = graph.optimizer.learning_rate
    return Face(
        tuple(units),
        plain(graph.loss.name),
        plain(graph.optimizer.name),
        rate if rate is None else float(f"{rate:.6g}"),
        graph.batch_size,
        {layer.name: tuple(w.std for w in layer.weights) for layer in graph.layers},
        first_loss,
    )


def unit(layer: Layer) -> Unit:
    settings = {
        key: value for key, value in layer.settings.items() if key not in WIDTHS | UNSAID | BENDING
    }
    return Unit(
        layer.name,
        line_of(layer),
        layer.type,
        next((layer.settings[key] for key in OUT if key in layer.settings), None),
        bool(layer.weights) and "Norm" not in layer.type,
        tuple(sorted((key, json.dumps(value)) for key, value in settings.items())),
        (plain(layer.activation),) if layer.activation and layer.activation != "linear" else (),
    )


# What each kind of change may do
# ------------------------------------------------------------------------


def differing(before: Face, after: Face) -> list[int]:
    assert [u.type for u in before.units] == [u.type for u in after.units]
    return [
        i
        for i, (a, b) in enumerate(zip(before.units, after.units, strict=True))
        if a.shape != b.shape
    ]


def same_widths(before: Face, after: Face) -> None:
    assert [u.width for u in before.units] == [u.width for u in after.units]


def activation(before: Face, after: Face, at: list[int], param: Hyperparameter, value: Any) -> None:
    assert before.training == after.training
    same_widths(before, after)
    changed = differing(before, after)
    shown = any(plain(param.value) in unit.activations for unit in before.units) or param.absent
    # What Keras code bends with an operation of its own is no layer; that it acts shows in the
    # loss.
    assert changed if shown else before.first_loss != after.first_loss
    for one in changed:
        near = max(i for i in at if i <= one)
        assert not any(u.weighted for u in before.units[near + 1 : one + 1])
        assert after.units[one].settings == before.units[one].settings
        assert plain(value) in after.units[one].activations


def units_changed(
    before: Face, after: Face, at: list[int], param: Hyperparameter, value: Any
) -> None:
    assert before.training == after.training
    assert differing(before, after) == []
    pairs = [(a.width, b.width) for a, b in zip(before.units, after.units, strict=True)]
    moved = {i for i, (old, new) in enumerate(pairs) if old != new}
    assert {pairs[i] for i in moved & set(at)} >= {(param.in_force, value)}
    # One written width may serve several layers, some by half of it, say; a layer that keeps the
    # width of its input follows.
    for old, new in (pairs[i] for i in moved):
        assert new * param.in_force == pytest.approx(old * value, rel=0.2), (old, new)


def dropout(before: Face, after: Face, at: list[int], param: Hyperparameter, value: Any) -> None:
    assert before.training == after.training
    if param.in_force == 0 and len(after.units) > len(before.units):
        new = [u for u in after.units if "ropout" in u.type]
        assert [u.shape for u in before.units] == [u.shape for u in after.units if u not in new]
        assert {("rate", json.dumps(value)) in u.settings for u in new} == {True}
        return
    same_widths(before, after)
    changed = differing(before, after)
    assert changed
    assert set(changed) <= set(at)
    for one in changed:
        new = set(after.units[one].settings) - set(before.units[one].settings)
        assert {key for key, _ in new} <= set(DROPS)
        assert {json.loads(settings) for _, settings in new} == {value}


def removed(before: Face, after: Face, at: list[int], _: Hyperparameter, __: Any) -> None:
    assert before.training == after.training
    left = [
        u
        for i, u in enumerate(after.units)
        if not (u.only_bends and not before.units[0].only_bends)
    ]
    assert [u.body for u in left] == [u.body for i, u in enumerate(before.units) if i not in at]
    bent, was_bent = (
        [name for u in there.units for name in u.activations] for there in (after, before)
    )
    # The activation of a layer that goes may stay behind, with its neighbour in front.
    assert not Counter(bent) - Counter(was_bent)


def inserted(before: Face, after: Face, at: list[int], _: Hyperparameter, value: Any) -> None:
    assert before.training == after.training
    wanted: list[str] = []
    for i, u in enumerate(before.units):
        wanted += [plain(u.type), plain(value)] if i in at else [plain(u.type)]
    assert [plain(u.type) for u in after.units] == wanted
    bent, was_bent = (
        [name for u in there.units for name in u.activations] for there in (after, before)
    )
    assert bent == was_bent


def loss(before: Face, after: Face, _: list[int], __: Hyperparameter, value: Any) -> None:
    assert before.training[1:] == after.training[1:]
    assert before.loss != after.loss
    wanted = SHORT.get(plain(value), plain(value))
    assert after.loss in (wanted, wanted.removesuffix("loss"), f"{wanted}loss")
    same_widths(before, after)
    assert all(i >= last_weighted(before) for i in differing(before, after)), (
        "only the end may follow"
    )


def last_weighted(there: Face) -> int:
    return max(i for i, u in enumerate(there.units) if u.weighted)


def optimizer(before: Face, after: Face, _: list[int], __: Hyperparameter, value: Any) -> None:
    assert before.units == unplaced(before, after)
    assert (before.loss, before.batch_size) == (after.loss, after.batch_size)
    assert after.optimizer == plain(value)


def learning_rate(
    before: Face, after: Face, _: list[int], param: Hyperparameter, value: Any
) -> None:
    assert before.units == unplaced(before, after)
    assert (before.loss, before.optimizer, before.batch_size) == (
        after.loss,
        after.optimizer,
        after.batch_size,
    )
    assert after.rate is not None
    assert before.rate is not None
    # A schedule that warms up begins with a part of the rate.
    assert after.rate / before.rate == pytest.approx(value / param.in_force)


def batch_size(before: Face, after: Face, _: list[int], __: Hyperparameter, value: Any) -> None:
    assert before.units == unplaced(before, after)
    assert before.training[:3] == after.training[:3]
    assert after.batch_size == value


def unplaced(before: Face, after: Face) -> tuple[Unit, ...]:
    """The units after, each with the line it had: a patch may move lines."""
    assert len(before.units) == len(after.units)
    return tuple(
        replace(b, line=a.line, bent_at=a.bent_at)
        for a, b in zip(before.units, after.units, strict=True)
    )


def weight_init(before: Face, after: Face, at: list[int], _: Hyperparameter, value: Any) -> None:
    assert before.training == after.training
    same_widths(before, after)
    changed = differing(before, after)
    assert set(changed) <= set(at)
    for one in changed:
        settings = [text for key, text in after.units[one].settings if key.endswith("_initializer")]
        assert any(plain(value) in plain(text) for text in settings)
    for one in changed or at:
        name = before.units[one].name
        assert after.spreads[name] != before.spreads[name]


Check = Callable[[Face, Face, list[int], Hyperparameter, Any], None]
CHECKS: dict[str, tuple[Kind, Check]] = {
    "activation": (Kind.ACTIVATION, activation),
    "units": (Kind.UNITS, units_changed),
    "dropout": (Kind.DROPOUT, dropout),
    "remove": (Kind.LAYER, removed),
    "insert": (Kind.LAYER, inserted),
    "loss": (Kind.LOSS, loss),
    "binary-loss": (Kind.LOSS, loss),
    "optimizer": (Kind.OPTIMIZER, optimizer),
    "learning-rate": (Kind.LEARNING_RATE, learning_rate),
    "batch-size": (Kind.BATCH_SIZE, batch_size),
    "weight-init": (Kind.WEIGHT_INIT, weight_init),
}
OF_LAYERS = {"activation", "units", "dropout", "remove", "insert", "weight-init"}
