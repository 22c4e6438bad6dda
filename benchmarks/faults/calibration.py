"""Does a confidence keep its word? Accusations by how sure they were, beside how often they were right.

Right is an finding of a buggy program that the best ground truth holds; every finding of a fixed twin
is wrong. The Brier score is the mean squared distance between confidence and truth; that of always saying the
share of right ones is what a confidence must beat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from benchmarks.faults.case import FaultCase
from benchmarks.faults.scores import judge, parse_answer, score
from benchmarks.scorecard import Table

EDGES = (0.0, 0.5, 0.7, 0.8, 0.9, 1.01)


@dataclass(frozen=True, slots=True)
class Statement:
    """One finding: how sure it was, and whether it was right."""

    confidence: float
    right: bool


def statements_of(
    reported: Sequence[tuple[str, float]], case: FaultCase, fixed: bool
) -> list[Statement]:
    """Accusations of one program, each `HLR` or `ACH(2)` with its confidence, held against the
    truth.
    """
    if fixed:
        return [Statement(confidence, right=False) for _, confidence in reported]
    whole = frozenset().union(*(parse_answer(text) for text, _ in reported))
    truth = judge(whole, case.truth, case.alternatives).truth
    return [
        Statement(sure, right=score(parse_answer(text), truth).precision > 0)
        for text, sure in reported
    ]


def table(statements: Sequence[Statement]) -> Table:
    """One row a band of confidence, and the Brier score beside that of the mere share."""
    rows = []
    for low, high in pairwise(EDGES):
        band = [one for one in statements if low <= one.confidence < high]
        if band:
            rows.append((f"{low:.1f} to {min(high, 1.0):.1f}", *_cells(band)))
    if statements:
        share = fmean(one.right for one in statements)
        brier = fmean((one.confidence - one.right) ** 2 for one in statements)
        rows.append(
            (
                f"all: Brier {brier:.3f}, of the mere share {share * (1 - share):.3f}",
                *_cells(statements),
            )
        )
    return Table(
        "How sure, and how often right",
        ("confidence", "findings", "statements", "right"),
        tuple(rows),
    )


def _cells(statements: Sequence[Statement]) -> tuple[str, str, str]:
    return (
        str(len(statements)),
        f"{fmean(one.confidence for one in statements):.2f}",
        f"{fmean(one.right for one in statements):.2f}",
    )
