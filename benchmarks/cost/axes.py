"""What grows, and the command that is measured at each size of it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import sqrt
from pathlib import Path
from typing import TypeAlias

from benchmarks.children import ROOT
from benchmarks.linting.measure import programs
from benchmarks.web.measure import write_journal
from reenact.own_process import own_command

CASES = ROOT / "benchmarks" / "cases"
TRAINING = CASES / "cost" / "train.py"
PAPER = CASES / "papers" / "earned-trust" / "paper"
STEPS_OF_A_RUN = 8
INPUTS, CLASSES = 64, 3
"""Of the network that is trained."""


Prepare: TypeAlias = "Callable[[Path, int], Sequence[str]]"
"""Writes what a size needs into an empty folder; gives the words of the command."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One thing that grows."""

    name: str
    counted: str
    """What the sizes count."""
    command: str
    """As its user would type it."""
    sizes: tuple[int, ...]
    prepare: Prepare
    alone: Prepare | None = None
    """The same training without reenact, for comparison."""
    exits: tuple[int, ...] = (0, 1)
    longest: int | None = None
    """A size that only `--whole` measures."""


def _lint(folder: Path, size: int) -> Sequence[str]:
    for number, text in enumerate(_texts(size)):
        (folder / f"train_{number:05d}.py").write_text(text, encoding="utf-8")
    return [*own_command(), "lint", "--output-format", "concise", "."]


def _package(folder: Path, size: int) -> Sequence[str]:
    package = folder / "parts"
    package.mkdir()
    (package / "__init__.py").touch()
    names = []
    for number, text in enumerate(_texts(size)):
        names.append(f"part_{number:05d}")
        (package / f"{names[-1]}.py").write_text(text, encoding="utf-8")
    imports = "".join(f"import parts.{name}\n" for name in names)
    text = TRAINING.read_text(encoding="utf-8").replace(
        "import sys\n", f"import sys\n\n{imports}", 1
    )
    (folder / "train.py").write_text(text, encoding="utf-8")
    return [
        *own_command(),
        "diagnose",
        "--depth",
        "static",
        "--fresh",
        "train.py",
        "16",
        "200",
    ]


def _texts(size: int) -> Iterator[str]:
    """Training programs until there are so many bytes."""
    left = size
    for text in cycle(programs()):
        if left <= 0:
            return
        left -= len(text.encode())
        yield text


def width_for(parameters: int) -> int:
    """Of the hidden layers of a network with about so many parameters."""
    half = (INPUTS + CLASSES + 2) / 2
    return max(1, round(sqrt(half**2 + parameters) - half))


def _train(folder: Path, width: int, steps: int) -> Sequence[str]:
    shutil.copy(TRAINING, folder / "train.py")
    return ["train.py", str(width), str(steps)]


def _plain(folder: Path, width: int, steps: int) -> Sequence[str]:
    return [sys.executable, *_train(folder, width, steps)]


def _quick(folder: Path, width: int, steps: int) -> Sequence[str]:
    return [*own_command(), "diagnose", "--fresh", *_train(folder, width, steps)]


def _repair(folder: Path, size: int) -> Sequence[str]:
    words = ["repair", "--strategy", "random", "--budget", f"{size}t", "--fresh"]
    return [*own_command(), *words, *_train(folder, 16, 320)]


def _journal(folder: Path, size: int) -> Sequence[str]:
    write_journal(folder / ".reenact", [STEPS_OF_A_RUN] * size)
    return [*own_command(), "runs", "list"]


def _paper(folder: Path, size: int) -> Sequence[str]:
    """The sections of a paper again and again, each time under names of their own."""
    shutil.copytree(PAPER, folder / "paper")
    main = (PAPER / "main.tex").read_text(encoding="utf-8")
    sections = [
        file.read_text(encoding="utf-8") for file in sorted((PAPER / "sections").glob("*.tex"))
    ]
    parts: list[str] = []
    while sum(map(len, parts)) < size:
        number = len(parts)
        text = sections[number % len(sections)]
        own = text.replace("\\label{", f"\\label{{{number}-").replace(
            "\\section{", f"\\section{{{number}: "
        )
        parts.append(own)
    (folder / "paper" / "sections" / "more.tex").write_text("\n".join(parts), encoding="utf-8")
    whole = main.replace("\\bibliographystyle", "\\input{sections/more}\n\\bibliographystyle", 1)
    (folder / "paper" / "main.tex").write_text(whole, encoding="utf-8")
    return [*own_command(), "read", "--offline", "--output-format", "concise", "paper"]


AXES = (
    Axis(
        "code",
        "bytes of programs",
        "reenact lint .",
        (10_000, 100_000, 1_000_000, 10_000_000),
        _lint,
    ),
    Axis(
        "package",
        "bytes that the program imports",
        "reenact diagnose --depth static train.py",
        (10_000, 100_000, 1_000_000, 10_000_000),
        _package,
    ),
    Axis(
        "parameters",
        "parameters, 64 steps each",
        "reenact diagnose train.py",
        (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000),
        lambda folder, size: _quick(folder, width_for(size), 64),
        lambda folder, size: _plain(folder, width_for(size), 64),
    ),
    Axis(
        "training",
        "steps of 0.7 to 3 ms",
        "reenact diagnose train.py",
        (1_000, 10_000, 60_000),
        lambda folder, size: _quick(folder, 64, size),
        lambda folder, size: _plain(folder, 64, size),
        longest=1_200_000,
    ),
    Axis(
        "trainings",
        "trainings to spend",
        "reenact repair --strategy random",
        (5, 10, 20, 40),
        _repair,
        exits=(0, 1, 3),
    ),
    Axis(
        "journal",
        "recorded runs of 8 steps",
        "reenact runs list",
        (10, 100, 1_000, 10_000),
        _journal,
    ),
    Axis(
        "paper",
        "characters of LaTeX",
        "reenact read paper",
        (20_000, 100_000, 500_000, 2_500_000),
        _paper,
    ),
)
"""What everything costs is measured by whole commands, as their users start them."""
