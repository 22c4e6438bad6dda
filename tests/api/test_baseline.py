"""`reenact lint --baseline`: what is known is left out, what is new is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reenact.api.baseline import without_known
from reenact.api.linting import LintResult
from reenact.api.linting import lint as run_lint
from reenact.cli.edge import guarded
from reenact.cli.static import lint

HOT = """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=10.0)
for x, y in batches:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
"""


@pytest.fixture
def hot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "hot.py"
    file.write_text(HOT)
    assert guarded(lint, ["--write-baseline", "known.json"]) == 0
    return file


def test_what_is_known_is_left_out_also_when_it_has_moved(
    hot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hot.write_text("import math\n\n" + HOT)
    assert guarded(lint, ["--baseline", "known.json"]) == 0
    printed = capsys.readouterr().out
    assert "UM005" not in printed
    assert "1 known finding left out (known.json)" in printed


def test_what_is_new_is_found(hot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hot.write_text(HOT.replace("lr=10.0", "lr=20.0"))
    assert guarded(lint, ["--baseline", "known.json", "--output-format", "concise"]) == 1
    printed = capsys.readouterr().out
    assert "hot.py:5:53: UM005 learning rate 20." in printed
    assert "left out" not in printed


def test_a_second_one_alike_in_the_same_file_is_new(hot: Path) -> None:
    (linted,) = run_lint(hot.name).files
    twice = LintResult(
        (
            replace(
                linted,
                findings=linted.findings * 2,
                diagnostics=linted.diagnostics * 2,
            ),
        )
    )
    new, known = without_known(twice, Path("known.json"))
    assert (len(new.findings), known) == (1, 1)


def test_the_same_finding_in_another_file_is_new(hot: Path) -> None:
    (hot.parent / "other.py").write_text(HOT)
    assert guarded(lint, ["--baseline", "known.json"]) == 1


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2, "findings": []}', '{"version": 1}'])
def test_what_is_no_baseline_is_refused(
    hot: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (hot.parent / "known.json").write_text(text)
    assert guarded(lint, ["--baseline", "known.json"]) == 2
    assert "This is not a baseline of reenact lint" in capsys.readouterr().err


def test_exit_zero_is_for_findings_and_not_for_files_that_cannot_be_parsed(hot: Path) -> None:
    assert guarded(lint, []) == 1
    assert guarded(lint, ["--exit-zero"]) == 0
    (hot.parent / "broken.py").write_text("import torch\nx = (\n")
    assert guarded(lint, ["--exit-zero"]) == 2


def test_statistics_count_each_detector(hot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (hot.parent / "other.py").write_text(HOT)
    capsys.readouterr()
    assert guarded(lint, ["--statistics"]) == 1
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "UM005" in line]
    assert rows == [["2", "UM005", "learning-rate-high"]]


def test_quiet_is_a_line_for_each_finding_and_the_verdict(
    hot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert guarded(lint, ["-q"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("hot.py:5:53: UM005 ")
    assert lines[1].startswith("1 finding in 1 file")
