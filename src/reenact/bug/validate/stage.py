"""The stages that a script passes, in their order."""

from __future__ import annotations

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
