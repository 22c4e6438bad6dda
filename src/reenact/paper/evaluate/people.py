"""People as judges: the human rubric (10/5/5) as a form, and how far any judges agree.

A form is TOML, so that it can be filled in any editor and read without guessing. Agreement is
Cohen's kappa, Krippendorff's alpha and Pearson's r; none where it is not defined.
"""

import csv
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations, permutations
from pathlib import Path
from statistics import StatisticsError, correlation, fmean, stdev
from typing import TypeAlias

from reenact.errors import InputError, UnreadableToml
from reenact.files import read_text, read_toml

MOST_BYTES = 4 * 1024 * 1024
DIMENSIONS = {"method": 10, "parameters": 5, "pipeline": 5}
"""What is judged and how many points it has, as form.toml explains it."""
FEWEST_PAIRS = 3
"""For a correlation."""
Rating: TypeAlias = float | str | None
"""One judge's rating of an item; none where there is none."""
Distance: TypeAlias = Callable[[Rating, Rating], float]


@dataclass(frozen=True, slots=True)
class Form:
    """One rater's scores; none where a score was left open."""

    title: str
    rater: str
    scores: tuple[float | None, ...]
    """In the order of DIMENSIONS."""
    reasons: tuple[str, ...]

    @property
    def total(self) -> float | None:
        """Out of 20; none when anything is open."""
        given = [score for score in self.scores if score is not None]
        if len(given) == len(self.scores):
            return sum(given)
        return None


@dataclass(frozen=True, slots=True)
class HumanScore:
    """A dimension over raters."""

    dimension: str
    most: int
    raters: int
    mean: float | None
    spread: float | None
    """Standard deviation; none with fewer than two raters."""


def empty_form(title: str) -> str:
    """The text of a form to be filled."""
    text = files("reenact.paper.evaluate").joinpath("form.toml").read_text(encoding="utf-8")
    return text.replace(
        'title = ""',
        f"title = {json.dumps(title)}",
        1,
    )


def read_form(file: Path) -> Form:
    """A filled form. InputError for a score out of range, or a file that is not one of ours."""
    try:
        filled = read_toml(file, MOST_BYTES)
    except (OSError, UnreadableToml) as error:
        raise InputError(f"The form cannot be read: {error}. Received: {file}") from error
    for name in DIMENSIONS:
        if not isinstance(filled.get(name), dict):
            how = "Write an empty form with `reenact evaluate CODE --form FILE` and fill that."
            raise InputError(
                f"The form {file} has no section [{name}].",
                next_step=how,
            )
    scores = tuple(
        _score(
            filled[name].get("score", ""),
            name,
            file,
        )
        for name in DIMENSIONS
    )
    reasons = tuple(str(filled[name].get("reason", "")) for name in DIMENSIONS)
    return Form(
        str(filled.get("title", "")),
        str(filled.get("rater", "")) or file.stem,
        scores,
        reasons,
    )


def _score(value: object, dimension: str, file: Path) -> float | None:
    if isinstance(value, str) and not value.strip():
        return None
    number = None if isinstance(value, bool) else _number(str(value))
    most = DIMENSIONS[dimension]
    if number is None or not 0 <= number <= most:
        wanted = f"The score of [{dimension}] must be a number from 0 to {most}."
        raise InputError(f"{wanted} Received: {value!r} in {file}")
    return number


def human_scores(forms: Sequence[Form]) -> tuple[HumanScore, ...]:
    """Mean and spread of each dimension and of the total, over the raters that gave it."""
    found = []
    for at, (name, most) in enumerate(
        {
            **DIMENSIONS,
            "overall": sum(DIMENSIONS.values()),
        }.items()
    ):
        column = [(*form.scores, form.total)[at] for form in forms]
        given = [score for score in column if score is not None]
        mean = fmean(given) if given else None
        spread = None
        if len(given) > 1:
            spread = stdev(given)
        found.append(
            HumanScore(
                name,
                most=most,
                raters=len(given),
                mean=mean,
                spread=spread,
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges next to one another."""

    first: str
    second: str
    n: int
    """Items that both judged."""
    same: float | None
    """Share of them with the same rating."""
    kappa: float | None
    pearson: float | None
    """Only between numbers."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Judges next to one another."""

    pairs: tuple[Agreement, ...]
    alpha: float | None
    """Krippendorff's, over all of them."""
    items: int


def read_panel(file: Path) -> Panel:
    """The judges of a CSV table: a heading (item, then judges), a row an item; an empty cell is
    no rating.
    """
    try:
        rows = [row for row in csv.reader(read_text(file, MOST_BYTES).splitlines()) if any(row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"The judgements cannot be read: {error}. Received: {file}") from error
    if len(rows) < 2 or len(rows[0]) < 3:
        why = f"The judgements need a heading with at least two judges, and items. Received: {file}"
        raise InputError(why, next_step="Write `item,first,second` and one line an item.")
    heading, *body = rows
    if wrong := next(
        (row for row in body if len(row) != len(heading)),
        None,
    ):
        raise InputError(
            f"The line of {wrong[0]!r} has {len(wrong)} cells, the heading {len(heading)}."
        )
    ratings = [[_rating(cell) for cell in row[1:]] for row in body]
    judges = dict(
        zip(
            (name.strip() for name in heading[1:]),
            zip(*ratings, strict=True),
            strict=True,
        )
    )
    pairs = tuple(_agreement(*pair) for pair in combinations(judges.items(), 2))
    given = [rating for row in ratings for rating in row if rating is not None]
    numeric = bool(given) and all(isinstance(rating, float) for rating in given)
    return Panel(
        pairs,
        krippendorff_alpha(ratings, interval if numeric else nominal),
        len(body),
    )


def _rating(cell: str) -> Rating:
    text = cell.strip()
    if not text or text.casefold() == "cannot judge":
        return None
    number = _number(text)
    if number is not None and math.isfinite(number):
        return number
    return text


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _agreement(
    one: tuple[str, Sequence[Rating]],
    other: tuple[str, Sequence[Rating]],
) -> Agreement:
    (first, mine), (second, yours) = one, other
    pairs = _both(mine, yours)
    numbers = [(a, b) for a, b in pairs if isinstance(a, float) and isinstance(b, float)]
    same = None
    if pairs:
        same = sum(a == b for a, b in pairs) / len(pairs)
    r = None
    if len(numbers) == len(pairs):
        r = pearson(numbers)
    return Agreement(
        first,
        second=second,
        n=len(pairs),
        same=same,
        kappa=cohen_kappa(mine, yours),
        pearson=r,
    )


def _both(
    first: Sequence[Rating],
    second: Sequence[Rating],
) -> list[tuple[Rating, Rating]]:
    return [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]


def cohen_kappa(
    first: Sequence[Rating],
    second: Sequence[Rating],
) -> float | None:
    """Agreement beyond chance; none when chance alone agrees fully."""
    pairs = _both(first, second)
    if not pairs:
        return None
    apart = sum(nominal(a, b) for a, b in pairs) / len(pairs)
    expected = sum(nominal(a, b) for a, _ in pairs for _, b in pairs) / len(pairs) ** 2
    if expected == 0:
        return None
    return 1 - apart / expected


def krippendorff_alpha(
    ratings: Sequence[Sequence[Rating]],
    distance: Distance,
) -> float | None:
    """Agreement of any number of judges, some of whom may be silent; `ratings` has a row an
    item.
    """
    rows = [given for row in ratings if len(given := [one for one in row if one is not None]) > 1]
    values = [one for row in rows for one in row]
    n = len(values)
    if n < 2:
        return None
    apart = (
        sum(sum(distance(a, b) for a, b in permutations(row, 2)) / (len(row) - 1) for row in rows)
        / n
    )
    expected = sum(distance(a, b) for a, b in permutations(values, 2)) / (n * (n - 1))
    if expected == 0:
        return None
    return 1 - apart / expected


def nominal(first: Rating, second: Rating) -> float:
    """Same or not."""
    return float(first != second)


def interval(first: Rating, second: Rating) -> float:
    """Squared difference of numbers."""
    numbers = isinstance(first, float | int) and isinstance(second, float | int)
    return float(first - second) ** 2 if numbers else nominal(first, second)  # type: ignore[operator]


def pearson(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Correlation; none with fewer than three pairs, or where one side does not vary."""
    try:
        return correlation(*zip(*pairs, strict=True)) if len(pairs) >= FEWEST_PAIRS else None
    except StatisticsError:
        return None
