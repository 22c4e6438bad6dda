"""What a run tells of its training: lines with a number, a bounded share of each kind however many there are.

Lines are of one kind when they differ in their numbers alone, so that two methods which report in turn are
thinned each by itself, and none of them is lost.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

MOST_LINES = 500
"""Of one kind; beyond that every second one is dropped, again and again."""
MOST_KINDS = 64
LONGEST_LINE = 600
LARGEST_WHOLE = 1 << 20
"""Bytes of a file that cannot be thinned by lines."""
_NUMBER = re.compile(r"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?|\bnan\b|[-+]?\binf\b", re.IGNORECASE)


@dataclass(slots=True)
class _Kind:
    every: int = 1
    count: int = 0
    lines: list[tuple[int, str]] = field(default_factory=list)
    last: tuple[int, str] = (0, "")

    def add(self, number: int, line: str) -> None:
        self.last = (number, line)
        if self.count % self.every == 0:
            self.lines.append(self.last)
        self.count += 1
        if len(self.lines) >= MOST_LINES:
            self.lines = self.lines[::2]
            self.every *= 2


class LogSampler:
    """Hears what is printed while it is printed, and keeps the lines that tell a number."""

    def __init__(self) -> None:
        self._kinds: dict[str, _Kind] = {}
        self._rest = ""
        self._number = 0

    def __call__(self, data: bytes) -> None:
        """Take what one read gave; a listener of a box."""
        *lines, self._rest = (self._rest + data.decode("utf-8", "replace")).split("\n")
        self._rest = self._rest[: LONGEST_LINE + 1]
        self.take(lines)

    def take(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._number += 1
            kind = _NUMBER.sub("#", line)
            if len(line) > LONGEST_LINE or kind == line:
                continue
            if kind in self._kinds or len(self._kinds) < MOST_KINDS:
                self._kinds.setdefault(kind, _Kind()).add(self._number, line)

    def text(self) -> str:
        """What was kept, in the order in which it was printed."""
        if self._rest:
            self.take([self._rest])
            self._rest = ""
        kept = {line for one in self._kinds.values() for line in (*one.lines, one.last)}
        return "\n".join(line for _, line in sorted(kept))


def thinned(logs: Mapping[str, bytes]) -> dict[str, str]:
    """Log files as text, long ones thinned; one that is no text, or JSON of too many bytes, is left out."""
    found = {}
    for name, data in logs.items():
        text = data.decode("utf-8", "replace")
        if name.endswith(".json") and len(data) <= LARGEST_WHOLE:
            found[name] = text
        elif not name.endswith(".json") and "\0" not in text:
            lines = text.splitlines()
            sampler = LogSampler()
            sampler.take(lines[1:])
            # The first line of a table has names and no number.
            found[name] = "\n".join([*lines[:1], sampler.text()])
    return found
