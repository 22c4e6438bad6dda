from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_the_demo_has_four_acts_a_report_of_the_whole_and_says_how_to_see_it(
    tmp_path: Path,
) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "reenact", "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    output = process.stdout
    acts = [line for line in output.splitlines() if line[:2] in ("1.", "2.", "3.", "4.", "5.")]
    assert len(acts) == 4
    assert "$ reenact diagnose train.py" in output
    assert "train.py:20:" in output
    assert "try      - optimizer = torch.optim.SGD(model.parameters(), lr=8.0)" in output
    assert "| Repaired by 1 change:" in output
    assert "6 fresh seeds" in output
    assert "Reproduced" in output
    folder = tmp_path / ".reenact" / "demo"
    assert f"reenact view --open --runs {folder / '.reenact'}" in output
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "<h1>4 runs of reenact</h1>" in report
    for command in ("diagnose train.py", "repair train.py", "bug ", "paper "):
        assert f"<h1>{command}" in report
