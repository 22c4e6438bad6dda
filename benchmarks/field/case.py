"""The manifest of foreign programs: where each lies, how it is started, and what is true of it.

The programs themselves are never kept here. Halves are drawn once; all but *tune* are frozen by hash.
"""

from __future__ import annotations

import hashlib
import json
import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from reenact.errors import InputError
from reenact.program.fault import Fault

HERE = Path(__file__).parent
MANIFEST, HALVES = HERE / "cases.toml", HERE / "halves.toml"
SEED = 20261116
"""Draws the halves; they were drawn once, when the list was complete."""

Words = Annotated[str, Field(min_length=1, max_length=300)]
Inside = Annotated[str, Field(pattern=r"^[\w-][\w. -]*(/[\w-][\w. -]*)*$")]
"""A path that stays inside its folder."""
Line = Annotated[int, Field(ge=1)]


class Half(StrEnum):
    """Which half of the programs."""

    TUNE = "tune"
    """Rules and thresholds may look at it."""
    CONFIRM = "confirm"
    """Run after a change is finished."""
    FRESH = "fresh"
    """No half: sound programs that came later, chosen without regard to the rules."""
    LATER = "later"
    """Sound programs again, which came when those had been looked at."""


class Data(StrEnum):
    """Where a program that needs foreign data gets it from."""

    OWN = "own"
    """It makes its data, or has it."""
    BESIDE = "beside"
    """Data of the same shapes that `standins.py` makes; an edit of the loading line asks for it."""
    STAND_IN = "stand-in"
    """It must be fetched; only a stand-in made by reenact itself would do."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One line made shorter, smaller or asked for other data: never another training."""

    line: Line
    old: str
    """A part of that line."""
    new: str
    file: Inside | None = None
    """Beside the program; none: the program itself."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same program after its author's own fix. Edits of the program hold for equal lines of this one."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    path: Inside
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True)
class FieldCase:
    """One foreign program and what is true of it."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    id: Words
    source: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    """Owner and name of the repository."""
    path: Inside
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Of the file as it lies there."""
    why: Words
    """What the truth rests on; for a sound program, what it does."""
    sound: bool = False
    faults: tuple[tuple[Fault, Line], ...] = ()
    """Every fault type with a line at which naming it is true."""
    rules: tuple[tuple[str, Line], ...] = ()
    """Rules without a fault type, such as an explained crash, with a line at which naming it is true."""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    requires: tuple[str, ...] = ()
    """Modules besides torch, keras, numpy and sklearn."""
    edits: tuple[Edit, ...] = ()
    data: Data = Data.OWN
    shapes: Words | None = None
    """What a stand-in has to look like."""
    beside: tuple[Inside, ...] = ()
    """Folders and files of the repository that are laid beside the program."""
    files: Mapping[Inside, str] = field(default_factory=dict)
    """Files that the program reads, each made by a function of `standin_files.py`."""
    fixed: Fixed | None = None
    """Where the source has both sides."""

    @property
    def repository(self) -> str:
        """The folder of its checkout."""
        return self.source.partition("/")[2]

    @property
    def shortened(self) -> bool:
        """Whether the manifest may have cut its training: that it is too short is then no false word."""
        return bool(self.edits or self.arguments)


def catalogue(manifest: Path = MANIFEST) -> tuple[FieldCase, ...]:
    """Every program of a manifest."""
    try:
        cases = TypeAdapter(tuple[FieldCase, ...]).validate_python(
            tomllib.loads(manifest.read_text(encoding="utf-8")).get("case", [])
        )
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise InputError(f"The manifest cannot be read: {error}. Received: {manifest}.") from error
    names = [case.id for case in cases]
    twice = sorted({name for name in names if names.count(name) > 1})
    wrong = [case.id for case in cases if case.sound == bool(case.faults or case.rules)]
    if twice or wrong:
        raise InputError(f"A program is listed once, and is sound or has faults. Received: {twice + wrong}.")
    return cases


def drawn(cases: Sequence[FieldCase]) -> dict[Half, tuple[str, ...]]:
    """The two halves of the first list, faulty and sound programs drawn apart."""
    halves: dict[Half, list[str]] = {Half.TUNE: [], Half.CONFIRM: []}
    chance = random.Random(SEED)  # noqa: S311 - a draw that everybody can repeat
    for sound in (False, True):
        names = sorted(case.id for case in cases if case.sound is sound)
        chance.shuffle(names)
        middle = len(names) // 2
        halves[Half.TUNE] += names[:middle]
        halves[Half.CONFIRM] += names[middle:]
    return {half: tuple(sorted(names)) for half, names in halves.items()}


def frozen(cases: Sequence[FieldCase]) -> str:
    """A hash over all that the manifest holds of these programs: the truth, and how each is started."""
    facts = [asdict(case) for case in sorted(cases, key=lambda case: case.id)]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def half_of(cases: Sequence[FieldCase], half: Half, halves: Path = HALVES) -> tuple[FieldCase, ...]:
    """The programs of one half. Refused for a frozen one once its part of the manifest was changed."""
    known = tomllib.loads(halves.read_text(encoding="utf-8"))
    named, wanted = set(known[half.value]), known.get(f"{half}_sha256")
    found = tuple(case for case in cases if case.id in named)
    if wanted is not None and (len(found) != len(named) or frozen(found) != wanted):
        raise InputError(
            f"The {half} half is not what was frozen: the truth of its programs, or how they are started, "
            f"was changed. Expected: {half}_sha256={wanted}. Received: {frozen(found)}."
        )
    return found
