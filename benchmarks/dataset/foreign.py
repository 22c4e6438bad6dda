"""A program that nobody here wrote and that is not kept here: where it is and what is changed
in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

Words = Annotated[str, Field(min_length=1, max_length=600)]
Inside = Annotated[str, Field(pattern=r"^[\w-][\w. -]*(/[\w-][\w. -]*)*$")]
"""A path that stays inside its folder."""
Line = Annotated[int, Field(ge=1)]
Commit = Annotated[str, Field(pattern=r"^([0-9a-f]{40})?$")]
"""A state of a repository; empty: what is checked out."""


class Data(StrEnum):
    """Where a program that needs foreign data gets it from."""

    OWN = "own"
    """It makes its data, or has it."""
    BESIDE = "beside"
    """Data of the same shapes that `standins.py` makes, or games of `standin_games.py`; an edit of
    the loading line asks for it.
    """
    STAND_IN = "stand-in"
    """It must be fetched; only a stand-in made by reenact itself would do."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One line made shorter, smaller or asked for other data: never another training."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    line: Line
    old: str
    """A part of that line."""
    new: str
    file: Inside | None = None
    """Beside the program; none: the program itself."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same program after its author's own fix. Edits of the program hold for equal lines of
    this one.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    path: Inside
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    commit: Commit = ""
    """That of the fix, where both sides are states of one repository."""
    edits: tuple[Edit, ...] = ()
    """Of lines that the fix changed, where both sides are states of one repository."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """How a program of a public repository is found and prepared."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    source: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    """Owner and name of the repository."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Of the program as it lies there."""
    commit: Commit = ""
    """The state of the repository that has the program."""
    environment: Mapping[str, str] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    data: Data = Data.OWN
    shapes: Words | None = None
    """What a stand-in has to look like."""
    beside: tuple[Inside, ...] = ()
    """Folders and files of the repository that are copied next to the program."""
    files: Mapping[Inside, str] = field(default_factory=dict)
    """Files that the program reads, each made by a function of `standin_files.py`."""
    fixed: Fixed | None = None
    """Where the source has both sides."""

    @property
    def repository(self) -> str:
        """The folder of its checkout."""
        return self.source.partition("/")[2]
