"""The plain loop is timed as a user would run it; Ray Tune is left out where it is not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from benchmarks.speed.programs import Case, write_cases
from benchmarks.speed.ways import Rates, plain_loop, ray_tune
from reenact.errors import Inconclusive, Stopped
from reenact.types import Stop


def case(folder: Path, text: str) -> Case:
    folder.mkdir()
    (folder / "train.py").write_text(text, encoding="utf-8")
    return Case(folder.name, folder, keras=False)


def test_a_plain_loop_runs_the_program_as_often_as_asked(tmp_path: Path) -> None:
    writes = case(tmp_path / "p", "open('ran.txt', 'a').write('x')\n")
    rates = Rates(trials=3)
    ((timed, rate),) = plain_loop([writes], rates, 2, Stop())
    assert timed is writes
    assert rate > 0
    assert rates.cpu_s["p"] > 0
    assert (tmp_path / "p" / "ran.txt").read_text(encoding="utf-8") == "xxx"
    broken = case(tmp_path / "q", "raise SystemExit('no data')\n")
    with pytest.raises(Inconclusive, match="no data"):
        list(plain_loop([broken], rates, 1, Stop()))
    stop = Stop()
    stop.ask()
    with pytest.raises(Stopped):
        list(plain_loop([writes], rates, 1, stop))


def test_without_ray_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    if importlib.util.find_spec("ray") is not None:
        pytest.skip("Ray is installed here.")
    assert ray_tune([case(tmp_path / "p", "")], 1, 1) is None


def test_the_programs_are_written_with_a_pytorch_one_among_them(tmp_path: Path) -> None:
    cases = write_cases(tmp_path)
    assert len(cases) >= 3
    assert [found.keras for found in cases].count(False) == 1
    assert all(found.program.entry_file.text for found in cases)
