"""One thing wrong with a script, in words for whoever wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """Where a script was stopped, in the order in which it passes them."""

    ANSWER = "answer"
    """No script came, or edits that fit nothing."""
    PARSE = "parse"
    STATIC = "static analysis"
    RELEVANCE = "relevance"
    EXECUTION = "execution"
    FIXED = "fixed revision"
    """It shows the symptom, but not the bug: on the fixed revision it does not pass."""


@dataclass(frozen=True, slots=True)
class Objection:
    """What is wrong, and where."""

    stage: Stage
    sentence: str
    line: int = 0
    """In the script; 0 when it is about all of it."""

    def __str__(self) -> str:
        return f"line {self.line}: {self.sentence}" if self.line else self.sentence
