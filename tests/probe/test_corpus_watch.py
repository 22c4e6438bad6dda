"""Programs of the corpus under the probe: what is stated about them is what the trace says.

Most run in forks that share one import of torch and Keras.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reenact.program.program import read_program

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).parents[1] / "corpus"
STATED = {
    path.parent.name: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(CORPUS.glob("*/expected.json"))
}
BY_THEMSELVES = (
    "keras1_convnet",
    "tfkeras_sequential",
    "torch_notebook",
    "torch_launcher",
)
"""What a fork cannot show: the shim, a notebook, a launcher line."""


def in_forks() -> list[str]:
    plain = [name for name, stated in STATED.items() if stated["runs"] and not stated["needs_shim"]]
    return [name for name in plain if STATED[name]["entry"][0].endswith((".py", "-m"))]


IGNORED = {
    "InputLayer",
    "Flatten",
    "Reshape",
    "Concatenate",
    "Add",
    "Identity",
    "Sequential",
}
"""Layers that the statements leave out, beside functions and the cells of recurrent layers."""


@pytest.mark.parametrize("name", in_forks())
def test_what_is_stated_is_what_is_seen(name: str, forks: Any, tmp_path: Path) -> None:
    entry = STATED[name]["entry"]
    work = tmp_path / name
    shutil.copytree(CORPUS / name, work)
    module = entry[0] == "-m"
    script = Path(entry[1]) if module else work / entry[0]
    ran = forks.run(script, *entry[1 + module :], cwd=work, module=module)
    assert ran.code == 0, ran.err
    check(STATED[name], ran.trace)


@pytest.mark.parametrize("name", BY_THEMSELVES)
def test_old_keras_notebooks_and_launcher_lines_too(
    name: str, run_watched: Callable[..., Any]
) -> None:
    found = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    seen = run_watched(
        CORPUS / name,
        *STATED[name]["entry"],
        environment={"PATH": found, "OMP_NUM_THREADS": "1"},
    )
    assert seen.watched.outcome.kind == "finished", (
        seen.watched.outcome.sentence,
        seen.printed[-2000:],
    )
    check(STATED[name], seen.trace)
    program = read_program(STATED[name]["entry"], CORPUS / name)
    if program.is_notebook:
        cells = [program.cell(layer.place) for layer in seen.trace.graph.layers if layer.weights]
        assert cells == [
            (layer["cell"], layer["line"])
            for layer in STATED[name]["layers"]
            if layer["type"] == "Linear"
        ]


def check(stated: dict[str, Any], trace: Any) -> None:
    assert not trace.happened("probe-off"), trace.missing
    check_run(stated["run"], trace)
    assert stated["task"] is None or trace.graph.task in as_list(stated["task"])
    check_layers(stated, trace.graph.layers)


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def check_run(run: dict[str, Any], trace: Any) -> None:
    assert trace.step_count == run["steps"]
    assert trace.epoch_count == run.get("epochs", trace.epoch_count)
    assert trace.steps["batch_size"][0] == run.get("batch_size", trace.steps["batch_size"][0])
    rates = trace.steps["learning_rate"]
    assert rates[0] == pytest.approx(run.get("first_lr", rates[0]), rel=1e-5)
    assert rates[-1] == pytest.approx(run.get("last_lr", rates[-1]), rel=1e-5)


def check_layers(stated: dict[str, Any], layers: Any) -> None:
    """Types in order, and the line of each; a composite may be shown by its leaves, all on its
    line.
    """
    live = [layer for layer in layers if is_listed(layer, stated["layers"])]
    listed = list(stated["layers"])
    if any(layer.get("composite") for layer in listed):
        check_lines(listed, live)
        return
    if stated.get("layers_order") == "set":
        live.sort(key=lambda layer: (layer.type, layer.place.line))
        listed.sort(key=lambda layer: (layer["type"], layer["line"]))
    assert [layer.type for layer in live] == [layer["type"] for layer in listed]
    if all("cell" not in layer for layer in listed):
        places = [(str(layer.place.file), layer.place.line) for layer in live]
        assert places == [(layer["file"], layer["line"]) for layer in listed]


def check_lines(listed: list[dict[str, Any]], live: Any) -> None:
    """With library layers made of layers, only the lines can be compared."""
    allowed = {line for layer in listed for line in (layer["line"], *layer.get("lines", ()))}
    assert {layer.place.line for layer in live} <= allowed
    for layer in listed:
        ends = {layer["line"], *layer.get("lines", ())}
        assert ends & {there.place.line for there in live}, layer


def is_listed(layer: Any, listed: list[dict[str, Any]]) -> bool:
    if layer.type in {stated["type"] for stated in listed}:
        return True
    return not (layer.settings.get("functional") or layer.type in IGNORED or not layer.weights)
