"""`diagnose --fix`: what ran is written, with a backup; the diagnosis says what and where."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import reenact
from reenact.faults.fix import FixTried
from warm import warm_reenact

pytestmark = pytest.mark.usefixtures("warm_python")

LOOP = """import torch
from torch import nn
from reenact.testing.toys import blobs

x, y = map(torch.from_numpy, blobs())
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(20):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.py"
    path.write_text(LOOP)
    return path


def test_the_fix_of_a_diagnosis_ran_and_is_written_with_a_backup(script: Path) -> None:
    found = reenact.apply_fix(reenact.diagnose("train.py", select="RE010"))
    (finding,) = found.findings
    assert finding.fix is not None
    assert (finding.fix.tried, finding.fix.reason) == (
        FixTried.SILENT,
        "20 steps in a scratch copy",
    )
    assert "    optimizer.zero_grad()\n    loss.backward()\n" in script.read_text()
    backup = script.with_name("train.py.before-repair")
    assert backup.read_text() == LOOP
    assert str(backup) in found.applied
    text = str(found)
    assert "+    optimizer.zero_grad()" in text
    again = reenact.apply_fix(reenact.diagnose("train.py", select="RE010"))
    assert (again.findings, again.applied) == ((), "Nothing was written: no fix ran.")


def test_without_fix_nothing_is_written_and_nothing_but_the_trace_is_left(script: Path) -> None:
    reenact.diagnose("train.py", select="RE010")
    assert script.read_text() == LOOP
    assert sorted(one.name for one in script.parent.iterdir()) == [".reenact", "train.py"]


def test_what_was_only_read_is_not_written(script: Path) -> None:
    read = reenact.apply_fix(reenact.diagnose("train.py", depth="static"))
    assert read.findings[0].fix is not None
    assert read.applied == "Nothing was written: no fix ran."
    assert script.read_text() == LOOP


def test_a_recorded_diagnosis_is_applied_like_a_repair(script: Path) -> None:
    reenact.diagnose("train.py", select="RE010")
    sentence = reenact.apply_repair("last")
    assert sentence.startswith("Written; what stood there before:")
    assert "    optimizer.zero_grad()\n" in script.read_text()
    assert script.with_name("train.py.before-repair").read_text() == LOOP


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [warm_reenact(), "diagnose", *words], capture_output=True, text=True, check=False
    )


def test_the_command_writes_what_ran_and_shows_it(script: Path) -> None:
    ended = command("--fix", "--select", "RE010", "train.py")
    assert "+    optimizer.zero_grad()" in ended.stdout
    assert "Written; what stood there before:" in " ".join(ended.stdout.split())
    assert "    optimizer.zero_grad()\n" in script.read_text()
    assert ended.returncode == 1


def test_the_command_refuses_to_write_what_only_the_text_shows(script: Path) -> None:
    ended = command("--fix", "--depth", "static", "train.py")
    assert ended.returncode == 2
    assert "reenact lint --fix" in ended.stderr
    assert script.read_text() == LOOP
