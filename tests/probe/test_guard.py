"""An error anywhere in the probe switches the probe off, says so once, and never reaches the
program.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reenact.probe.injected import FOLDER
from reenact.probe.options import WatchOptions
from reenact.probe.read import is_trace, read_trace

pytestmark = pytest.mark.frameworks

PROGRAM = """
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = TensorDataset(torch.randn(40, 3), torch.randint(2, (40,)))
for epoch in range(3):
    model.train()
    for x, y in DataLoader(data, batch_size=10, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        print(loss.item())
    model.eval()
    with torch.no_grad():
        print(model(data.tensors[0]).sum().item())
print([value.tolist() for value in model.state_dict().values()])
sys.exit(6)
"""
FAULTS = ["torch", "batch:2", "exit"]
WARNING = "reenact: the probe met an error of its own in "

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, run_plain: Run) -> Any:
    script = tmp_path_factory.mktemp("guarded") / "train.py"
    script.write_text(PROGRAM)
    return script, run_plain(script)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_program_goes_on_as_if_nobody_had_looked(
    alone: Any, fault: str, run_plain: Run, tmp_path: Path
) -> None:
    script, plain = alone
    hurt = run_plain(script, WatchOptions(tmp_path / "trace"), REENACT_PROBE_FAULT=fault)
    assert (hurt.returncode, hurt.stdout) == (plain.returncode, plain.stdout)
    assert plain.returncode == 6
    [line] = hurt.stderr.splitlines()
    assert line.startswith(WARNING + fault.partition(":")[0])
    assert line.endswith("the program goes on unobserved.")


def test_the_trace_says_where_it_ends(alone: Any, run_plain: Run, tmp_path: Path) -> None:
    folder = tmp_path / "trace"
    run_plain(alone[0], WatchOptions(folder), REENACT_PROBE_FAULT="step:5")
    assert is_trace(folder)
    trace = read_trace(folder)
    assert trace.step_count == 4
    assert trace.happened("probe-off")
    assert any("an armed fault" in sentence for sentence in trace.missing)


def test_every_fault_armed_here_exists() -> None:
    sources = "".join(path.read_text() for path in (FOLDER / "reenact_probe").rglob("*.py"))
    assert {fault.partition(":")[0] for fault in FAULTS} <= set(
        re.findall(r'guarded\("([\w-]+)"\)', sources)
    )
