"""Entries of what loaders give round by round, and of the classes that train and judge."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.accounts.account import Entry, balances, fact, imbalance
from reenact.probe.books.rows import RowsBook
from reenact.probe.trace import Trace

FEW_ROUNDS = 3
FEW_DRAWN, FEW_JUDGED = 500, 20
"""Labels of training rows that must have been seen, and rows of unknown classes."""
MOSTLY = 0.5
NEARLY_ALL = 0.95
NAMED = 5


def rounds(book: RowsBook, trace: Trace) -> Iterator[Entry]:
    """Rounds that end early or come in one order, and rows that change between them."""
    shuffles = {
        event.facts.get("loader")
        for event in trace.events
        if event.kind == "loader" and "Random" in str(event.facts.get("sampler"))
    }
    for one in book.rounds:
        same = one.orders == 1 and one.known >= FEW_ROUNDS
        always = one.rounds >= FEW_ROUNDS and one.early >= one.rounds - 1
        if one.trains and same and always and 0 < one.longest < NEARLY_ALL * one.batches:
            yield fact(
                "rows-never-seen",
                f"each of {one.rounds} rounds ends after {one.longest} of {one.batches} batches, and "
                "begins with the same rows: the others never train",
            )
        elif one.trains and same and one.loader in shuffles:
            yield fact(
                "order-of-rounds",
                f"{one.known} rounds of a loader that shuffles begin with the same rows: they come in "
                "one order",
            )
        if not one.trains and one.changed is not None and one.changed > MOSTLY:
            yield fact(
                "rows-that-judge-again",
                f"{one.changed:.0%} of the rows that a loader gives to judge are others when they are "
                "read again, and their labels are not",
            )


def classes(book: RowsBook, trace: Trace) -> Iterator[Entry]:  # noqa: ARG001
    """Classes that judge must have trained."""
    train, judge = book.classes.train, book.classes.judge
    drawn, asked = sum(train.values()), sum(judge.values())
    if drawn < FEW_DRAWN or asked < FEW_JUDGED:
        return
    unknown = sorted(int(one) for one in judge if one not in train)
    rows = sum(judge[str(one)] for one in unknown)
    if rows < FEW_JUDGED:
        yield balances(
            "classes-that-judge", f"the {len(judge)} classes of the rows that judge train as well"
        )
        return
    named = ", ".join(map(str, unknown[:NAMED]))
    more = f" and {len(unknown) - NAMED} more" if len(unknown) > NAMED else ""
    saw = (
        f"{rows} of {asked} rows that judge are of classes that none of {drawn:,} training labels is "
        f"({named}{more})"
    )
    if rows < MOSTLY * asked:
        yield fact("classes-that-judge", saw)
        return
    yield imbalance(
        "classes-that-judge",
        saw,
        why="A model can not answer with a class that it never saw: rows were split in the order of "
        "their classes, or numbered differently. Shuffle them before they are split.",
        place=next((one.place for one in book.sets if one.place is not None), None),
        confidence=0.75,
    )
