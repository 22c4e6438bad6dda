"""The account of metrics: is each number that is reported what its name says, and what is kept the best?"""

from __future__ import annotations

from collections.abc import Iterator

from reenact.accounts.account import Account, BookName, Entry, fact, imbalance
from reenact.accounts.kept import kept_entries
from reenact.accounts.reported import reported_entries
from reenact.probe.books.metrics import MetricsBook, StretchedAnswers
from reenact.probe.trace import Experiments, Trace


def metrics_account(trace: Trace, experiments: Experiments) -> Account | None:  # noqa: ARG001
    """Read the book of metrics; none where it was not kept."""
    book = trace.books.metrics if trace.books is not None else None
    if book is None:
        return None
    return Account(BookName.METRICS, tuple(_entries(trace, book)))


def _entries(trace: Trace, book: MetricsBook) -> Iterator[Entry]:
    passes = sum(stream.batches for one in book.evaluations for stream in one.streams)
    if book.evaluations:
        yield fact(
            "read", f"{len(book.evaluations)} evaluations were read, {passes} batches in all"
        )
    loss = trace.graph.loss if trace.graph is not None else None
    yield from reported_entries(book, loss is not None and "logits" in loss.name)
    for stretched in book.stretched:
        yield _stretched(stretched)
    yield from kept_entries(book, trace.metrics, stored=False)


def _stretched(stretched: StretchedAnswers) -> Entry:
    rows = stretched.rows
    return imbalance(
        "answers-of-other-rows",
        f"each of {rows} answers is compared with the labels of all {rows} rows",
        why=f"A column and a row of {rows} give {rows} x {rows} comparisons: bring both to one shape.",
        place=stretched.place,
        confidence=0.9,
    )
