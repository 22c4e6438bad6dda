"""The accounts of a training: what its books come to (`reenact.probe.books`), without knowing any fault.

One file a book. Each gives an account: entries that balance, entries that do not, facts that only the author
can judge, and what could not be seen. `reenact.faults` makes findings of what does not balance.
"""

from __future__ import annotations

from collections.abc import Callable

from reenact.accounts.account import Account, AccountStatus, BookName, Entry
from reenact.accounts.formulas import formulas_account
from reenact.accounts.gradients import gradients_account
from reenact.accounts.metrics import metrics_account
from reenact.accounts.models import models_account
from reenact.accounts.parameters import parameters_account
from reenact.accounts.rows import rows_account
from reenact.probe.trace import Experiments, Trace

__all__ = [
    "Account",
    "AccountStatus",
    "BookName",
    "Entry",
    "accounts_of",
]

Audit = Callable[[Trace, Experiments], Account | None]
"""Reads one book; none where there is nothing of it."""
AUDITS: tuple[Audit, ...] = (
    rows_account,
    gradients_account,
    parameters_account,
    models_account,
    metrics_account,
    formulas_account,
)
"""In the order of `BookName`."""


def accounts_of(trace: Trace | None, experiments: Experiments) -> tuple[Account, ...]:
    """The account of every book that was kept, each entry once; nothing where no one watched."""
    if trace is None or trace.books is None:
        return ()
    read = [audit(trace, experiments) for audit in AUDITS]
    kept = [account for account in read if account is not None and account.entries]
    return tuple(Account(one.book, tuple(dict.fromkeys(one.entries))) for one in kept)
