"""What a program does to gradients between the last backward pass and the step, by factor and norm."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from reenact.accounts.account import Entry, fact, imbalance
from reenact.probe.books.gradients import GradientsBook, Treated, Treatment
from reenact.probe.trace import Trace

FEWEST = 12
TWICE = 2.0
"""Times that gradients and factors must differ before their order says anything."""
EMPTIED = 0.9
"""Share of the steps."""


def treatment_entries(book: GradientsBook, trace: Trace) -> Iterator[Entry]:
    """Of all steps that were looked at together."""
    treated = [one for one in book.treated if one.came and one.spent is not None]
    yield from _emptied(book, treated)
    scaled = [one for one in treated if one.kind is Treatment.SCALED and one.factor]
    if scaled and not trace.happened("loss-scaled"):
        yield from _scaled(treated, scaled)
    for kind, words in _WORDS.items():
        count = sum(one.kind is kind for one in treated)
        if count:
            yield fact("treatment", f"before {count} of {len(treated)} steps {words}")


_WORDS = {
    Treatment.CLIPPED: "each number of the gradients was clipped",
    Treatment.BY_TENSOR: "each tensor's gradients were scaled by a factor of their own",
    Treatment.CHANGED: "gradients were changed by more than a factor",
}


def _emptied(book: GradientsBook, treated: Sequence[Treated]) -> Iterator[Entry]:
    emptied = sum(one.kind is Treatment.EMPTIED for one in treated)
    if emptied >= 5 and emptied >= EMPTIED * len(treated):
        yield imbalance(
            "cleared-before-step",
            f"gradients were set to zero between the backward pass and the step in {emptied} of "
            f"{len(treated)} steps",
            why="A step that finds zero gradients does not move along the loss.",
            place=book.owners[0].place if book.owners else None,
            confidence=0.9,
        )


def _scaled(treated: Sequence[Treated], scaled: Sequence[Treated]) -> Iterator[Entry]:
    factors = [one.factor for one in scaled if one.factor]
    if turned_round(scaled) and len(scaled) >= 0.5 * len(treated):
        yield imbalance(
            "scaled-down-the-smaller",
            f"gradients are scaled down the more the smaller they are, by up to "
            f"{1 / min(factors):.0f} times",
            fault="gradient-clipping-too-tight",
            confidence=0.9,
        )
        return
    yield fact(
        "treatment",
        f"before {len(scaled)} of {len(treated)} steps all gradients were multiplied by one "
        f"factor, {min(factors):.3g} to {max(factors):.3g}",
    )


def turned_round(scaled: Sequence[Treated]) -> bool:
    """Whether the factor is the smaller the smaller the gradients are: a limit makes large ones
    smaller alone.
    """
    known = sorted((one.came, one.factor) for one in scaled if one.came and one.factor)
    if len(known) < FEWEST:
        return False
    norms = [norm for norm, _ in known]
    factors = [factor for _, factor in known]
    if max(norms) < TWICE * min(norms) or min(factors) <= 0 or max(factors) < TWICE * min(factors):
        return False
    return min(factors) < 1 and _rises([math.log(factor) for factor in factors])


def _rises(values: Sequence[float]) -> bool:
    """Whether nearly every value of the lower quarter is below nearly every one of the upper."""
    quarter = len(values) // 4
    return max(values[:quarter]) < min(values[-quarter:])
