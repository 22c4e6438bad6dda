"""The cases: a program, a claim about it, an edit and a check, and whether the claim is right.

README.md says what lies in a folder. A case is read, never imported.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from reenact.claims.claim import About, Expected
from reenact.errors import InputError

HERE = Path(__file__).parent
PROGRAM, CHECK, EDIT, SECOND, ABOUT = (
    "train.py",
    "check.py",
    "fix.diff",
    "second.diff",
    "claim.toml",
)
FILES = (PROGRAM, CHECK, EDIT, SECOND, ABOUT)

Words = Annotated[str, Field(min_length=1, max_length=300)]


class Truth(StrEnum):
    """Whether a claim is right; also the folder in which it lies."""

    WRONG = "wrong"
    TRUE = "true"


class Effect(StrEnum):
    """What the fault of a true claim costs: the metric after its edit."""

    BETTER = "better"
    LOWER = "lower but honest"
    NONE = "none"


@dataclass(frozen=True)
class ClaimCase:
    """One program and one claim about it."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    folder: Path
    says: Words
    shows: Words
    about: About
    expects: Expected
    domain: Words
    """What the program learns, for readers."""
    tolerance: float = 1e-4

    @property
    def truth(self) -> Truth:
        raise NotImplementedError

    @property
    def id(self) -> str:
        """The folder with that of its kind."""
        return f"{self.truth.value}/{self.folder.name}"

    @property
    def second(self) -> Path | None:
        """Another right fix, where there is one."""
        file = self.folder / SECOND
        return file if file.is_file() else None

    @cached_property
    def identity(self) -> str:
        """A hash over everything that it is made of."""
        mark = hashlib.sha256()
        for file in (self.folder / name for name in FILES):
            if file.is_file():
                mark.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
        return mark.hexdigest()[:16]


@dataclass(frozen=True)
class WrongClaim(ClaimCase):
    """A sound program, and a claim that nobody should act on."""

    why_wrong: Words = ""

    @property
    def truth(self) -> Truth:
        return Truth.WRONG


@dataclass(frozen=True)
class TrueClaim(ClaimCase):
    """A program with a fault, and a claim that names it."""

    fault: Words = ""
    effect: Effect = Effect.BETTER
    """What becomes of the metric when the fault is repaired."""

    @property
    def truth(self) -> Truth:
        return Truth.TRUE


_KINDS: dict[Truth, TypeAdapter[Any]] = {
    Truth.WRONG: TypeAdapter(WrongClaim),
    Truth.TRUE: TypeAdapter(TrueClaim),
}


def catalogue(
    words: Sequence[str] = (), kind: Literal["both", "wrong", "true"] = "both"
) -> list[ClaimCase]:
    """All cases, wrong claims first; or those whose name has one of these words."""
    kinds = [truth for truth in _KINDS if kind in ("both", truth.value)]
    folders = [folder for truth in kinds for folder in sorted((HERE / truth.value).iterdir())]
    cases = [read_case(folder) for folder in folders if (folder / ABOUT).is_file()]
    found = [case for case in cases if any(word in case.id for word in words or ("",))]
    if not found:
        raise InputError(
            f"No case of this benchmark has such a name. Received: {', '.join(words)}.",
            next_step=f"The cases are: {', '.join(case.id for case in cases)}.",
        )
    return found


def read_case(folder: Path) -> ClaimCase:
    """Raises InputError with the folder where something is wrong."""
    kind = Truth(folder.parent.name)
    try:
        facts = tomllib.loads((folder / ABOUT).read_text(encoding="utf-8"))
        case: ClaimCase = _KINDS[kind].validate_python({**facts, "folder": folder})
    except (OSError, ValueError, ValidationError) as error:
        raise InputError(f"{kind.value}/{folder.name} is not a case: {error}.") from error
    missing = [name for name in (PROGRAM, CHECK, EDIT) if not (folder / name).is_file()]
    if missing:
        raise InputError(f"{case.id} is not a case: it has no {', '.join(missing)}.")
    return case
