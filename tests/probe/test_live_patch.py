"""A patch applied, both programs run: the two live graphs differ where the patch says, and
nowhere else.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from live_graphs import CHECKS, OF_LAYERS, Face, face, plain
from reenact.errors import PatchRefused
from reenact.probe.options import WatchOptions
from reenact.program.edit.change import Change, Insert, Remove
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.patch import Patch, change_for
from reenact.program.program import Program, read_program
from reenact.program.static_graph import hyperparameters_of
from reenact.program.training.reading import read

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
"""Two models and two optimizers have no single graph; a launcher line needs processes of its
own.
"""
MANY = (
    *(
        "torch_metrics_blocks",
        "torch_config_dict",
        "torch_build_defaults",
        "torch_transformer",
    ),
    *("keras_loop_build", "keras_callbacks", "keras_subclassed", "keras_functional"),
)
"""One layer in the source makes several in the model, or lies inside another: changes of layers are
tried on all of these.
"""
EACH = 3
"""Other programs of each framework that a change is tried on."""


# Drawing
# ------------------------------------------------------------------------------------------------


@cache
def program(name: str) -> Program:
    return read_program(STATED[name]["entry"], CORPUS / name)


@cache
def hyperparameters(name: str) -> list[Hyperparameter]:
    return list(hyperparameters_of(program(name)))


def value_for(what: str, param: Hyperparameter, luck: random.Random) -> Any:
    if what == "insert":
        return "Dropout" if param.role == "hidden" else None
    if what == "remove":
        return "gone" if None in param.alternatives else None
    values = [value for value in param.alternatives if value is not None and value != "linear"]
    if what == "batch-size":
        values = [value for value in values if isinstance(param.value, int) and value < param.value]
    if what == "binary-loss":
        values = [value for value in values if plain(value).startswith(("bce", "binary"))]
    if what == "activation" and param.role == "output":
        return None
    return luck.choice(values) if values else None


def change(what: str, param: Hyperparameter, value: Any) -> Change:
    if what == "insert":
        return Insert(param.id, value, {"p" if param.library == "torch" else "rate": 0.25})
    return Remove(param.id) if what == "remove" else change_for(param, value)


Case = tuple[str, str, Hyperparameter, Any]
"""A program, what is changed, where, and the new value."""


@cache
def drawn(what: str, framework: str) -> list[Case]:
    """The cases of one kind of change. Each costs a patch, so they are drawn by the test."""
    kind, _ = CHECKS[what]
    luck = random.Random(f"{what} {framework}")
    names = [name for name in PLAIN if name.startswith(framework)]
    many = [name for name in names if name in MANY and what in OF_LAYERS]
    others = [name for name in names if name not in many]
    luck.shuffle(others)
    found = [one for name in many if (one := draw(what, kind, name, luck))]
    usable = (one for name in others if (one := draw(what, kind, name, luck)))
    return found + list(itertools.islice(usable, EACH))


def numbered() -> list[Any]:
    """As many numbers as a kind of change has cases, or more."""
    return [
        pytest.param(what, framework, number, id=f"{what}-{framework}{number}")
        for what in CHECKS
        for framework in ("torch_", "keras_")
        for number in range(EACH + (len(MANY) // 2 if what in OF_LAYERS else 0))
    ]


def draw(what: str, kind: Kind, name: str, luck: random.Random) -> Case | None:
    params = [param for param in hyperparameters(name) if param.kind is kind and param.changeable]
    params = [param for param in params if not param.overridden]
    luck.shuffle(params)
    for param in params:
        value = value_for(what, param, luck)
        if value is None:
            continue
        try:
            if not Patch((change(what, param, value),)).diff(program(name)):
                continue
        except PatchRefused:
            continue
        return name, what, param, value
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
            for file in patch.apply(program(name)).files:
                (work / file.path).write_bytes(file.encode())
            entry = STATED[name]["entry"]
            options = WatchOptions(Path(), preset="bare", stop_after=1)
            ran = forks.run(work / entry[0], *entry[1:], cwd=work, options=options)
            assert ran.code == 0, ran.err
            assert ran.trace.graph is not None
            known[key] = face(ran.trace.graph, float(ran.trace.losses.values[0]))
        return known[key]

    return run


@pytest.mark.sample(12)
@pytest.mark.parametrize(("what", "framework", "number"), numbered())
def test_the_live_graph_differs_where_the_patch_says(
    what: str,
    framework: str,
    number: int,
    live: Callable[[str, Patch], Face],
) -> None:
    cases = drawn(what, framework)
    if number >= len(cases):
        pytest.skip(f"{what} is possible in {len(cases)} programs")
    name, _, param, value = cases[number]
    patch = Patch((change(what, param, value),))
    before, after = live(name, Patch()), live(name, patch)
    at = before.where(param, read(program(name))) if what in OF_LAYERS else [0]
    CHECKS[what][1](before, after, at, param, value)


@pytest.mark.parametrize("framework", ["torch_", "keras_"])
def test_each_kind_of_change_is_possible_somewhere(framework: str) -> None:
    assert [what for what in CHECKS if not drawn(what, framework)] == []
