"""A claim: a property that should hold of a program and does not, an edit that makes it hold, and
a check that reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict

from reenact.claims.check import Check
from reenact.program.patch import Patch
from reenact.types import Place


class About(StrEnum):
    """What a fault spoils; it decides how the effect of an edit is judged."""

    TRAINING = "training"
    EVALUATION = "evaluation"
    LEAK = "leak"
    SELECTION = "selection"

    @property
    def is_correctness(self) -> bool:
        """Whether a number is wrong, which may become worse when it is right."""
        return self is not About.TRAINING


class Expected(StrEnum):
    """What the metric is expected to do after the edit, stated before anything runs."""

    BETTER = "better"
    LOWER = "lower but honest"
    OTHER = "other"
    SAME = "same"


class ClaimJson(TypedDict):
    """A claim for programs."""

    says: str
    harm: str
    about: str
    expected: str
    edit: Patch
    check: dict[str, object]
    script: str
    place: str
    by: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What somebody says of a program, in a form that can be executed."""

    says: str
    """The property that should hold, in words, without naming the edit."""
    patch: Patch
    """The edit after which it holds."""
    script: str
    """Reaches into the program and leaves `observed`, and where one is needed `reference`."""
    check: Check
    """What holds of these while the fault is there; computed by us."""
    about: About = About.TRAINING
    expected: Expected = Expected.BETTER
    harm: str = ""
    """What goes wrong for the user otherwise."""
    place: Place | None = None
    by: str = "you"
    """Who says so: you, a model, or the code of a detector."""

    def json_fields(self) -> ClaimJson:
        """What programs get."""
        return {
            "says": self.says,
            "harm": self.harm,
            "about": self.about.value,
            "expected": self.expected.value,
            "edit": self.patch,
            "check": self.check.model_dump(mode="json"),
            "script": self.script,
            "place": str(self.place) if self.place is not None else "",
            "by": self.by,
        }
