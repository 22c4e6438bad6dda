"""How far judges agree: Cohen's kappa, Krippendorff's alpha, Pearson's r; none where it is not defined."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from pathlib import Path
from typing import TypeAlias

from reenact.errors import InputError
from reenact.files import read_text

Rating: TypeAlias = float | str | None
"""What a judge said of an item; none where nothing was said."""
Distance: TypeAlias = Callable[[Rating, Rating], float]
MOST_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Judgements:
    """What several judges said of the same items."""

    items: tuple[str, ...]
    judges: tuple[str, ...]
    ratings: tuple[tuple[Rating, ...], ...]
    """One row an item, one place a judge."""

    @property
    def in_numbers(self) -> bool:
        said = [one for row in self.ratings for one in row if one is not None]
        return bool(said) and all(isinstance(one, float) for one in said)

    def of(self, judge: str) -> tuple[Rating, ...]:
        place = self.judges.index(judge)
        return tuple(row[place] for row in self.ratings)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges beside one another."""

    first: str
    second: str
    n: int
    """Items that both judged."""
    same: float | None
    """Share of them with the same rating."""
    kappa: float | None
    pearson: float | None
    """Only between numbers."""


def agreements(judgements: Judgements) -> tuple[Agreement, ...]:
    """Every pair of judges."""
    return tuple(_pair(judgements, first, second) for first, second in combinations(judgements.judges, 2))


def cohen_kappa(
    first: Sequence[Rating], second: Sequence[Rating], distance: Distance | None = None
) -> float | None:
    """Agreement beyond chance; with `distance` the weighted kappa. None when chance alone agrees fully."""
    apart = distance or nominal
    pairs = _both(first, second)
    if not pairs:
        return None
    seen = sum(apart(a, b) for a, b in pairs) / len(pairs)
    expected = sum(apart(a, b) for a, _ in pairs for _, b in pairs) / len(pairs) ** 2
    return None if expected == 0 else 1 - seen / expected


def krippendorff_alpha(ratings: Sequence[Sequence[Rating]], distance: Distance | None = None) -> float | None:
    """Agreement of any number of judges, some of whom may be silent; `ratings` has a row an item."""
    apart = distance or nominal
    rows = [said for row in ratings if len(said := [one for one in row if one is not None]) > 1]
    values = [one for row in rows for one in row]
    n = len(values)
    if n < 2:
        return None
    seen = sum(sum(apart(a, b) for a, b in permutations(row, 2)) / (len(row) - 1) for row in rows) / n
    expected = sum(apart(a, b) for a, b in permutations(values, 2)) / (n * (n - 1))
    return None if expected == 0 else 1 - seen / expected


def pearson(first: Sequence[float | None], second: Sequence[float | None]) -> float | None:
    """Correlation of two series; none with fewer than three pairs, or where one does not vary."""
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    if len(pairs) < 3:
        return None
    mean_a = math.fsum(a for a, _ in pairs) / len(pairs)
    mean_b = math.fsum(b for _, b in pairs) / len(pairs)
    shared = math.fsum((a - mean_a) * (b - mean_b) for a, b in pairs)
    spread = math.sqrt(
        math.fsum((a - mean_a) ** 2 for a, _ in pairs) * math.fsum((b - mean_b) ** 2 for _, b in pairs)
    )
    return None if spread == 0 else max(-1.0, min(1.0, shared / spread))


def nominal(first: Rating, second: Rating) -> float:
    """Same or not."""
    return float(first != second)


def interval(first: Rating, second: Rating) -> float:
    """Squared difference of numbers."""
    if isinstance(first, float | int) and isinstance(second, float | int):
        return float(first - second) ** 2
    return nominal(first, second)


def read_judgements(file: Path) -> Judgements:
    """A table of CSV: a heading (item, then judges), a row an item; an empty cell says nothing."""
    try:
        rows = [row for row in csv.reader(read_text(file, MOST_BYTES).splitlines()) if any(row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"The judgements cannot be read: {error}. Received: {file}") from error
    if len(rows) < 2 or len(rows[0]) < 3:
        raise InputError(
            f"The judgements need a heading with at least two judges, and items. Received: {file}",
            next_step="Write `item,first,second` and one line an item.",
        )
    heading, *body = rows
    if wrong := [row for row in body if len(row) != len(heading)]:
        raise InputError(
            f"The line of {wrong[0][0]!r} has {len(wrong[0])} cells, the heading {len(heading)}."
        )
    return Judgements(
        items=tuple(row[0].strip() for row in body),
        judges=tuple(name.strip() for name in heading[1:]),
        ratings=tuple(tuple(_rating(cell) for cell in row[1:]) for row in body),
    )


def _rating(cell: str) -> Rating:
    text = cell.strip()
    if not text or text.casefold() == "cannot judge":
        return None
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def _both(first: Sequence[Rating], second: Sequence[Rating]) -> list[tuple[Rating, Rating]]:
    return [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]


def _pair(judgements: Judgements, first: str, second: str) -> Agreement:
    one, other = judgements.of(first), judgements.of(second)
    pairs = _both(one, other)
    numbers = [(a, b) for a, b in pairs if isinstance(a, float) and isinstance(b, float)]
    all_numbers = len(numbers) == len(pairs)
    return Agreement(
        first=first,
        second=second,
        n=len(pairs),
        same=sum(a == b for a, b in pairs) / len(pairs) if pairs else None,
        kappa=cohen_kappa(one, other),
        pearson=pearson([a for a, _ in numbers], [b for _, b in numbers]) if all_numbers else None,
    )
