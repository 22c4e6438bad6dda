from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_the_demo_kills_a_story_continues_it_and_pays_one_effect_twice(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "reenact", "demo"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    said = process.stdout
    assert "killed by signal 9" in said
    assert ": interrupted" in said
    assert '"verdict": "repaired"' in said
    assert ": finished" in said
    assert "1 of them twice" in said
    assert "noticed network-denied" in said
    assert "Layers that look wrong" in said
    assert "learning-rate" in said
    assert "$ reenact diagnose --depth normal train.py" in said
    assert "confirmed by training." in said
    assert (tmp_path / ".reenact" / "demo" / "report.md").is_file()
