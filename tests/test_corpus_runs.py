"""The programs of the corpus run and do what is stated: seen by a witness that knows no
statement.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from waiting import LONGEST_S

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).parent / "corpus"
BAD = Path(__file__).parent / "corpus_bad"
BAD_EXPECTED = json.loads((BAD / "expected.json").read_text(encoding="utf-8"))
EXPECTED = {
    path.parent.name: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(CORPUS.glob("*/expected.json"))
}


def environment() -> dict[str, str]:
    """The environment of a plain shell: one thread, the torch backend, no bytecode left behind."""
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    quiet = {
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    return {**os.environ, "PATH": search, "KERAS_BACKEND": "torch", **quiet}


@pytest.fixture(scope="module")
def witness() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, str(CORPUS / "witness.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as server:
        yield server
        assert server.stdin is not None
        server.stdin.close()


def ask(
    witness: subprocess.Popen[str], folder: Path, entry: list[str], limit: int = 240
) -> dict[str, Any]:
    assert witness.stdin is not None
    assert witness.stdout is not None
    witness.stdin.write(json.dumps({"folder": str(folder), "entry": entry, "limit": limit}) + "\n")
    witness.stdin.flush()
    return dict(json.loads(witness.stdout.readline()))


def runnable() -> list[str]:
    plain = [
        name for name, stated in EXPECTED.items() if stated["runs"] and not stated["needs_shim"]
    ]
    return [name for name in plain if EXPECTED[name]["entry"][0] != "--"]


@pytest.mark.parametrize("name", runnable())
def test_it_runs_and_does_what_is_stated(name: str, witness: subprocess.Popen[str]) -> None:
    stated = EXPECTED[name]
    seen = ask(witness, CORPUS / name, stated["entry"])
    assert seen["code"] == 0, seen["output"]
    check_output(stated, seen["output"])
    check_run(stated["run"], seen)
    check_layers(stated, seen)


def check_output(stated: dict[str, Any], output: str) -> None:
    found = re.findall(stated["metric"]["pattern"], output)
    assert found, output
    float(found[-1])


def check_run(run: dict[str, Any], seen: dict[str, Any]) -> None:
    assert seen["steps"] == run["steps"]
    assert run.get("batch_size") in (None, seen["batch_size"])
    for key, rate in (("first_lr", seen["rates"][0]), ("last_lr", seen["rates"][-1])):
        assert rate == pytest.approx(run.get(key, rate), rel=1e-5)


def check_layers(stated: dict[str, Any], seen: dict[str, Any]) -> None:
    said = list(stated["layers"])
    composites = {layer["type"] for layer in said if layer.get("composite")}
    live = [layer for layer in seen["layers"] if is_listed(layer, composites)]
    if stated.get("layers_order") == "set":
        live.sort(key=lambda layer: (layer["type"], layer["place"]))
        said.sort(key=lambda layer: (layer["type"], layer["file"], layer["line"]))
    assert [layer["type"] for layer in live] == [layer["type"] for layer in said]
    for there, layer in zip(live, said, strict=True):
        copied = there["place"] is None and "lines" in layer
        assert copied or there["place"] == [
            layer["file"],
            number_in_run(layer, seen["origin"]),
        ], layer


def is_listed(layer: dict[str, Any], composites: set[str]) -> bool:
    if layer["type"] in composites:
        return True
    return layer["leaf"] and layer["works"] and not composites & set(layer["above"])


def number_in_run(layer: dict[str, Any], origin: dict[str, list[int]]) -> int:
    """Notebook cells are run as one text: the number of the line there."""
    if "cell" not in layer:
        return int(layer["line"])
    return next(
        int(number) for number, spot in origin.items() if spot == [layer["cell"], layer["line"]]
    )


def test_the_launcher_line_runs() -> None:
    stated = EXPECTED["torch_launcher"]
    done = subprocess.run(
        stated["entry"][1:],
        cwd=CORPUS / "torch_launcher",
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    check_output(stated, done.stdout)


@pytest.mark.parametrize("file", [file for file in BAD_EXPECTED if file.endswith(".py")])
def test_bad_sources_end_as_stated(file: str, witness: subprocess.Popen[str]) -> None:
    stated, path = BAD_EXPECTED[file], BAD / file
    if "needs" in stated and importlib.util.find_spec(stated["needs"]):
        pytest.skip(f"{stated['needs']} is installed, so it runs on")
    seen = ask(witness, path.parent, [path.name], limit=3 if stated["ends"] == "never" else 240)
    assert seen["code"] == bad_code(stated)
    if "output" in seen:
        check_last_words(stated, path, seen)


def check_last_words(stated: dict[str, Any], path: Path, seen: dict[str, Any]) -> None:
    assert stated.get("exception", "") in seen["output"]
    assert stated.get("says", "") in seen["output"]
    assert stated.get("steps") in (None, seen["steps"])
    if "line" in stated:
        own = re.findall(rf'File "{re.escape(str(path.parent))}/(.*?)", line (\d+)', seen["output"])
        assert own[-1] == (stated.get("file", path.name), str(stated["line"]))


def bad_code(stated: dict[str, Any]) -> int:
    """The code that the witness answers: a signal is negative, and what never ends gets the
    alarm.
    """
    if stated["ends"] == "never":
        return -signal.SIGALRM
    return -stated["signal"] if "signal" in stated else int(stated["exit_code"])
