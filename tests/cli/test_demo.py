from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_the_demo_kills_a_run_continues_it_and_pays_one_effect_twice(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "reenact", "demo"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    output = process.stdout
    assert "killed by signal 9" in output
    assert ": interrupted" in output
    assert '"verdict": "repaired"' in output
    assert ": finished" in output
    assert "1 of them twice" in output
    assert "noticed network-denied" in output
    assert "Layers that look wrong" in output
    assert "learning-rate" in output
    assert "$ reenact diagnose --depth normal train.py" in output
    assert "confirmed by training." in output
    assert (tmp_path / ".reenact" / "demo" / "report.md").is_file()
