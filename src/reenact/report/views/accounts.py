"""The books of a training as a section: one line a book, with what balances, what does not, and what could
not be seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reenact.accounts import Account, AccountStatus, Entry
from reenact.report import document as doc
from reenact.types import Table

MARKS = {
    AccountStatus.IMBALANCE: "out of balance",
    AccountStatus.FACT: "noted",
    AccountStatus.BALANCES: "balances",
    AccountStatus.UNSEEN: "not seen",
}
"""By status, in the order in which entries are read."""


def accounts_section(accounts: Sequence[Account]) -> Iterator[doc.Section]:
    """Nothing where no books were kept."""
    if accounts:
        yield doc.Section("Accounts", [_table(accounts)], "accounts")


def _table(accounts: Sequence[Account]) -> Table:
    rows = [row for account in accounts for row in _rows(account)]
    return Table("", ("book", "", "what was seen"), tuple(rows))


def _rows(account: Account) -> Iterator[tuple[str, str, str]]:
    """The lines of a book; its name stands in the first."""
    named = account.book.value
    for status, mark in MARKS.items():
        entries = account.of(status)
        if status is AccountStatus.BALANCES and entries:
            yield named, mark, "; ".join(entry.sentence for entry in entries)
            named = ""
            continue
        for entry in entries:
            yield named, mark, _placed(entry)
            named = ""


def _placed(entry: Entry) -> str:
    if entry.place is not None:
        return f"{entry.sentence} ({entry.place})"
    return entry.sentence
