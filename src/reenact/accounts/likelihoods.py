"""Entries on cross-entropies that a program writes itself."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.accounts.account import Entry, balances, imbalance
from reenact.accounts.divergences import axes_of_ones
from reenact.probe.books.formulas import FormulasBook, WrittenOut

FEWEST = 2
"""Losses of one form below which nothing is reported."""
ALL = 0.9


def likelihood_entries(book: FormulasBook, climbs: bool) -> Iterator[Entry]:
    """One entry per line that goes backward."""
    for one in book.likelihoods:
        if one.seen >= FEWEST:
            # What torch offers as a divergence is of this form as well.
            yield from _entry(one, climbs, of_torch=bool(book.divergences))


def _entry(one: WrittenOut, climbs: bool, of_torch: bool) -> Iterator[Entry]:
    place = one.place or one.backward.place
    targets = axes_of_ones(one.target_sums)
    if targets and one.axis not in targets and not of_torch:
        yield imbalance(
            "softmax-along-another-axis",
            f"the logarithm of a softmax along axis {one.axis} is multiplied by targets that add up to 1 "
            f"along axis {min(targets)}",
            why="The probabilities of the classes of one row do not add up to 1: the softmax goes over "
            "another axis.",
            place=place,
            confidence=0.9,
        )
    elif one.raised >= ALL * one.seen and not climbs:
        yield imbalance(
            "likelihood-lowered",
            "the loss is made of logarithms of probabilities, and grows with them: a step makes the "
            "classes that are asked for less likely",
            fault="wrong-sign-in-loss",
            place=place,
            confidence=0.85,
        )
    elif targets:
        yield balances(
            "cross-entropy",
            f"a cross-entropy that is written out has softmax and targets along axis {one.axis}",
        )
