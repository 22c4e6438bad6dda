"""What is true of the programs of a half: its `truth.toml`, written before the tool was run on them."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from reenact.errors import InputError
from reenact.program.notebook import Notebook, read_notebook

HERE = Path(__file__).parent
CATEGORIES = HERE / "categories.toml"
Words = Annotated[str, Field(min_length=1, max_length=600)]
Line = Annotated[int, Field(ge=1)]


class Half(StrEnum):
    """Which half of the programs."""

    TUNE = "tune"
    """Rules and thresholds may look at it."""
    CONFIRM = "confirm"
    """By other authors; run after a change is finished."""
    FRESH = "fresh"
    """By an author who saw neither rules nor programs. Opened since: rules have looked at it."""
    LATER = "later"
    """By another such author, after that. Opened since."""
    FIFTH = "fifth"
    """By yet another; run once. Opened since."""
    SIXTH = "sixth"
    """By yet another; run once. Opened since."""
    SEVENTH = "seventh"
    """By two others; run once. Opened since."""
    EIGHTH = "eighth"
    """By two others, of the kinds of faults that the rules are to know; run once. Opened since."""
    NINTH = "ninth"
    """By two others, of the same kinds; run once. Opened since."""
    TENTH = "tenth"
    """By two others, of the same kinds; run once."""


@dataclass(frozen=True, slots=True)
class Truth:
    """One fault, and the lines at which a reader accepts that it is placed."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    category: Words
    lines: Annotated[tuple[Line, ...], Field(min_length=1)]
    cell: int | None = None
    """Of a notebook, among all its cells, from 0."""
    file: str | None = None
    """Of a package or beside the program; none: the program itself."""


@dataclass(frozen=True, slots=True)
class ModernCase:
    """One program and what is true of it."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    id: Words
    path: Words
    style: Words
    kind: Literal["faulty", "sound"]
    what: Words
    """What is wrong; of a sound program, which of its practices may be taken for a fault."""
    seconds: float
    folder: str = ""
    """Its own folder in that of the half, where it is started; none: that of the half."""
    module: str = ""
    """A package is started as this module."""
    args: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Packages besides torch, keras, numpy and scikit-learn."""
    twin: str = ""
    """The faulty program of which this one is the sound twin."""
    fault: tuple[Truth, ...] = ()

    @property
    def sound(self) -> bool:
        return self.kind == "sound"

    @property
    def words(self) -> tuple[str, ...]:
        """The program and its arguments, as a user starts it in its folder."""
        return (*(("-m", self.module) if self.module else (self.path,)), *self.args)


def catalogue(half: Half, folder: Path = HERE) -> tuple[ModernCase, ...]:
    """The programs of one half. Raises InputError."""
    manifest = folder / half / "truth.toml"
    try:
        found = tomllib.loads(manifest.read_text(encoding="utf-8"))
        cases = TypeAdapter(tuple[ModernCase, ...]).validate_python(found.get("program", []))
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise InputError(f"The truth cannot be read: {error}. Received: {manifest}.") from error
    known = categories()
    strange = sorted({one.category for case in cases for one in case.fault} - set(known))
    wrong = [case.id for case in cases if case.sound == bool(case.fault)]
    if strange or wrong:
        raise InputError(
            "A program is sound or has faults of known categories. "
            f"Expected: categories of {CATEGORIES.name}. Received: {strange + wrong}."
        )
    return cases


@lru_cache
def categories() -> dict[str, frozenset[str]]:
    """Which rules, by name, say that a fault of a category is there."""
    found = tomllib.loads(CATEGORIES.read_text(encoding="utf-8"))
    return {category: frozenset({category, *rules}) for category, rules in found.items()}


def accepted(case: ModernCase, truth: Truth, folder: Path) -> tuple[str, frozenset[int]]:
    """File name and lines, as the tool counts them, at which a fault is placed rightly."""
    name = Path(truth.file or case.path).name
    if truth.cell is None:
        return name, frozenset(truth.lines)
    notebook = _notebook(folder / case.folder / case.path)
    return name, frozenset(_script_line(notebook, truth.cell, line) for line in truth.lines)


@lru_cache
def _notebook(file: Path) -> Notebook:
    return read_notebook(file.read_text(encoding="utf-8"))


def _script_line(notebook: Notebook, index: int, line: int) -> int:
    cell = next((cell for cell in notebook.cells if cell.index == index), None)
    if cell is None:
        raise InputError(f"No code cell has this number. Received: {index}.")
    return notebook.script.count("\n", 0, cell.start) + line


def identity(half: Half, folder: Path = HERE) -> str:
    """A hash over every program of a half and over what is true of it."""
    files = sorted(
        path for path in (folder / half).rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    known = [(str(path.relative_to(folder)), hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()
