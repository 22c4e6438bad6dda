"""A training that goes on: epoch, loss and the time that is left, read off a trace that is
being written.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from reenact.probe.growing import (
    MOST_VALUES,
    GrowingTrace,
    epochs_of,
    in_words,
    telling_of,
)
from reenact.program.program import program_from_text
from reenact.types import Progress

COLUMNS = ["step", "time", "epoch", "loss"]
LOOP = """import torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(8):
    loss = model(torch.ones(1, 2)).sum()
    loss.backward()
    optimizer.step()
"""


def put(folder: Path, number: int, rows: list[tuple[float, float, float, float]]) -> None:
    (folder / "header.json").write_text(json.dumps({"schema": 1, "columns": {"steps": COLUMNS}}))
    np.savez(
        folder / f"chunk-{number:06d}.npz",
        steps=np.array(rows, dtype="<f8").reshape(-1, 4),
    )


def test_each_chunk_is_read_once_and_what_is_new_counts(tmp_path: Path) -> None:
    growing = GrowingTrace(tmp_path)
    assert not growing.look()
    put(tmp_path, 1, [(0, 10.0, -1, 2.0), (1, 11.0, 0, 1.0)])
    assert growing.look()
    assert not growing.look()
    assert growing.progress(0) == Progress("training", 0, 0, "epoch 1, step 2, loss 1", (2.0, 1.0))
    put(tmp_path, 2, [(2, 14.0, 2, 0.5)])
    assert growing.look()
    seen = growing.progress(8)
    assert (seen.done, seen.total, seen.values) == (2, 8, (2.0, 1.0, 0.5))
    # Two epochs in the four seconds since the first step: six more take twelve.
    assert seen.note == "epoch 3/8, step 3, loss 0.5, about 12 s left"


def test_a_broken_chunk_is_passed_over_and_a_long_curve_thinned_out(
    tmp_path: Path,
) -> None:
    put(
        tmp_path,
        1,
        [(step, step, 0, 1 / (step + 1)) for step in range(5 * MOST_VALUES)],
    )
    (tmp_path / "chunk-000002.npz").write_bytes(b"torn")
    put(tmp_path, 3, [(step, step, 1, float("nan")) for step in range(3000, 3010)])
    growing = GrowingTrace(tmp_path)
    assert growing.look()
    assert (growing.step, growing.epoch) == (3010, 1)
    assert MOST_VALUES <= len(growing.losses) <= 2 * MOST_VALUES
    assert growing.losses[0] == 1.0


def test_only_what_is_new_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reenact.probe.growing.LOOK_S", 0.0)
    received: list[Progress] = []
    look = telling_of(program_from_text(LOOP), tmp_path, received.append)
    look()
    put(tmp_path, 1, [(0, 0.0, 0, 2.0)])
    look()
    look()
    assert [one.note for one in received] == ["epoch 1/8, step 1, loss 2"]


@pytest.mark.parametrize(
    ("seconds", "reported"),
    [(29.0, False), (31.0, False), (90.0, True)],
    ids=["too early to tell", "ends in time", "long"],
)
def test_a_long_training_is_announced_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, reported: bool
) -> None:
    monkeypatch.setattr("reenact.probe.growing.LOOK_S", 0.0)
    sentences: list[str] = []
    look = telling_of(program_from_text(LOOP), tmp_path, lambda _: None, sentences.append)
    put(tmp_path, 1, [(0, 0.0, 0, 2.0), (1, seconds, 1, 2.0)])
    look()
    put(tmp_path, 2, [(2, 2 * seconds, 2, 2.0)])
    look()
    # Seven more epochs of 90 s each.
    expected = ["This training takes about 10 min more."] if reported else []
    assert [
        sentence[: len("This training takes about 10 min more.")] for sentence in sentences
    ] == expected
    assert all("Ctrl-C" in sentence and "--training-time" in sentence for sentence in sentences)


def test_the_number_of_epochs_comes_from_the_text() -> None:
    assert epochs_of(program_from_text(LOOP)) == 8
    assert epochs_of(program_from_text("import torch\n")) == 0


def test_times_are_in_words() -> None:
    assert [in_words(seconds) for seconds in (3.2, 240, 9000)] == [
        "4 s",
        "4 min",
        "2.5 h",
    ]
