"""The account of gradients: each backward pass is income, each step of an optimizer is spending."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from reenact.accounts.account import Account, BookName, Entry, balances, fact, imbalance, unseen
from reenact.accounts.spending import spending_entries
from reenact.accounts.terms import term_entries
from reenact.accounts.treatments import treatment_entries
from reenact.probe.books.gradients import GradientsBook, Owner, Treatment
from reenact.probe.trace import Experiments, Trace

FEWEST = 3
"""Steps below which nothing is reported."""
OFTEN = 0.9
"""Share of the steps that spend again, from which on no clearing is meant."""
HALF = 0.5
ALL = 0.95
THROWN = 0.4
"""Share of the passes."""
FEWEST_PASSES = 8


def gradients_account(trace: Trace, experiments: Experiments) -> Account | None:
    """What became of every gradient that was looked at."""
    book = trace.books.gradients if trace.books is not None else None
    if book is None:
        return None
    entries = chain(
        _coverage(book),
        *(_spent_again(one, trace) for one in book.owners),
        _thrown_away(book),
        _lost(book, trace),
        _balanced(book),
        treatment_entries(book, trace),
        spending_entries(trace),
        term_entries(trace, experiments),
    )
    return Account(BookName.GRADIENTS, tuple(entries))


def _coverage(book: GradientsBook) -> Iterator[Entry]:
    hidden = sum(one.tensors - one.usable for one in book.owners)
    if hidden:
        all_tensors = sum(one.tensors for one in book.owners)
        yield unseen(
            "income",
            f"{hidden} of {all_tensors} tensors of the optimizers are of a kind whose gradients "
            "are not looked at",
        )


def _spent_again(owner: Owner, trace: Trace) -> Iterator[Entry]:
    """Gradients that an earlier step had spent are in what the next one spends."""
    if owner.again < FEWEST:
        return
    sentence = (
        f"{owner.again} of {owner.steps} steps of {_named(owner)} spend gradients again that an "
        f"earlier step had spent ({owner.again_share:.0%} of its gradients)"
    )
    if owner.again >= OFTEN * owner.steps or _cleared_each_epoch(owner, trace):
        yield imbalance(
            "spent-again",
            sentence,
            fault="missing-zero-grad",
            place=owner.place,
            confidence=0.95,
            is_proof=True,
        )
    elif owner.again > HALF * owner.steps:
        yield imbalance(
            "spent-again",
            sentence,
            fault="missing-zero-grad",
            place=owner.place,
            confidence=0.85,
        )
    else:
        yield fact("spent-again", sentence, owner.place)


def _cleared_each_epoch(owner: Owner, trace: Trace) -> bool:
    """So often gradients would be cleared if that stood before the loop over batches."""
    return HALF * owner.steps < owner.again and owner.steps - owner.again <= (
        trace.epoch_count or 0
    )


def _thrown_away(book: GradientsBook) -> Iterator[Entry]:
    known = book.spent + book.thrown
    if not book.thrown or known < FEWEST_PASSES:
        return
    sentence = (
        f"{book.thrown / known:.0%} of all gradients never reach a step: {book.thrown} of {known} "
        "backward passes were cleared before one"
    )
    meant = _by_hand(book) or _replaced(book)
    if book.thrown >= THROWN * known and book.same_line and not meant:
        yield imbalance(
            "thrown-away",
            sentence,
            why="Gradients that are cleared before a step spends them were computed for nothing: "
            "each step follows a part of the batches alone.",
            place=book.thrown_at.place,
            confidence=0.8,
        )
    else:
        yield fact("thrown-away", sentence, book.thrown_at.place)


def _replaced(book: GradientsBook) -> bool:
    """Whether steps spend other gradients than those that came, such as what was made of several
    that were set aside.
    """
    other = sum(one.kind in (Treatment.CHANGED, Treatment.BY_HAND) for one in book.treated)
    return other > HALF * len(book.treated)


def _by_hand(book: GradientsBook) -> bool:
    return any(one.by_hand for one in book.owners)


def _lost(book: GradientsBook, trace: Trace) -> Iterator[Entry]:
    """No income at all, or none that a step could spend."""
    if book.passes >= FEWEST_PASSES and not trace.step_count and book.owners:
        yield imbalance(
            "no-step",
            f"no income reaches a step: {book.passes} backward passes and not one step of an "
            "optimizer",
            why="Weights that no step moves learn nothing: a loss scale that overflows has every "
            "step skipped.",
            place=book.first_pass.place,
            confidence=0.85,
        )
    elif book.passes >= FEWEST_PASSES and book.reached == 0 and not _by_hand(book):
        if all(one.usable == one.tensors for one in book.owners) and book.owners:
            yield imbalance(
                "no-income",
                f"none of {book.passes} backward passes brought a gradient other than zero to a "
                "weight of an optimizer",
                why="Steps without gradients teach nothing: the loss does not reach the weights "
                "that the optimizer moves.",
                place=book.owners[0].place,
                confidence=0.85,
            )
    elif book.thrown_bad and book.thrown_bad >= FEWEST_PASSES and not book.spent:
        yield imbalance(
            "all-dropped",
            f"no income reaches a step: all of {book.thrown_bad} backward passes brought infinite "
            "numbers and were dropped",
            why="Every step is skipped for an infinite gradient: nothing is learned.",
            confidence=0.9,
        )
    elif book.bad:
        yield fact(
            "infinite-income",
            f"{book.bad} of {book.reached} backward passes brought infinite numbers, or none",
        )


def _balanced(book: GradientsBook) -> Iterator[Entry]:
    for one in book.owners:
        if one.steps < FEWEST or one.again:
            continue
        if one.inside:
            yield balances(
                "spending", f"gradients of {_named(one)} come while it steps, and are spent by it"
            )
        elif one.passes == one.steps:
            yield balances(
                "spending",
                f"each backward pass is spent by one step of {_named(one)} ({one.steps} looked at)",
            )
        elif one.passes > one.steps:
            yield balances(
                "spending",
                f"each {one.passes / one.steps:.3g} backward passes are spent by one step of "
                f"{_named(one)} ({one.steps} looked at)",
            )


def _named(owner: Owner) -> str:
    return owner.type or "the update by hand"
