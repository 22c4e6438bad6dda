"""A program from elsewhere is watched in the sandbox, and its trace comes out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reenact.errors import ReenactError
from reenact.probe.boxed import watch_boxed
from reenact.probe.options import WatchOptions
from reenact.probe.watch import watch
from reenact.program.program import read_program
from reenact.sandbox.choose import choose

PROGRAM = """
import pathlib
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    loss = model(torch.ones(4, 2)).square().mean()
    loss.backward()
    optimizer.step()
pathlib.Path("left_behind").write_text("x")
raise SystemExit(3)
"""


def test_the_trace_comes_out_of_the_box_and_nothing_else_does(tmp_path: Path) -> None:
    try:
        sandbox = choose()
    except ReenactError as error:
        pytest.skip(f"no sandbox here: {error}")
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM)
    watched = watch_boxed(
        read_program(("train.py",), folder), WatchOptions(tmp_path / "trace"), sandbox
    )
    assert (watched.outcome.kind, watched.outcome.exit_code) == ("exited", 3), (
        watched.outcome.sentence
    )
    assert watched.trace is not None
    assert watched.trace.step_count == 6
    assert watched.trace.graph is not None
    assert watched.trace.books is not None, "the accounts are drawn up of what came out"
    places = [str(layer.place) for layer in watched.trace.graph.layers]
    assert all(place.startswith("train.py:6:") for place in places), places
    assert [path.name for path in folder.iterdir()] == ["train.py"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("boxed", [True, False])
def test_a_notebook_imports_what_lies_beside_it(tmp_path: Path, boxed: bool) -> None:
    beside = tmp_path / "study" / "deep"
    beside.mkdir(parents=True)
    (beside / "helper.py").write_text(PROGRAM.replace("raise SystemExit(3)", ""))
    cell = {"cell_type": "code", "source": "import helper", "metadata": {}, "outputs": []}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (beside / "a study.ipynb").write_text(json.dumps(book))
    program = read_program(("deep/a study.ipynb",), tmp_path / "study")
    options = WatchOptions(tmp_path / "trace")
    if not boxed:
        watched = watch(program, options)
    else:
        try:
            sandbox = choose()
        except ReenactError as error:
            pytest.skip(f"no sandbox here: {error}")
        watched = watch_boxed(program, options, sandbox)
    assert watched.trace is not None, watched.outcome.sentence
    assert watched.trace.step_count == 6
