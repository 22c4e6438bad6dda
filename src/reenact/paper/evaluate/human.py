"""The human rubric as a form: method 10, parameters 5, pipeline 5. Written empty, read when filled.

A form is TOML, so that it can be filled in any editor and read without guessing.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from reenact.errors import InputError
from reenact.files import read_text

MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Dimension:
    """What is judged, and how many points it has."""

    name: str
    most: int
    question: str
    bands: tuple[tuple[str, str], ...]
    """Points, and what they stand for."""


DIMENSIONS = (
    Dimension(
        "method",
        10,
        "Is the paper's own idea there: algorithm, architecture, losses?",
        (
            ("0-1", "absent or wrong throughout; a plain baseline in its place"),
            ("2-4", "attempted, with whole parts missing or another formula"),
            ("5-7", "the idea is there, simplified or inexact in places that can be seen"),
            ("8-9", "follows the reference closely; only names and arrangement differ"),
            ("10", "does exactly what the reference does"),
        ),
    ),
    Dimension(
        "parameters",
        5,
        "Are sizes, rates, schedules and constants those of the reference?",
        (
            ("0", "defaults of the library, or values that contradict the paper"),
            ("1", "set, but the sizes of the model are wrong"),
            ("2", "sizes mostly right; training settings or loss weights missing or wrong"),
            ("3", "most are right, single ones differ"),
            ("4", "all but ones that do not matter"),
            ("5", "all of them"),
        ),
    ),
    Dimension(
        "pipeline",
        5,
        "Are data, training loop and evaluation those of the paper?",
        (
            ("0", "does not work, or does another task"),
            ("1", "there is a loop, but data are loaded or shaped wrongly"),
            ("2", "a standard pipeline without anything that the paper adds"),
            ("3", "right in outline; a metric or a step of the evaluation is missing"),
            ("4", "as in the paper but for logging, seeds or exact splits"),
            ("5", "preprocessing, splits and metrics exactly as in the reference"),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Form:
    """What one rater said; none where a score was left open."""

    title: str
    rater: str
    scores: tuple[float | None, ...]
    """In the order of DIMENSIONS."""
    reasons: tuple[str, ...]

    @property
    def total(self) -> float | None:
        """Out of 20; none when anything is open."""
        said = [score for score in self.scores if score is not None]
        return sum(said) if len(said) == len(self.scores) else None


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
    lines = [
        "# How faithful is the generated code? Compare it with the paper and the reference implementation.",
        "# Judge what the code does: comments, names and style do not count, and what only looks alike is",
        "# not the same. Give a number and say what it rests on. Leave a score empty if you cannot judge.",
        "",
        f"title = {json.dumps(title)}",
        'rater = ""',
    ]
    for one in DIMENSIONS:
        lines += ["", f"[{one.name}]", f"# {one.question} 0 to {one.most}."]
        lines += [f"#   {points:>4}  {words}" for points, words in one.bands]
        lines += ['score = ""', 'reason = ""']
    return "\n".join(lines) + "\n"


def read_form(file: Path) -> Form:
    """A filled form. InputError for a score out of range, or a file that is none of ours."""
    try:
        told = tomllib.loads(read_text(file, MOST_BYTES))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"The form cannot be read: {error}. Received: {file}") from error
    parts = [told.get(one.name) for one in DIMENSIONS]
    missing = [one.name for one, part in zip(DIMENSIONS, parts, strict=True) if not isinstance(part, dict)]
    if missing:
        raise InputError(
            f"The form {file} has no section [{missing[0]}].",
            next_step="Write an empty form with `reenact evaluate CODE --form FILE` and fill that.",
        )
    tables = [part for part in parts if isinstance(part, dict)]
    return Form(
        title=str(told.get("title", "")),
        rater=str(told.get("rater", "")) or file.stem,
        scores=tuple(
            _score(table.get("score", ""), one, file) for one, table in zip(DIMENSIONS, tables, strict=True)
        ),
        reasons=tuple(str(table.get("reason", "")) for table in tables),
    )


def human_scores(forms: Sequence[Form]) -> tuple[HumanScore, ...]:
    """Mean and spread of each dimension and of the total, over the raters that gave it."""
    columns = [
        (one.name, one.most, [form.scores[place] for form in forms]) for place, one in enumerate(DIMENSIONS)
    ]
    columns.append(("overall", sum(one.most for one in DIMENSIONS), [form.total for form in forms]))
    return tuple(_over(name, most, [one for one in said if one is not None]) for name, most, said in columns)


def _over(name: str, most: int, said: Sequence[float]) -> HumanScore:
    return HumanScore(
        name, most, len(said), fmean(said) if said else None, stdev(said) if len(said) > 1 else None
    )


def _score(value: object, dimension: Dimension, file: Path) -> float | None:
    if isinstance(value, str) and not value.strip():
        return None
    try:
        number = (
            float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
        )
    except ValueError:
        number = None
    if number is None or not 0 <= number <= dimension.most:
        raise InputError(
            f"The score of [{dimension.name}] must be a number from 0 to {dimension.most}. "
            f"Received: {value!r} in {file}"
        )
    return number
