"""The terms of a loss: what each gives of the gradient of the weights that several of them reach."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.accounts.account import Entry, balances, fact, imbalance
from reenact.probe.trace import Experiments, LossTerm, LossTerms, Trace
from reenact.types import Place

NEARLY_ALL = 0.99
MOST = 0.9
"""Share of the gradient that a term gives at first which then falls to nothing."""
DROWNED = 0.9999
"""Share of the gradient from which on another term has no say."""
UNEVEN = 10.0
"""Times that a single element of a term may weigh more than one of another."""
GONE = 0.02
"""Share of its first value to which a term falls whose information is lost."""
LOST = 0.99999
"""The same, from which on it has none whatever becomes of its own weights."""
MEANT = 0.01
"""Times the factor of the other below which a term is meant to weigh little."""
UNMOVED = 0.95
"""Share of its first value that a term keeps of which nothing is learned."""


def term_entries(trace: Trace, experiments: Experiments) -> Iterator[Entry]:
    """Of the loss of the first batch, before the first step and later."""
    seen = {one.when: one for one in experiments.terms}
    first = seen.get("start")
    if first is None or len(first.terms) < 2:
        return
    trained = seen.get("end") or seen.get("one batch")
    last = trained if trained is not None and len(trained.terms) == len(first.terms) else None
    place = first.place or _loss_place(trace)
    yield _reduced_unlike(first, last, place) or _drowned(first, last, place) or _shares(first)


def _shares(seen: LossTerms) -> Entry:
    names = ", ".join(_words(one, seen) for one in seen.terms)
    sentence = f"the loss is made of {len(seen.terms)} terms: {names}"
    if seen.share(seen.largest) > NEARLY_ALL:
        return fact("terms", sentence)
    return balances("terms", sentence)


def _words(term: LossTerm, seen: LossTerms) -> str:
    reduced = f"{term.reduction} of {term.elements}" if term.reduction else "one number"
    if term.alike > 1:
        reduced = f"{term.alike} times the {reduced}"
    return f"{reduced}, {seen.share(term):.2%} of the gradient of what both reach"


def _reduced_unlike(
    first: LossTerms,
    last: LossTerms | None,
    place: Place | None,
) -> Entry | None:
    """One term is a mean over all numbers and the other a sum: the second gives nearly all of the
    gradient of what both reach, and falls to nothing, while the first needs what it destroys.
    """
    number = first.terms.index(first.largest)
    large = first.terms[number]
    others = [one for one in first.terms if one is not large and one.reaches > large.reaches]
    small = max(others, key=lambda one: one.elements, default=None)
    if small is None or first.share(large) < MOST or not large.reductions_differ(small):
        return None
    ratio = (large.weight or 0.0) / small.weight if small.weight else 0.0
    fell = last is not None and _part(last.terms[number], large)
    if ratio < UNEVEN or fell is None or fell is False or fell > GONE:
        return None
    return imbalance(
        "terms-reduced-unlike",
        f"a term that is the {small.reduction} of {small.elements} numbers is added to the "
        f"{large.reduction} of {large.elements}: one number of the second weighs as much as "
        f"{ratio:.0f} of the first; it gives {first.share(large):.2%} of the gradient of what both "
        f"reach, and falls to {fell:.1%} of its first value",
        fault="kl-weight-wrong",
        place=place,
        confidence=0.9,
    )


def _drowned(first: LossTerms, last: LossTerms | None, place: Place | None) -> Entry | None:
    """One term gives all of the gradient of what several reach, and another does not fall."""
    if last is None or not first.shared:
        return None
    number = first.terms.index(first.largest)
    share = min(first.share(first.largest), last.share(last.terms[number]))
    if share < DROWNED:
        return None
    most = UNMOVED if share < LOST else 0.0
    for i, (before, after) in enumerate(zip(first.terms, last.terms, strict=True)):
        kept = _part(after, before)
        meant = abs(before.factor or 0.0) < MEANT * abs(first.largest.factor or 1.0)
        if i == number or kept is None or kept < most or before.reaches <= first.shared or meant:
            continue
        return imbalance(
            "term-drowned",
            f"one term of the loss (value {first.largest.value:.3g}) gives "
            f"{first.share(first.largest):.3%} of the gradient of the weights that several reach; "
            f"another has no say there (value {before.value:.3g}, {after.value:.3g} after training)",
            why="A term whose gradient is lost next to that of another is not trained: scale the "
            "targets, or weigh the terms.",
            place=place,
            confidence=0.8,
        )
    return None


def _part(after: LossTerm, before: LossTerm) -> float | None:
    """What is left of its value; none where that says nothing."""
    if not before.value or after.value is None or before.value * after.value < 0:
        return None
    return after.value / before.value


def _loss_place(trace: Trace) -> Place | None:
    loss = trace.graph.loss if trace.graph is not None else None
    return loss.place if loss is not None else None
