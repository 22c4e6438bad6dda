"""Text that reads the same on every machine: no folders, times, addresses; floats rounded.

What a program printed goes through here before it enters a prompt, so that a recorded answer still belongs
to the same words when the run is repeated in another folder, at another hour, on another machine. Source
code must not: an edit has to match it letter by letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

SIGNIFICANT = 4
"""Digits kept of a float."""

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"[^\s'\"(<]*/(?:site|dist)-packages/"), "site-packages/"),
    (re.compile(r"(?<![\w.])/(?:[\w.+-]+/)*lib/(python3\.\d+)/"), r"\1/"),
    (re.compile(r"(?<![\w.])/(?:private/)?(?:tmp|var/tmp|var/folders/\w+/\w+/T)(?:/[\w.+-]+)?"), "<tmp>"),
    (re.compile(r"(?<![\w.])/(?:home|Users)/[\w.+-]+|(?<![\w.])/root(?![\w.])"), "<home>"),
    (re.compile(r"\b0x[0-9a-fA-F]{6,}\b"), "0x..."),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?"), "<time>"),
    (re.compile(r"\b\d?\d:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (re.compile(r"(?<![\w.])\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|s|sec|secs|seconds?)(?![\w])"), "<time>"),
    (re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\w.])"), "<address>"),
    (re.compile(r"\b(localhost|\[::1\]):\d{1,5}\b"), "<address>"),
    (re.compile(r"\b(pid|PID)([ =:]+)\d+"), r"\1\2<number>"),
)
_FLOAT = re.compile(r"(?<![\w.])-?\d+\.\d+(?:[eE][+-]?\d+)?(?!\.?\w)")


@dataclass(frozen=True, slots=True)
class Log:
    """What a program printed, and the folders whose place on this machine does not matter."""

    text: str
    roots: tuple[PurePath | str, ...] = ()


def steady(text: str, roots: Iterable[PurePath | str] = ()) -> str:
    """The text without traces of a machine. Folders in `roots` become `.`."""
    for root in sorted((str(root).rstrip("/") for root in roots), key=len, reverse=True):
        text = re.sub(re.escape(root) + r"(?![\w.-])", ".", text) if root else text
    for pattern, plain in _RULES:
        text = pattern.sub(plain, text)
    return _FLOAT.sub(lambda match: number(float(match.group())), text)


def number(value: float) -> str:
    """A number as prompts write it: integers whole, floats to four significant digits."""
    return str(value) if isinstance(value, int) else f"{value:.{SIGNIFICANT}g}"
