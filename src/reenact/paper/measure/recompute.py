"""A metric of a known family, looked for among what our driver computed from predictions and
labels.

A program may report one evaluation, the mean over several of the same kind (seeds, folds, the last
epochs), or the mean over mini-batches. A number that is not one of these, though predictions with
labels were seen, is not what the program's model predicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean

from pydantic import BaseModel

from reenact.paper.measure.control import Source
from reenact.paper.review.claims import PaperClaim

SAME = 1e-3
"""Relative difference of a reported number and the one that was recomputed."""
ROUNDED = 1e-2
"""The same where the program rounds; no rounding explains more."""
MOST_GROUPS = 64
"""Methods or folds whose evaluations follow one another."""
LAST = 50
"""Evaluations at the end over which a mean may be taken."""
NOT_KNOWN = re.compile(
    r"(?i)@|\bstd\b|deviation|\bword\b|\bcharacter\b|\baverage precision\b|\bmean average\b"
    r"|\bgap\b|\bdifference\b"
)
"""Words that make another quantity of a known one."""
NLL = ("nll", "nll of probabilities", "bits", "bits of probabilities")
FAMILIES: Mapping[str, tuple[str, ...]] = {
    r"accuracy|\bacc\b": ("accuracy", "balanced accuracy", "top-5 accuracy"),
    r"(?:classification|test|top-[15]) error|error rate|misclassif": (
        "error",
        "top-5 error",
    ),
    r"\brmse\b|root.mean.square": ("rmse", "nrmse"),
    r"\bn?mse\b|squared error": ("mse", "half mse", "sse", "nmse"),
    r"\bmae\b|absolute error": ("mae",),
    r"\br2\b|\br\^2|\br²|r.squared|explained variance|coefficient of determination": (
        "r2",
        "explained variance",
    ),
    r"cross.entropy|\bnll\b|log.?loss|log.likelihood|bits per": NLL,
    r"perplexity|\bppl\b": ("perplexity", "perplexity of probabilities"),
    r"\bf1\b|\bf-?1.score|f-measure": ("f1", "macro f1", "weighted f1", "accuracy"),
    r"\bau(?:ro)?c\b|area under": ("auc",),
    r"\bprecision\b": ("precision",),
    r"\brecall\b|sensitivity": ("recall", "balanced accuracy"),
    r"\bbrier\b": ("brier",),
}
"""How papers name a family, and the quantities that may be meant."""


class Pass(BaseModel):
    """What our driver computed of one evaluation."""

    series: str
    """Evaluations with the same name were made in the same way."""
    guessed: bool
    """The labels were found among variables of the program, not seen in a computation."""
    of: dict[str, tuple[float | None, float | None]]
    """By quantity: that of the predictions, and that of a constant answer."""


@dataclass(frozen=True, slots=True)
class Recomputed:
    """Whether a reported number follows from predictions that were seen."""

    source: Source
    constant: float | None = None
    """What a constant answer gives on the same labels, in the unit that the program reports."""


def family_of(claim: PaperClaim) -> tuple[str, ...]:
    """Quantities that the claim's metric may be; none when its family is not known."""
    if NOT_KNOWN.search(claim.metric):
        return ()
    names = claim.metric.replace("_", " ")
    found = (
        members for pattern, members in FAMILIES.items() if re.search(pattern, names, re.IGNORECASE)
    )
    members = next(found, ())
    # "Test error" of a regression is not a share of wrong answers.
    if members == ("error", "top-5 error") and claim.unit != "%" and claim.value > 1:
        return ()
    return members


def recomputed(
    reported: float,
    family: Sequence[str],
    passes: Sequence[Pass],
) -> Recomputed:
    """Where the number comes from. `family`: the quantities that it may be."""
    seen = False
    for name in family:
        for guessed, values, constants in _series(name, passes):
            seen = seen or not guessed
            for value, constant in _candidates(values, constants):
                for times in (1.0, 100.0, -1.0):
                    if _is_same(reported, times * value):
                        known = times * constant if isfinite(constant) else None
                        return Recomputed(Source.RECOMPUTED, known)
    return Recomputed(Source.NOT_CONFIRMED if seen else Source.AS_REPORTED)


def _series(
    name: str,
    passes: Sequence[Pass],
) -> Iterator[tuple[bool, list[float], list[float]]]:
    """Values of one quantity in evaluations of the same kind, in their order."""
    found: dict[tuple[str, bool], tuple[list[float], list[float]]] = {}
    for one in passes:
        value, constant = one.of.get(name, (None, None))
        if value is not None:
            values, constants = found.setdefault(
                (one.series, one.guessed),
                ([], []),
            )
            values.append(value)
            constants.append(float("nan") if constant is None else constant)
    for (_, guessed), (values, constants) in found.items():
        yield guessed, values, constants


def _candidates(
    values: Sequence[float], constants: Sequence[float]
) -> Iterator[tuple[float, float]]:
    """Single evaluations, means over equal groups of them, means over the last ones."""
    yield from zip(values, constants, strict=True)
    count = len(values)
    for groups in range(1, min(count // 2, MOST_GROUPS) + 1):
        if count % groups == 0:
            size = count // groups
            for start in range(0, count, size):
                yield (
                    fmean(values[start : start + size]),
                    fmean(constants[start : start + size]),
                )
    for last in range(2, min(count, LAST) + 1):
        yield fmean(values[-last:]), fmean(constants[-last:])


def _is_same(reported: float, value: float) -> bool:
    digits = 12
    if "e" not in repr(reported):
        digits = len(repr(reported).partition(".")[2])
    rounding = min(0.5 * 10.0**-digits, ROUNDED * abs(reported))
    return abs(reported - value) <= max(SAME * abs(reported), rounding, 1e-12)
