"""One thing wrong with a version of the code, and what tells two of them alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from reenact.llm.steady import steady

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


class Where(StrEnum):
    """Which check objected, in the order in which they are made."""

    ANSWER = "answer"
    """No usable answer came."""
    STATIC = "reading the code"
    BATCH = "sampling a mini-batch"
    METHOD = "training on one batch"
    DRY_RUN = "dry run of the whole experiment"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and where."""

    where: Where
    sentence: str
    file: str = ""
    line: int = 0
    """0 when it is about the whole file or project."""
    output: str = ""
    """The end of what the run printed, where there was one."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        return f"{place}{self.sentence}"

    @property
    def signature(self) -> str:
        """The same for the same mistake: without folders, times, addresses and numbers."""
        return _NUMBER.sub("N", steady(f"{self.where}|{self.file}|{self.sentence}"))[:600]


def told(problems: tuple[Problem, ...]) -> str:
    """Problems as a model sees them."""
    return "\n".join(f"- while {one.where}: {one}" for one in problems) or "none"


def printed(problems: tuple[Problem, ...]) -> str:
    """What the failed run printed last."""
    return next((one.output for one in problems if one.output), "") or "nothing"
