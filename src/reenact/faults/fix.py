"""The fix of a finding: one edit, whether it was executed, and what that showed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict

from reenact.program.patch import Patch


class FixSafety(StrEnum):
    """What an edit leaves alone."""

    SAFE = "safe"
    """The training does the same with it, but for the fault."""
    UNSAFE = "unsafe"
    """It changes what is trained."""


class FixTried(StrEnum):
    """What was done with an edit before it was shown."""

    SILENT = "ran, detector silent"
    """The edited program ran in a scratch copy, and the detector of the finding was silent."""
    CHECKED = "ran, check holds"
    """The check of a tested claim holds with it."""
    TRAINED = "trained"
    """It was trained over seeds: `tried` of the finding has the figures."""
    NOT_TRIED = "not tried"
    """A run could have shown more; `reason` says why there was none."""
    NOT_RUN = "not run"
    """Only the text was read: it parses, and the detector is silent on the edited text."""

    @property
    def ran(self) -> bool:
        return self not in (FixTried.NOT_TRIED, FixTried.NOT_RUN)


class FixJson(TypedDict):
    """A fix as JSON."""

    diff: str
    safety: FixSafety
    tried: FixTried
    reason: str | None
    patch: Patch


class DroppedFixJson(TypedDict):
    """An edit that is no fix, as JSON."""

    change: str
    reason: str


@dataclass(frozen=True, slots=True)
class Fix:
    """The edit that is shown with a finding."""

    patch: Patch
    diff: str
    """As a unified diff, paths below the program's folder."""
    safety: FixSafety = FixSafety.UNSAFE
    tried: FixTried = FixTried.NOT_RUN
    reason: str = ""
    """What running it showed, or why it was not run."""

    def __str__(self) -> str:
        return self.diff

    @property
    def sentence(self) -> str:
        """What was done with it: `ran, detector silent: 40 steps in a scratch copy`."""
        return f"{self.tried.value}: {self.reason}" if self.reason else self.tried.value

    def json_fields(self) -> FixJson:
        return {
            "diff": self.diff,
            "safety": self.safety,
            "tried": self.tried,
            "reason": self.reason or None,
            "patch": self.patch,
        }


@dataclass(frozen=True, slots=True)
class DroppedFix:
    """An edit that was suggested, and does not do."""

    patch: Patch
    reason: str

    def json_fields(self) -> DroppedFixJson:
        return {"change": str(self.patch), "reason": self.reason}
