"""Entries on losses of classes: whether they are given scores, or logarithms of probabilities."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.accounts.account import Entry, balances, fact, imbalance
from reenact.probe.books.formulas import FormulasBook, ScoresCall, Shifted
from reenact.types import Place

SAME = 0.02
"""By which a sum of probabilities may differ from 1: numbers of 16 bits, and smoothing."""
ABOVE = 0.05
"""By which a logarithm of a probability may be above 0."""
BELOW = -1e-3
"""The same of a probability below 0."""
MOST_ROWS = 0.5
TWICE = "softmax-before-cross-entropy"
UNLIKE = "output-does-not-fit-loss"
LOGITS = {
    "cross_entropy": "softmax",
    "binary_cross_entropy_with_logits": "sigmoid",
}
"""What a loss applies itself."""


def score_entries(book: FormulasBook) -> Iterator[Entry]:
    """One entry per line that calls such a loss."""
    by_line: dict[Place | None, list[ScoresCall]] = {}
    for call in book.scores:
        by_line.setdefault(call.place, []).append(call)
    for calls in by_line.values():
        wrong = [entry for call in calls if (entry := _wrong(call)) is not None]
        if len(wrong) == len(calls):
            yield wrong[0]
        elif not wrong:
            yield from _right(calls[-1])


def _wrong(call: ScoresCall) -> Entry | None:
    own = LOGITS.get(call.loss)
    probable = call.classes > 1 and call.given[0] >= 0 and _is_one(call.sums)
    if own == "softmax" and (probable or call.bend == "softmax"):
        return imbalance(
            "probabilities-as-scores",
            f"{call.loss} takes scores and is given probabilities, which add up to 1 in each row: the "
            "softmax is applied twice",
            fault=TWICE,
            place=call.place,
            confidence=0.92,
            is_proof=call.bend == "softmax",
        )
    if own == "sigmoid" and call.bend == "sigmoid":
        return imbalance(
            "probabilities-as-scores",
            f"{call.loss} takes scores and is given the output of a sigmoid, which is applied twice",
            fault=TWICE,
            place=call.place,
            confidence=0.92,
        )
    if call.loss == "nll_loss" and call.given[1] > ABOVE and not _is_one(call.exp_sums):
        given = "probabilities" if probable else f"numbers up to {call.given[1]:.3g}"
        return imbalance(
            "no-log-probabilities",
            f"nll_loss takes log-probabilities and is given {given}",
            fault=UNLIKE,
            place=call.place,
            confidence=0.9,
            is_proof=probable,
        )
    if call.shifted is not None:
        return _without_effect(call, call.shifted)
    return _no_distribution(call)


def _no_distribution(call: ScoresCall) -> Entry | None:
    """Targets below 0 that are not weights of one class each, and no smoothing."""
    soft = call.soft
    if soft is None or soft.range[0] >= BELOW or soft.several < MOST_ROWS or _is_one(soft.sums):
        return None
    return imbalance(
        "no-target-distribution",
        f"the targets of {call.loss} go from {soft.range[0]:.3g} to {soft.range[1]:.3g}",
        why="A cross-entropy takes the probability of each class: with a target below 0 it has no "
        "lower bound.",
        place=call.place,
        confidence=0.9,
    )


def _right(call: ScoresCall) -> Iterator[Entry]:
    if call.loss == "nll_loss" and not _is_one(call.exp_sums):
        yield fact(
            "scores", "what nll_loss is given adds up to 1 in no row, as probabilities", call.place
        )
    elif call.loss == "cross_entropy" and call.bend == "log_sigmoid":
        yield fact("scores", "cross_entropy is given the logarithm of a sigmoid", call.place)
    else:
        given = "log-probabilities" if call.loss == "nll_loss" else "scores"
        yield balances("scores", f"{call.loss} is given {given}")


def _is_one(sums: tuple[float, ...]) -> bool:
    return bool(sums) and max(abs(one - 1) for one in sums) <= SAME


def _without_effect(call: ScoresCall, shifted: Shifted) -> Entry:
    return imbalance(
        "added-without-effect",
        f"one number is added to all {call.classes} scores of a row before {call.loss}: the softmax "
        "cancels it, so that it changes neither the loss nor a gradient",
        why="A correction of single classes has to differ from class to class: it is broadcast along "
        "the wrong axis.",
        place=shifted.place or call.place,
        confidence=0.9,
    )
