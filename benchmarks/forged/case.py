"""The cases: forged programs of papers, forged scripts of bugs, and honest ones of both.

`cases/forged/README.md` says what lies in a folder. A case is read, never imported.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from reenact.bug.reproduction import Verdict as BugVerdict
from reenact.errors import InputError
from reenact.paper.measure.verdict import Verdict as PaperVerdict

HERE = Path(__file__).parents[1] / "cases" / "forged"
ABOUT = "about.toml"
SCRIPT = "script.py"
BASES = HERE / "bases"
REPORTS = HERE / "reports"
HISTORIES = HERE / "histories"
REPRODUCED = "reproduced"
SECONDS = {"line": 12, "clouds": 45, "curve": 60, "bug": 10}
"""About what a case takes on one core: a paper by its base, a bug."""

Words = Annotated[str, Field(min_length=1, max_length=300)]


class Origin(StrEnum):
    """Where a case comes from."""

    REVIEW = "review"
    """A forgery that a review of reenact wrote."""
    OWN = "own"
    """A forgery written for this benchmark."""
    HONEST = "honest"
    """No forgery: its verdict must stay."""


@dataclass(frozen=True)
class ForgedCase:
    """One case. `right` are the verdicts that are no mistake."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    folder: Path
    origin: Origin
    trick: Words
    knows_controls: bool
    """Whether it was written to pass the controls that reenact describes."""
    right: Annotated[tuple[Words, ...], Field(min_length=1)]

    @property
    def id(self) -> str:
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def is_forged(self) -> bool:
        return self.origin is not Origin.HONEST

    @property
    def seconds(self) -> float:
        """About what it takes on one core."""
        raise NotImplementedError

    def sources(self) -> Iterator[Path]:
        """Folders and files that it is made of."""
        yield self.folder

    @cached_property
    def identity(self) -> str:
        """A hash over everything that it is made of."""
        mark = hashlib.sha256()
        for source in self.sources():
            files = sorted(source.rglob("*")) if source.is_dir() else [source]
            for file in (
                file for file in files if file.is_file() and "__pycache__" not in file.parts
            ):
                mark.update(
                    str(file.relative_to(HERE.parent)).encode() + b"\0" + file.read_bytes() + b"\0"
                )
        return mark.hexdigest()[:16]


@dataclass(frozen=True)
class PaperCase(ForgedCase):
    """A paper, and the program that a model would have written for it."""

    base: Literal["line", "clouds", "curve"]
    """The paper, and an honest program whose files stand where the case has none of that name."""
    claim: Annotated[str, Field(pattern=r"^\d+(\.\d+)?$")]
    """The number that its table states."""

    @property
    def seconds(self) -> float:
        return SECONDS[self.base]

    def sources(self) -> Iterator[Path]:
        yield self.folder
        yield BASES / self.base

    def program(self) -> dict[str, str]:
        """Every file of the program by its name."""
        places = (BASES / self.base / "files", self.folder)
        files = [file for place in places for file in sorted(place.iterdir()) if file.is_file()]
        return {file.name: file.read_text(encoding="utf-8") for file in files if file.name != ABOUT}


@dataclass(frozen=True)
class BugCase(ForgedCase):
    """A report about the small repository, and the script that a model would have written."""

    history: Literal["plain", "real"]
    """`plain`: the second commit changes a docstring and README.md; `real`: it corrects two
    bugs.
    """
    report: Words
    fixed: bool
    """Whether the command is given the second commit as the fixed revision."""

    @property
    def seconds(self) -> float:
        return SECONDS["bug"]

    def sources(self) -> Iterator[Path]:
        yield self.folder
        yield HISTORIES / self.history
        yield self.report_file
        yield self.symptom_file

    @property
    def report_file(self) -> Path:
        return REPORTS / f"{self.report}.md"

    @property
    def symptom_file(self) -> Path:
        return REPORTS / f"{self.report}.json"

    @property
    def script(self) -> str:
        return (self.folder / SCRIPT).read_text(encoding="utf-8")


_KINDS: dict[str, TypeAdapter[Any]] = {
    "papers": TypeAdapter(PaperCase),
    "bugs": TypeAdapter(BugCase),
}
_VERDICTS = {
    "papers": [one.value for one in PaperVerdict],
    "bugs": [one.value for one in BugVerdict],
}


def catalogue(names: Sequence[str] = ()) -> list[ForgedCase]:
    """All cases, papers first; or those of these names, as the folder or as `papers/FOLDER`."""
    cases = [read_case(folder) for kind in _KINDS for folder in sorted((HERE / kind).iterdir())]
    known = {name for case in cases for name in (case.id, case.folder.name)}
    strange = sorted(set(names) - known)
    if strange:
        raise InputError(
            f"Not cases of this benchmark. Received: {', '.join(strange)}.",
            next_step=f"The cases are: {', '.join(case.folder.name for case in cases)}.",
        )
    return [case for case in cases if not names or {case.id, case.folder.name} & set(names)]


def read_case(folder: Path) -> ForgedCase:
    """Raises InputError with the folder where something is wrong."""
    kind = folder.parent.name
    try:
        about = tomllib.loads((folder / ABOUT).read_text(encoding="utf-8"))
        case: ForgedCase = _KINDS[kind].validate_python({**about, "folder": folder})
    except (OSError, ValueError, ValidationError) as error:
        raise InputError(f"{kind}/{folder.name} is not a case: {error}.") from error
    strange = sorted(set(case.right) - set(_VERDICTS[kind]))
    if strange:
        raise InputError(f"{case.id} names verdicts that do not exist: {', '.join(strange)}.")
    if case.is_forged and REPRODUCED in case.right:
        raise InputError(f"{case.id} is a forgery, so `{REPRODUCED}` cannot be right.")
    return case
