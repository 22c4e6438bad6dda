"""A patch applied, both programs run: the two live graphs differ where the patch says, and nowhere else."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import PatchRefused
from reenact.probe.options import WatchOptions
from reenact.program.change import Change, Insert, Remove
from reenact.program.graph import Layer, ModelGraph
from reenact.program.knob import Kind, Knob
from reenact.program.knobs import knobs_of
from reenact.program.patch import Patch, change_for
from reenact.program.program import Program, read_program
from reenact.program.tree import write_to

CORPUS = Path(__file__).parents[1] / "corpus"
STATED = {
    path.parent.name: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(CORPUS.glob("*/expected.json"))
}
PLAIN = [
    name
    for name, stated in STATED.items()
    if stated["runs"] and not stated["needs_shim"] and stated["entry"][0].endswith(".py")
    if name.startswith(("torch_", "keras_")) and name not in ("torch_gan", "torch_launcher")
]
"""Two models and two optimisers have no single graph; a launcher line needs processes of its own."""
NOT_ONE_TO_ONE = (
    *("torch_metrics_blocks", "torch_config_dict", "torch_build_defaults"),
    *("keras_loop_build", "keras_callbacks", "keras_subclassed", "keras_functional"),
)
"""One layer in the source makes several in the model, or lies inside another."""
WIDTHS = {
    *("in_features", "out_features", "in_channels", "out_channels", "num_features", "normalized_shape"),
    *("input_size", "hidden_size", "units", "filters", "embedding_dim", "d_model"),
}
OUT = ("out_features", "out_channels", "units", "filters", "hidden_size", "embedding_dim")
UNSAID = {"name", "dtype", "build_config", "batch_shape", "input_shape", "functional"}
EACH = 3
"""Programs of each framework that a change is tried on."""


@dataclass(frozen=True)
class Unit:
    """A layer with the activations that follow it, as far as a patch may touch it."""

    name: str
    line: int
    type: str
    width: Any
    weighted: bool
    settings: tuple[tuple[str, str], ...] = ()
    activations: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[Any, ...]:
        """Everything but widths, names and places."""
        return self.type, self.settings, self.activations


@dataclass(frozen=True)
class Face:
    """A live graph in the words of the knobs."""

    units: tuple[Unit, ...]
    loss: str
    optimizer: str
    rate: float | None
    batch_size: int | None
    spreads: dict[str, tuple[float, ...]] = field(compare=False)
    """Initial weights by layer."""

    @property
    def training(self) -> tuple[Any, ...]:
        return self.loss, self.optimizer, self.rate, self.batch_size

    def where(self, knob: Knob) -> int | None:
        """Position of the unit that a knob belongs to; none when that cannot be told."""
        called = [i for i, unit in enumerate(self.units) if unit.name.split(">")[-1] == knob.id.layer]
        lines = {place.line for place in (knob.place, *knob.uses)}
        standing = [i for i, unit in enumerate(self.units) if unit.line in lines]
        found = called or standing
        return found[0] if len(found) == 1 else None


def plain(word: object) -> str:
    return re.sub(r"[^a-z0-9]", "", str(word).lower())


def face(graph: ModelGraph) -> Face:
    units: list[Unit] = []
    for layer in graph.layers:
        if layer.type == "Identity":
            continue  # what a patch leaves where it takes out a layer that the program calls by name
        if layer.activation and not layer.weights and units:
            units[-1] = replace(units[-1], activations=(*units[-1].activations, plain(layer.activation)))
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
    )


def unit(layer: Layer) -> Unit:
    said = {key: value for key, value in layer.settings.items() if key not in WIDTHS | UNSAID}
    said.pop("activation", None)
    return Unit(
        layer.name,
        layer.place.line if layer.place else 0,
        layer.type,
        next((layer.settings[key] for key in OUT if key in layer.settings), None),
        bool(layer.weights) and "Norm" not in layer.type,
        tuple(sorted((key, json.dumps(value)) for key, value in said.items())),
        (plain(layer.activation),) if layer.activation and layer.activation != "linear" else (),
    )


# What each kind of change may do ------------------------------------------------------------------------


def differing(before: Face, after: Face) -> list[int]:
    assert [u.type for u in before.units] == [u.type for u in after.units]
    return [i for i, (a, b) in enumerate(zip(before.units, after.units, strict=True)) if a.shape != b.shape]


def same_widths(before: Face, after: Face) -> None:
    assert [u.width for u in before.units] == [u.width for u in after.units]


def activation(before: Face, after: Face, at: int, _: Knob, value: Any) -> None:
    assert before.training == after.training
    same_widths(before, after)
    [changed] = differing(before, after)
    assert changed >= at
    assert not any(u.weighted for u in before.units[at + 1 : changed + 1])
    assert after.units[changed].settings == before.units[changed].settings
    assert plain(value) in after.units[changed].activations


def units_changed(before: Face, after: Face, at: int, _: Knob, value: Any) -> None:
    assert before.training == after.training
    assert differing(before, after) == []
    assert after.units[at].width == value
    same = [i for i, (a, b) in enumerate(zip(before.units, after.units, strict=True)) if a.width == b.width]
    moved = set(range(len(before.units))) - set(same) - {at}
    # One written width may serve several layers; a layer that keeps the width of its input follows.
    assert all(before.units[i].width == before.units[at].width for i in moved)


def dropout(before: Face, after: Face, at: int, _: Knob, value: Any) -> None:
    assert before.training == after.training
    same_widths(before, after)
    assert differing(before, after) == [at]
    assert {json.loads(v) for k, v in after.units[at].settings if k in ("p", "rate")} == {value}


def removed(before: Face, after: Face, at: int, _: Knob, __: Any) -> None:
    assert before.training == after.training
    left = [u.shape for u in after.units]
    kept = [u.shape for u in before.units]
    gone = kept.pop(at)
    # The activation of a layer that goes may stay behind, with its neighbour in front.
    if at and gone[2] and left != kept:
        kept[at - 1] = (*kept[at - 1][:2], kept[at - 1][2] + gone[2])
    assert left == kept


def inserted(before: Face, after: Face, at: int, _: Knob, value: Any) -> None:
    assert before.training == after.training
    same = [u.shape for u in before.units]
    new = [i for i, u in enumerate(after.units) if "ropout" in u.type]
    old = [i for i, u in enumerate(before.units) if "ropout" in u.type]
    assert len(new) == len(old) + 1
    position = next(i for i, u in enumerate(after.units) if i >= len(same) or u.shape[:2] != same[i][:2])
    assert (position, plain(after.units[position].type)) == (at + 1, plain(value))
    rest = [u for i, u in enumerate(after.units) if i != position]
    assert [u.shape[:2] for u in rest] == [pair[:2] for pair in same]
    flat = [name for u in after.units for name in u.activations]
    assert flat == [name for shape in same for name in shape[2]]


def loss(before: Face, after: Face, _: int, __: Knob, value: Any) -> None:
    assert before.training[1:] == after.training[1:]
    assert before.loss != after.loss
    assert plain(value).removesuffix("loss")[:4] == after.loss[:4] or after.loss in plain(value)
    same_widths(before, after)
    assert all(i >= last_weighted(before) for i in differing(before, after)), "only the end may follow"


def last_weighted(there: Face) -> int:
    return max(i for i, u in enumerate(there.units) if u.weighted)


def optimizer(before: Face, after: Face, _: int, __: Knob, value: Any) -> None:
    assert before.units == unplaced(before, after)
    assert (before.loss, before.batch_size) == (after.loss, after.batch_size)
    assert after.optimizer == plain(value)


def learning_rate(before: Face, after: Face, _: int, __: Knob, value: Any) -> None:
    assert before.units == unplaced(before, after)
    assert (before.loss, before.optimizer, before.batch_size) == (
        after.loss,
        after.optimizer,
        after.batch_size,
    )
    assert after.rate == pytest.approx(value)


def batch_size(before: Face, after: Face, _: int, __: Knob, value: Any) -> None:
    assert before.units == unplaced(before, after)
    assert before.training[:3] == after.training[:3]
    assert after.batch_size == value


def unplaced(before: Face, after: Face) -> tuple[Unit, ...]:
    """The units after, each with the line it had: a patch may move lines."""
    assert len(before.units) == len(after.units)
    return tuple(replace(b, line=a.line) for a, b in zip(before.units, after.units, strict=True))


def weight_init(before: Face, after: Face, at: int, _: Knob, value: Any) -> None:
    assert before.training == after.training
    same_widths(before, after)
    changed = differing(before, after)
    name = before.units[at].name
    assert changed in ([], [at])
    if changed:
        said = [text for key, text in after.units[at].settings if key.endswith("_initializer")]
        assert any(plain(value) in plain(text) for text in said)
    assert after.spreads[name] != before.spreads[name]


Check = Callable[[Face, Face, int, Knob, Any], None]
CHECKS: dict[str, tuple[Kind, Check]] = {
    "activation": (Kind.ACTIVATION, activation),
    "units": (Kind.UNITS, units_changed),
    "dropout": (Kind.DROPOUT, dropout),
    "remove": (Kind.LAYER, removed),
    "insert": (Kind.LAYER, inserted),
    "loss": (Kind.LOSS, loss),
    "optimizer": (Kind.OPTIMIZER, optimizer),
    "learning-rate": (Kind.LEARNING_RATE, learning_rate),
    "batch-size": (Kind.BATCH_SIZE, batch_size),
    "weight-init": (Kind.WEIGHT_INIT, weight_init),
}
OF_LAYERS = {"activation", "units", "dropout", "remove", "insert", "weight-init"}


# Drawing ------------------------------------------------------------------------------------------------


@cache
def program(name: str) -> Program:
    return read_program(STATED[name]["entry"], CORPUS / name)


def value_for(what: str, knob: Knob, luck: random.Random) -> Any:
    if what == "insert":
        return "Dropout" if knob.role == "hidden" else None
    if what == "remove":
        return "gone" if None in knob.alternatives else None
    values = [value for value in knob.alternatives if value is not None and value != "linear"]
    if what == "batch-size":
        values = [value for value in values if isinstance(knob.value, int) and value < knob.value]
    if what == "activation" and knob.role == "output":
        return None
    if what == "loss":
        values = [value for value in values if not plain(value).startswith(("bce", "binary"))]
    return luck.choice(values) if values else None


def change(what: str, knob: Knob, value: Any) -> Change:
    if what == "insert":
        return Insert(knob.id, value, {"p" if knob.library == "torch" else "rate": 0.25})
    return Remove(knob.id) if what == "remove" else change_for(knob, value)


def cases() -> list[Any]:
    found = []
    for what, (kind, _) in CHECKS.items():
        luck = random.Random(what)
        for framework in ("torch_", "keras_"):
            names = [name for name in PLAIN if name.startswith(framework)]
            names = [name for name in names if what not in OF_LAYERS or name not in NOT_ONE_TO_ONE]
            luck.shuffle(names)
            drawn = [draw(what, kind, name, luck) for name in names]
            found += [one for one in drawn if one is not None][:EACH]
    return found


def draw(what: str, kind: Kind, name: str, luck: random.Random) -> Any:
    knobs = [knob for knob in knobs_of(program(name)) if knob.kind is kind and knob.changeable]
    knobs = [knob for knob in knobs if not knob.overridden]
    luck.shuffle(knobs)
    for knob in knobs:
        value = value_for(what, knob, luck)
        if value is None:
            continue
        try:
            if not Patch((change(what, knob, value),)).diff(program(name)):
                continue
        except PatchRefused:
            continue
        return pytest.param(name, what, knob, value, id=f"{what}-{name}-{value}")
    return None


@pytest.fixture(scope="module")
def live(forks: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Patch], Face]:
    """The face of a corpus program with a patch, after one step."""
    known: dict[tuple[str, str], Face] = {}

    def run(name: str, patch: Patch) -> Face:
        key = (name, patch.to_text())
        if key not in known:
            work = tmp_path_factory.mktemp("live") / name
            shutil.copytree(CORPUS / name, work)
            write_to(patch.apply(program(name)), work)
            entry = STATED[name]["entry"]
            options = WatchOptions(Path(), preset="bare", stop_after=1)
            ran = forks.run(work / entry[0], *entry[1:], cwd=work, options=options)
            assert ran.code == 0, ran.err
            assert ran.trace.graph is not None
            known[key] = face(ran.trace.graph)
        return known[key]

    return run


@pytest.mark.parametrize(("name", "what", "knob", "value"), cases())
def test_the_live_graph_differs_where_the_patch_says(
    name: str, what: str, knob: Knob, value: Any, live: Callable[[str, Patch], Face]
) -> None:
    patch = Patch((change(what, knob, value),))
    before, after = live(name, Patch()), live(name, patch)
    at = before.where(knob) if what in OF_LAYERS else 0
    assert at is not None, (knob.id, [u.name for u in before.units])
    CHECKS[what][1](before, after, at, knob, value)
