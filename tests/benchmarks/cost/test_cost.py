"""The benchmark of growing input, small: it measures whole commands, continues, and judges
slopes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.cost.axes import AXES, Axis, Prepare, width_for
from benchmarks.cost.measure import Kept, Point, Spent, card, measure, slope
from reenact.errors import Inconclusive
from reenact.types import ExitCode, Stop

pytestmark = pytest.mark.release


def counting(folder: Path, size: int) -> Sequence[str]:
    (folder / "work.py").write_text(f"held = bytearray({size})\nsum(range({size // 8}))\n")
    return [sys.executable, "work.py"]


GROWING = Axis("growing", "numbers", "python work.py", (1_000, 80_000_000), counting, counting)


def point(size: int, processor: float, alone: float | None = None) -> Point:
    beside = None if alone is None else Spent(alone, alone, 50.0)
    return Point("growing", size, Spent(processor, processor, 60.0), beside)


def test_a_command_is_measured_once_and_its_memory_is_seen(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "points.jsonl")
    first = measure([GROWING], kept=kept, whole=False, tell=lambda _: None, stop=Stop())
    small, large = kept.read()
    assert large.ours.memory > small.ours.memory + 50
    assert large.ours.processor > small.ours.processor
    assert large.alone is not None
    kept.file.write_text(kept.file.read_text() + '{"axis": "cut o')
    again = measure([GROWING], kept=kept, whole=False, tell=lambda _: None, stop=Stop())
    assert again == first, "nothing is measured a second time"


def test_a_command_that_fails_is_no_point(tmp_path: Path) -> None:
    failing = Axis(
        "bad",
        "things",
        "python",
        (1,),
        lambda *_: [sys.executable, "-c", "raise SystemExit(7)"],
    )
    with pytest.raises(Inconclusive, match="ended with 7"):
        measure(
            [failing],
            kept=Kept(tmp_path / "x"),
            whole=False,
            tell=lambda _: None,
            stop=Stop(),
        )


def test_a_command_and_its_training_meet_where_they_take_an_hour(
    tmp_path: Path,
) -> None:
    """Each writes its own name and waits for the other's: one after the other they would never
    end well.
    """

    def waiting(mine: str, other: str) -> Prepare:
        text = (
            f"import pathlib, sys, time\nhere = pathlib.Path({str(tmp_path)!r})\n(here / "
            f"{mine!r}).touch()\nuntil = time.monotonic() + 60\nwhile not (here / "
            f"{other!r}).exists() and time.monotonic() < until:\n    time.sleep(0.01)\nsys.exit(0 "
            f"if (here / {other!r}).exists() else 7)\n"
        )
        return lambda *_: [sys.executable, "-c", text]

    axis = Axis(
        "long",
        "steps",
        "python",
        (),
        waiting("ours", "alone"),
        waiting("alone", "ours"),
        longest=9,
    )
    kept = Kept(tmp_path / "points.jsonl")
    measure([axis], kept=kept, whole=True, tell=lambda _: None, stop=Stop())
    assert [(one.size, one.alone is not None) for one in kept.read()] == [(9, True)]


def test_the_slope_is_that_of_the_two_largest_sizes() -> None:
    assert slope([point(10, 1.0), point(1_000, 1.1), point(10_000, 11.0)]) == pytest.approx(1.0)
    assert slope([point(1_000, 2.0, alone=1.0), point(10_000, 20.0, alone=10.0)]) == pytest.approx(
        1.0
    )
    assert slope([point(10, 1.0)]) is None
    assert slope([point(10, 1.0, alone=1.0), point(100, 3.0, alone=2.0)]) is None, (
        "nothing was added"
    )


@pytest.mark.parametrize(("last", "code"), [(80.0, ExitCode.OK), (1e7, ExitCode.FOUND)])
def test_a_cost_that_grows_faster_than_its_cause_misses_the_goal(
    last: float, code: ExitCode
) -> None:
    found = card([GROWING], [point(1_000, 0.1), point(80_000_000, last)], whole=False)
    assert found.exit_code is code
    assert [plot.name for plot in found.plots] == ["growing"]
    assert card([GROWING], [point(1_000, 0.1)], whole=False).exit_code is ExitCode.INCONCLUSIVE


@pytest.mark.parametrize("parameters", [1_000, 1_000_000, 100_000_000])
def test_a_network_has_about_so_many_parameters(parameters: int) -> None:
    width = width_for(parameters)
    made = 64 * width + width + width * width + width + 3 * width + 3
    assert made == pytest.approx(parameters, rel=0.05)


@pytest.mark.parametrize(
    ("name", "glob"),
    [("code", "*.py"), ("package", "parts/*.py"), ("paper", "**/*.tex")],
)
def test_what_grows_has_its_size(name: str, glob: str, tmp_path: Path) -> None:
    (axis,) = (axis for axis in AXES if axis.name == name)
    axis.prepare(tmp_path, 100_000)
    written = sum(len(file.read_bytes()) for file in tmp_path.glob(glob))
    assert 100_000 <= written <= 130_000
