"""`python -m benchmarks lint`: a hundred training programs under the static rules, beside `ruff
check`.

Each time is that of a whole command as a hook starts it, interpreter and all; nothing is kept
between two. The files are the training programs of the shipped cases, repeated under other names
until there are enough: no file helps another, so that a copy costs what its original does.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from statistics import median

from benchmarks.children import ROOT
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from reenact.demo import CASES as DEMO
from reenact.own_process import own_command
from reenact.program.program import program_from_text
from reenact.program.training.framework import Framework, framework_of
from reenact.types import Progress, Stop, Tell

FILES = 100
REPEATS = 7
WANTED_S = 1.5
"""A second or so: what a hook before every commit may take."""
SHELVES = ("faults", "papers", "probe", "speed")
"""Cases whose Python files may be trainings."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One command and how long it took, each time."""

    name: str
    seconds: tuple[float, ...]
    worked: tuple[float, ...]
    """Seconds of processor time, of all cores: other work on the machine hardly touches them."""

    @property
    def middle(self) -> float:
        return median(self.seconds)


def measure(*, tell: Tell, stop: Stop, count: int = FILES, repeats: int = REPEATS) -> Scorecard:
    """Write the files, and take the time of each command over them."""
    with tempfile.TemporaryDirectory(prefix="reenact-bench-lint-") as name:
        folder = Path(name)
        lines = write_files(folder, count)
        commands = _commands(folder)
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for turn in range(repeats):
            for at, (name, words) in enumerate(commands.items()):
                tell(
                    Progress(
                        "bench lint",
                        turn * len(commands) + at,
                        repeats * len(commands),
                        name,
                    )
                )
                if not stop.asked:
                    taken[name].append(_seconds(words, folder))
    timed = [Timed(name, *zip(*times, strict=True)) for name, times in taken.items() if times]
    return card(timed, files=count, lines=lines, wanted=repeats)


def programs() -> list[str]:
    """The text of every training program that ships with the benchmarks."""
    cases = ROOT / "benchmarks" / "cases"
    folders = [*(cases / shelf for shelf in SHELVES), DEMO]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    texts = dict.fromkeys(path.read_text(encoding="utf-8") for path in paths)
    return [
        text for text in texts if framework_of(program_from_text(text)) is not Framework.UNKNOWN
    ]


def write_files(folder: Path, count: int) -> int:
    """So many training programs; how many lines they have together."""
    lines = 0
    for at, text in enumerate(islice(cycle(programs()), count)):
        (folder / f"train_{at:03d}.py").write_text(text, encoding="utf-8")
        lines += len(text.splitlines())
    return lines


LINT, STARTED, RUFF = "reenact lint", "reenact --version", "ruff check"


def _commands(folder: Path) -> dict[str, list[str]]:
    """What is timed; ruff only where it is installed."""
    ours = own_command()
    found = {
        LINT: [*ours, "lint", "--output-format", "concise", str(folder)],
        STARTED: [*ours, "--version"],
    }
    beside = Path(sys.executable).with_name("ruff")
    ruff = str(beside) if beside.exists() else shutil.which("ruff")
    if ruff is not None:
        found[RUFF] = [
            ruff,
            "check",
            "--isolated",
            "--no-cache",
            "--quiet",
            str(folder),
        ]
    return found


def _seconds(words: Sequence[str], folder: Path) -> tuple[float, float]:
    """By the clock, and of the processor."""
    begun, worked = time.perf_counter(), _worked()
    ended = subprocess.run(list(words), cwd=folder, capture_output=True, check=False)  # noqa: S603
    taken = time.perf_counter() - begun, _worked() - worked
    if ended.returncode not in (0, 1):
        raise OSError(f"{words[0]} ended with {ended.returncode}: {ended.stderr.decode()[-300:]}")
    return taken


def _worked() -> float:
    """Processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def card(timed: Sequence[Timed], *, files: int, lines: int, wanted: int) -> Scorecard:
    """The goal, and every command beside ruff."""
    known = {one.name: one for one in timed}
    ours, ruff = known.get(LINT), known.get(RUFF)
    whole = ours is not None and len(ours.seconds) == wanted and files == FILES
    rows = tuple(
        (
            one.name,
            f"{one.middle:.2f} s",
            f"{min(one.seconds):.2f} to {max(one.seconds):.2f} s",
            f"{median(one.worked):.2f} s",
            "-" if ruff is None else f"{one.middle / ruff.middle:.1f}",
        )
        for one in timed
    )
    goal = Goal(
        f"{files} files",
        f"a second or so (under {WANTED_S:g} s)",
        "-" if ours is None else f"{ours.middle:.2f} s",
        ours.middle < WANTED_S if ours is not None and whole else None,
    )
    beside = (
        ""
        if ours is None or ruff is None
        else f", {ours.middle / ruff.middle:.1f} times as long as `ruff check`"
    )
    figures = (
        "nothing measured" if ours is None else f"{files} files in {ours.middle:.2f} s{beside}"
    )
    return Scorecard(
        "lint",
        figures,
        (goal,),
        (Table(f"{files} files, {lines} lines, {os.cpu_count()} cores", COLUMNS, rows),),
        {
            one.name: {
                "seconds": [round(value, 4) for value in one.seconds],
                "processor": [round(value, 4) for value in one.worked],
            }
            for one in timed
        },
        measured={
            one.name: Figure(f"{one.name}, s", one.middle, min(one.seconds), max(one.seconds))
            for one in timed
        },
    )


COLUMNS = ("command", "median", "from, to", "processor", "times ruff")
