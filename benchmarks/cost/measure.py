"""`python -m benchmarks cost`: seconds, processor time and memory of whole commands as their input
grows.

Points are kept as they come, by axis, size and code; the same command continues. A slope is that of
the two largest sizes on logarithmic axes: 1 is cost in proportion, 0 none. At smaller sizes the
start of Python hides it. It is taken from processor time, which other work on the machine hardly
touches.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.children import environment
from benchmarks.cost.axes import Axis, Prepare
from benchmarks.identity import code_identity
from benchmarks.scorecard import Drawing, Figure, Goal, Scorecard, Table
from benchmarks.watching.runs import STEADY
from reenact.errors import Inconclusive, Stopped
from reenact.report.line_plot import Curve, line_plot
from reenact.types import Progress, Stop, Tell

STEEPEST = 1.15
"""A slope up to which a cost counts as growing in proportion."""
MOST_SECONDS = 4 * 3600.0
"""The longest time for one command: one of them watches a training of an hour."""
COLUMNS = (
    "size",
    "seconds",
    "processor s",
    "memory, MB",
    "without reenact, processor s",
    "times",
)
LAUNCHER = """
import json, resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    json.dump([code, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024], file)
"""
"""A small process between: Linux counts the memory of whoever starts a process as that
process's own.
"""
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Spent:
    """What one command took."""

    seconds: float
    processor: float
    """Seconds of all its processes."""
    memory: float
    """MB of the largest of its processes."""


@dataclass(frozen=True, slots=True)
class Point:
    """One command at one size."""

    axis: str
    size: int
    ours: Spent
    alone: Spent | None = None


class Kept:
    """Points of the code as it stands, one JSON object a line."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.code = code_identity()

    def read(self) -> list[Point]:
        """A line that was cut off is measured again."""
        found = []
        for line in (
            self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else ()
        ):
            try:
                facts = json.loads(line)
                code, ours, alone = (
                    facts.pop("code"),
                    Spent(**facts.pop("ours")),
                    facts.pop("alone"),
                )
                point = Point(**facts, ours=ours, alone=Spent(**alone) if alone else None)
            except (ValueError, TypeError, KeyError):
                continue
            found += [point] if code == self.code else []
        return found

    def add(self, point: Point) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**asdict(point), "code": self.code}) + "\n")


def measure(axes: Sequence[Axis], *, kept: Kept, whole: bool, tell: Tell, stop: Stop) -> Scorecard:
    """Every size of every axis that is not known yet, and the card of all."""
    known = {(point.axis, point.size): point for point in kept.read()}
    wanted = [(axis, size) for axis in axes for size in sizes(axis, whole)]
    for number, (axis, size) in enumerate(wanted):
        if stop.asked:
            break
        tell(Progress("bench cost", number, len(wanted), f"{axis.name} {size:,}"))
        if (axis.name, size) not in known:
            point = _point(axis, size, stop)
            kept.add(point)
            known[axis.name, size] = point
    return card(axes, known.values(), whole)


def sizes(axis: Axis, whole: bool) -> tuple[int, ...]:
    return (*axis.sizes, *([axis.longest] if whole and axis.longest else []))


def _point(axis: Axis, size: int, stop: Stop) -> Point:
    """One command after the other; at once where it takes an hour, since processor time is
    compared.
    """
    with ThreadPoolExecutor(2 if size == axis.longest else 1) as pool:
        ours = pool.submit(_spent, axis.prepare, size, axis.exits, stop)
        alone = None if axis.alone is None else pool.submit(_spent, axis.alone, size, (0,), stop)
        return Point(axis.name, size, ours.result(), None if alone is None else alone.result())


def _spent(prepare: Prepare, size: int, exits: tuple[int, ...], stop: Stop) -> Spent:
    with tempfile.TemporaryDirectory(prefix="reenact-bench-cost-") as name:
        folder = Path(name) / "work"
        folder.mkdir()
        words = prepare(folder, size)
        given = environment(**STEADY, REENACT_RUNS_DIR=str(folder / ".reenact"))
        used = Path(name) / "used.json"
        with tempfile.TemporaryFile() as output:
            began = time.perf_counter()
            child = subprocess.Popen(  # noqa: S603 - a command of ours, on files of ours
                [sys.executable, "-I", "-S", "-c", LAUNCHER, str(used), *words],
                cwd=folder,
                env=given,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            _wait(child, stop)
            seconds = time.perf_counter() - began
            code, processor, memory = (
                json.loads(used.read_bytes()) if used.exists() else (None, 0, 0)
            )
            if code not in exits:
                output.seek(0)
                printed = output.read()[-300:].decode(errors="replace")
                raise Inconclusive(f"{' '.join(words[-4:])} ended with {code}: {printed}")
    return Spent(seconds, processor, memory)


def _wait(child: subprocess.Popen[bytes], stop: Stop) -> None:
    """Until it ends, takes too long or a stop is asked."""
    until = time.monotonic() + MOST_SECONDS
    while child.poll() is None:
        if stop.asked or time.monotonic() > until:
            os.killpg(child.pid, signal.SIGKILL)
        time.sleep(_POLL_S)
    if stop.asked:
        raise Stopped("Stopped within a size; the same command continues.")


def slope(points: Sequence[Point]) -> float | None:
    """Of processor time over the two largest sizes; of what reenact adds, where a training is
    alone too.
    """
    if len(points) < 2:
        return None
    small, large = sorted(points, key=lambda point: point.size)[-2:]
    costs = [
        point.ours.processor - (point.alone.processor if point.alone else 0)
        for point in (small, large)
    ]
    if min(costs) <= 0:
        return None
    return math.log(costs[1] / costs[0]) / math.log(large.size / small.size)


def card(axes: Sequence[Axis], points: Iterable[Point], whole: bool) -> Scorecard:
    """A table, a slope and a drawing for each axis; a goal that no cost grows faster than its
    cause.
    """
    found = {axis: [point for point in points if point.axis == axis.name] for axis in axes}
    slopes = {axis: slope(mine) for axis, mine in found.items()}
    goals = tuple(
        Goal(
            f"{axis.name}: {axis.command}",
            f"slope at most {STEEPEST:g}",
            "-" if steep is None else f"{steep:.2f}",
            None
            if steep is None or len(found[axis]) < len(sizes(axis, whole))
            else steep <= STEEPEST,
        )
        for axis, steep in slopes.items()
    )
    measured = {axis.name: Figure(f"{axis.name}: slope", steep) for axis, steep in slopes.items()}
    known = {axis.name: steep for axis, steep in slopes.items() if steep is not None}
    steepest = max(known, key=lambda name: known[name], default="")
    figures = f"steepest slope {known[steepest]:.2f} ({steepest})" if known else "nothing measured"
    return Scorecard(
        "cost",
        figures,
        goals,
        tuple(_table(axis, mine) for axis, mine in found.items() if mine),
        [asdict(point) for mine in found.values() for point in mine],
        tuple(_drawing(axis, mine) for axis, mine in found.items() if len(mine) > 1),
        measured=measured,
    )


def _table(axis: Axis, points: Sequence[Point]) -> Table:
    rows = tuple(
        (
            f"{point.size:,}",
            f"{point.ours.seconds:.1f}",
            f"{point.ours.processor:.1f}",
            f"{point.ours.memory:.0f}",
            "-" if point.alone is None else f"{point.alone.processor:.1f}",
            "-" if point.alone is None else f"{point.ours.processor / point.alone.processor:.2f}",
        )
        for point in sorted(points, key=lambda point: point.size)
    )
    return Table(f"{axis.name}: {axis.command} against {axis.counted}", COLUMNS, rows)


def _drawing(axis: Axis, points: Sequence[Point]) -> Drawing:
    ordered = sorted(points, key=lambda point: point.size)
    steps = [point.size for point in ordered]
    curves = [
        Curve("processor, s", steps, [point.ours.processor for point in ordered]),
        Curve("memory, GB", steps, [point.ours.memory / 1024 for point in ordered]),
    ]
    if all(point.alone for point in ordered):
        alone = [point.alone.processor for point in ordered if point.alone]
        curves.append(Curve("processor without reenact, s", steps, alone))
    title = f"{axis.command} against {axis.counted}"
    return Drawing(axis.name, title, line_plot(title, curves, below=axis.counted, log_x=True).svg)
