"""`python -m benchmarks field` as a user meets it: nothing checked out, wrong words."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.command import bench
from reenact.cli.edge import guarded
from reenact.types import ExitCode


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_without_checkouts_nothing_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = guarded(bench, ["field", "--cases", str(tmp_path), "--out", str(tmp_path / "out")])
    assert code == ExitCode.INCONCLUSIVE
    assert "no checkout" in (tmp_path / "out" / "field-tune-quick.md").read_text(encoding="utf-8")
    assert "field-tune-quick: recall" in capsys.readouterr().out


def test_repairs_have_a_page_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["field", "--repair", "--cases", str(tmp_path), "--out", str(tmp_path / "out")]
    assert guarded(bench, words) == ExitCode.INCONCLUSIVE
    page = (tmp_path / "out" / "field-tune-repair.md").read_text(encoding="utf-8")
    assert "no checkout" in page
    assert "cleanrl" not in page
    assert "at least as good as the author's fix" in capsys.readouterr().out


def test_a_program_of_the_other_half_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(bench, ["field", "--cases", str(tmp_path), "--only", "nothing"]) == ExitCode.ERROR
    assert "Not programs of the tune half" in capsys.readouterr().err
