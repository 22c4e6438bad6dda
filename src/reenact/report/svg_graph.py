"""A graph as a drawing: generations from left to right, a dot a node, its words when pointed at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reenact.report.svg import WIDTH, dot, drawing, line, named, text

TOP, LEFT, KEY = 14.0, 40.0, 18.0
ROW = 26.0
LEAST_HEIGHT = 120.0


@dataclass(frozen=True, slots=True)
class Dot:
    """One node."""

    parent: int
    """Number of the node it hangs on; -1 for none."""
    depth: int
    colour: str
    words: str
    large: bool = False


def graph(dots: Sequence[Dot], label: str, key: Mapping[str, str]) -> str:
    """`key` is colour to meaning, written below."""
    columns: dict[int, list[int]] = {}
    for number, one in enumerate(dots):
        columns.setdefault(one.depth, []).append(number)
    widest = max((len(column) for column in columns.values()), default=1)
    height = max(LEAST_HEIGHT, ROW * min(widest, 18))
    places = {
        number: (_across(depth, max(columns)), TOP + height * (at + 0.5) / len(column))
        for depth, column in columns.items()
        for at, number in enumerate(column)
    }
    parts = []
    for number, one in enumerate(dots):
        if one.parent >= 0:
            parts.append(line(*places[one.parent], *places[number], faint=True))
    for number, one in enumerate(dots):
        parts.append(named(dot(*places[number], one.colour, 7.0 if one.large else 5.0), one.words))
    below = TOP + height + KEY
    for at, (colour, meaning) in enumerate(key.items()):
        x = LEFT / 2 + at * (WIDTH - LEFT) / max(1, len(key))
        parts += [dot(x, below, colour, 5.0), text(x + 10, below + 4, meaning)]
    return drawing(parts, below + KEY, label)


def _across(depth: int, deepest: int) -> float:
    return LEFT + (WIDTH - 2 * LEFT) * depth / max(1, deepest)
