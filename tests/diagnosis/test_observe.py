"""Watching for a diagnosis: a wish to stop reaches the watched run and the experiments beside
it.
"""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest

from reenact.diagnosis.observe import observe
from reenact.diagnosis.options import TrainingOptions
from reenact.diagnosis.services import DiagnoseServices
from reenact.journal import Journal
from reenact.probe.outcome import OutcomeKind
from reenact.program.program import read_program
from reenact.types import Stop

WAITS = """\
import pathlib, time

pathlib.Path(f"here-{time.time_ns()}").touch()
while True:
    time.sleep(0.05)
"""


def test_both_processes_are_stopped(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text(WAITS)
    stop, over = Stop(), threading.Event()

    def ask_once_both_run() -> None:
        while len(list(tmp_path.glob("here-*"))) < 2 and not over.wait(0.05):
            pass
        stop.ask()

    asker = threading.Thread(target=ask_once_both_run)
    asker.start()
    program = read_program(("waits.py",), tmp_path)
    services = DiagnoseServices(Journal.in_memory(), tmp_path, stop=stop, stdout=subprocess.DEVNULL)
    seen, tried = observe(program, TrainingOptions(), services, tmp_path / "trace", bare=False)
    over.set()
    asker.join()
    assert seen.outcome.kind is OutcomeKind.INTERRUPTED
    assert tried.missing == (
        "one-batch and learning-rate tests skipped: before the first step, the program was interrupted.",
    )


TRAINS = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.GRU(4, 8), nn.Linear(8, 2)
    def forward(self, x):
        return self.head(self.body(x)[0][:, -1])

torch.manual_seed(0)
x, y = torch.randn(64, 5, 4), torch.arange(64) % 2
rows = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(20):
    for some, labels in rows:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(some), labels).backward()
        optimizer.step()
"""


@pytest.mark.release
@pytest.mark.usefixtures("warm_python")
def test_the_experiments_wait_for_the_weights_of_the_watched_run(
    tmp_path: Path,
) -> None:
    (tmp_path / "train.py").write_text(TRAINS)
    program = read_program(("train.py",), tmp_path)
    services = DiagnoseServices(
        Journal.in_memory(), tmp_path, stop=Stop(), stdout=subprocess.DEVNULL
    )
    seen, tried = observe(program, TrainingOptions(), services, tmp_path / "trace", bare=False)
    assert seen.outcome.kind is OutcomeKind.FINISHED
    assert [tested.at_end for tested in tried.behaviour] == [False, True]
    assert all((tested.mixing or 0.0) > 1e-3 for tested in tried.behaviour)
