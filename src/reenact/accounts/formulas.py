"""The account of formulas: losses of known families, held against what their formula takes and gives."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from reenact.accounts.account import Account, BookName, Entry, imbalance
from reenact.accounts.divergences import divergence_entries
from reenact.accounts.invariances import invariance_entries
from reenact.accounts.likelihoods import likelihood_entries
from reenact.accounts.policies import policy_entries, return_entries
from reenact.accounts.schedules import schedule_entries
from reenact.accounts.scores import score_entries
from reenact.probe.books.formulas import FormulasBook
from reenact.probe.books.gradients import Treatment
from reenact.probe.trace import Experiments, Trace

HALF = 0.5
FEWEST = 2
"""Losses with the same form below which nothing is reported."""


def formulas_account(trace: Trace, experiments: Experiments) -> Account | None:
    """Read the book of formulas; none where it was not kept."""
    book = trace.books.formulas if trace.books is not None else None
    if book is None:
        return None
    entries = chain(
        divergence_entries(book),
        score_entries(book),
        schedule_entries(book, trace),
        invariance_entries(experiments),
        likelihood_entries(book, climbs(trace) or book.climbs),
        return_entries(book),
        () if climbs(trace) else _turned(book),
        () if book.climbs or climbs(trace) else policy_entries(book),
    )
    return Account(BookName.FORMULAS, tuple(entries))


def climbs(trace: Trace) -> bool:
    """Whether steps spend the negative of the gradients that came: the loss is raised on purpose."""
    book = trace.books.gradients if trace.books is not None else None
    treated = book.treated if book is not None else ()
    turned = sum(one.kind is Treatment.SCALED and (one.factor or 0.0) < 0 for one in treated)
    return turned > HALF * len(treated)


def _turned(book: FormulasBook) -> Iterator[Entry]:
    """A divergence, or another term with one minimum, that is subtracted."""
    for one in book.turned:
        if one.seen >= FEWEST:
            yield imbalance(
                "divergence-subtracted",
                "a divergence (the exponential of a number less the number, or a square less its "
                "logarithm) enters the loss with the wrong sign: it has no lower bound, and falls "
                "as the distributions part",
                fault="wrong-sign-in-loss",
                place=one.place or one.backward.place,
                confidence=0.95,
                is_proof=True,
            )
