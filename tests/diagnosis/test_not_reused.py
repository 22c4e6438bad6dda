"""A second command reuses trainings only where the program would see the same, and says why not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose
from reenact.diagnosis.services import DiagnoseServices
from reenact.journal import Journal
from reenact.probe.outcome import OutcomeKind
from reenact.program.program import Program, read_program
from reenact.trials.executor import ScriptedExecutor
from reenact.trials.trial import Outcome, Trial

TRAIN = """import os, torch
from torch import nn

SEEN
x, y = torch.randn(320, 8), torch.randint(0, 3, (320,))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=5.0)
for epoch in range(4):
    for start in range(0, 256, 32):
        rows, classes = x[start : start + 32], y[start : start + 32]
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), classes).backward()
        optimizer.step()
with torch.no_grad():
    print("test accuracy:", (model(x[256:]).argmax(1) == y[256:]).float().mean().item())
"""
FROM_FILE = "points = torch.from_file('points.bin', size=16)"
EXISTS = "apart = 0.0 if os.path.exists('noise') else 2.0"
NETWORK = "import socket; socket.socket(type=socket.SOCK_DGRAM).connect(('127.0.0.1', 9))"


def trained(trial: Trial) -> Outcome:
    value = (0.9 if trial.patch else 0.4) + trial.seed % 5 * 1e-3
    metrics = {"test_accuracy": value}
    return Outcome(OutcomeKind.FINISHED, steps=9, metrics=metrics, seconds=1.0, cpu_seconds=1.0)


def program_of(folder: Path, seen: str) -> Program:
    folder.mkdir()
    (folder / "points.bin").write_bytes(bytes(64))
    (folder / "train.py").write_text(TRAIN.replace("SEEN", seen))
    return read_program(("train.py",), folder)


def diagnosed(program: Program, journal: Journal, tmp_path: Path) -> tuple[Diagnosis, int]:
    """What one command finds, and how many trainings it makes."""
    executor = ScriptedExecutor(trained)
    services = DiagnoseServices(
        journal, tmp_path / "runs" / "traces", stdout=2, executor=lambda: executor
    )
    found = diagnose(program, DiagnoseOptions(depth=Depth.NORMAL, select=("UM005",)), services)
    return found, len(executor.ran)


@pytest.mark.release
@pytest.mark.parametrize(
    ("seen", "change", "named"),
    [
        (
            FROM_FILE,
            lambda folder: (folder / "points.bin").write_bytes(bytes(range(64))),
            "points.bin",
        ),
        (EXISTS, lambda folder: (folder / "noise").touch(), "noise"),
    ],
)
def test_what_changed_is_trained_again_and_named(
    tmp_path: Path, seen: str, change: Callable[[Path], object], named: str
) -> None:
    program = program_of(tmp_path / "work", seen)
    with Journal.in_memory() as journal:
        first, made = diagnosed(program, journal, tmp_path)
        again, left = diagnosed(program, journal, tmp_path)
        change(program.folder)
        changed, after_change = diagnosed(program, journal, tmp_path)
    assert first.reused == ""
    assert made > 0
    assert again.reused.startswith("Reused from run ")
    assert left < made
    assert after_change == made
    assert changed.reused.startswith("Nothing is reused from run ")
    assert changed.reused.endswith(f": {named} changed since then.")


@pytest.mark.release
def test_where_not_all_can_be_seen_the_result_says_so(tmp_path: Path) -> None:
    program = program_of(tmp_path / "work", NETWORK)
    with Journal.in_memory() as journal:
        found, _ = diagnosed(program, journal, tmp_path)
    assert found.reused == "Trainings of this program are not reused: it uses the network."
