"""One training of the data set: how it is started and what is true of it, from its folder's
`truth.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from benchmarks.children import ROOT
from benchmarks.dataset.foreign import Foreign, Inside, Line, Words
from reenact.errors import InputError
from reenact.program.syntax.notebook import Notebook, read_notebook

TRAININGS = ROOT / "benchmarks" / "trainings"
TRUTH = "truth.toml"


@dataclass(frozen=True, slots=True)
class Truth:
    """One fault, and the lines at which a reader accepts that it is placed."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    kind: str
    """What we call it: kinds.toml, not truth.toml; empty until its readers have chosen."""
    lines: Annotated[tuple[Line, ...], Field(min_length=1)]
    """From 1: in the file, or in the cell of a notebook."""
    cell: int | None = None
    """Of a notebook, among all its cells, from 0."""
    file: Inside | None = None
    """Of the training's folder; none: the program itself."""


@dataclass(frozen=True, slots=True)
class Training:
    """One program and what is true of it."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    id: Words
    """Its folder under benchmarks/trainings."""
    path: Inside
    """Of the program in its folder, or in its repository."""
    sound: bool
    what: Words
    """What is wrong; of a sound program, which of its practices may be taken for a fault."""
    style: str = ""
    seconds: float = 0.0
    """What one training takes; 0: not measured."""
    module: str = ""
    """A package is started as this module."""
    args: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Packages besides torch, keras, numpy and scikit-learn."""
    twin: str = ""
    """The faulty program of which this one is the sound twin."""
    name: str = ""
    """What results call it, where that is not its id: names recur between splits."""
    seen: str = ""
    """What one plain run of it gave."""
    fault: tuple[Truth, ...] = ()
    foreign: Foreign | None = None
    """Of a program that is not kept here."""

    @property
    def shown(self) -> str:
        """What results call it."""
        return self.name or self.id

    @property
    def words(self) -> tuple[str, ...]:
        """The program and its arguments, as a user starts it in its folder."""
        program = ("-m", self.module) if self.module else (self.path,)
        return (*program, *self.args)

    @property
    def shortened(self) -> bool:
        """Whether its training may have been cut: that it is too short is then no false finding."""
        return self.foreign is not None and bool(self.foreign.edits or self.args)


def read_training(
    name: str, kinds: Sequence[str] | None = None, folder: Path = TRAININGS
) -> Training:
    """One training, its faults called by these kinds; none: not chosen yet. Raises InputError."""
    file = folder / name / TRUTH
    try:
        facts = tomllib.loads(file.read_text(encoding="utf-8"))
        faults = facts.pop("fault", [])
        called = [""] * len(faults) if kinds is None else kinds
        facts["fault"] = [
            {**fault, "kind": kind} for fault, kind in zip(faults, called, strict=False)
        ]
        training: Training = _TRAINING.validate_python({**facts, "id": name})
    except (OSError, ValueError, ValidationError) as error:
        raise InputError(f"The truth cannot be read: {error}. Received: {file}.") from error
    if len(faults) != len(called):
        raise InputError(
            f"{len(faults)} faults have {len(called)} kinds in kinds.toml. Received: {file}."
        )
    if training.sound == bool(training.fault):
        raise InputError(f"A training is sound or has faults. Received: {file}.")
    return training


def accepted(
    training: Training, truth: Truth, folder: Path = TRAININGS
) -> tuple[str, frozenset[int]]:
    """File name and lines, as reenact counts them, at which a fault is placed rightly."""
    name = Path(truth.file or training.path).name
    if truth.cell is None:
        return name, frozenset(truth.lines)
    notebook = _notebook(folder / training.id / training.path)
    return name, frozenset(_script_line(notebook, truth.cell, line) for line in truth.lines)


@lru_cache
def _notebook(file: Path) -> Notebook:
    return read_notebook(file.read_text(encoding="utf-8"))


def _script_line(notebook: Notebook, index: int, line: int) -> int:
    cell = next((cell for cell in notebook.cells if cell.index == index), None)
    if cell is None:
        raise InputError(f"No code cell has this number. Received: {index}.")
    return notebook.script.count("\n", 0, cell.start) + line


_TRAINING = TypeAdapter(Training)
