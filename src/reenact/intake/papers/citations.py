"""Which references a sentence cites: by key, by number in brackets, or by author and year."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reenact.intake.papers.paper import Reference

LONGEST_RANGE = 50
_KEYED = re.compile(r"\[([^\[\]]{0,200}?@[^\[\]]{1,400})\]")
_KEY = re.compile(r"(?<![\w.])@([^\s;,\]\[@{}]+)")
_NUMBERED = re.compile(r"\[(\d{1,4}(?:\s*[,;–-]\s*\d{1,4}){0,40})\]")
_AUTHOR_YEAR = re.compile(
    r"(?P<name>[^\W\d_][\w'’-]{1,40})(?:\s+et\s+al\.?|\s+(?:and|&)\s+[^\W\d_][\w'’-]{1,40})?,?\s*\(?"
    r"(?P<year>(?:19|20)\d{2})[a-z]?\b"
)
_RANGE = re.compile(r"(\d+)\s*[–-]\s*(\d+)")


def marked(keys: Iterable[str]) -> str:
    """How a citation stands in a sentence."""
    return f"[{'; '.join(f'@{key}' for key in keys)}]"


@dataclass(frozen=True)
class Bibliography:
    """What a citation may lead to."""

    keys: frozenset[str] = frozenset()
    by_author: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Keys by surname of the first author and year."""

    @classmethod
    def of(cls, references: Iterable[Reference]) -> Bibliography:
        listed = list(references)
        named = {
            (one.authors[0].split()[-1].casefold(), str(one.year)): one.key
            for one in reversed(listed)
            if one.authors and one.authors[0].split() and one.year
        }
        return cls(frozenset(one.key for one in listed), named)


def cited_keys(text: str, known: Bibliography) -> tuple[str, ...]:
    """Keys that a sentence cites. Numbers count only where the bibliography is numbered."""
    found: dict[str, None] = {}
    for bracket in _KEYED.finditer(text):
        found |= dict.fromkeys(key.rstrip(".:") for key in _KEY.findall(bracket[1]))
    for bracket in _NUMBERED.finditer(text):
        numbers = _numbers(bracket[1])
        if all(number in known.keys for number in numbers):
            found |= dict.fromkeys(numbers)
    for named in _AUTHOR_YEAR.finditer(text) if known.by_author else ():
        key = known.by_author.get((named["name"].casefold(), named["year"]))
        found |= {key: None} if key else {}
    return tuple(found)


def _numbers(inside: str) -> list[str]:
    """`3, 5-7` -> 3, 5, 6, 7."""
    found: list[str] = []
    for part in re.split(r"[,;]", inside):
        span = _RANGE.search(part)
        if span and 0 <= int(span[2]) - int(span[1]) <= LONGEST_RANGE:
            found += map(str, range(int(span[1]), int(span[2]) + 1))
        else:
            found += re.findall(r"\d+", part)
    return found
