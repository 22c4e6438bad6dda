"""The account of rows: which train, which judge, and whether what goes with each row belongs to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reenact.accounts.account import (
    Account,
    BookName,
    Entry,
    balances,
    fact,
    imbalance,
    unseen,
)
from reenact.accounts.row_labels import labels_by_inputs
from reenact.accounts.row_padding import padding
from reenact.accounts.row_rounds import classes, rounds
from reenact.accounts.row_sets import judged
from reenact.probe.books.rows import RowsBook
from reenact.probe.trace import Experiments, Trace

MISALIGNED = "labels-misaligned"
FEW_PAIRS = 64
FEW_MAPS, SOME_MAPS = 8, 0.15
NEAR_CHANCE = 0.1
ALL = 0.99
NEARLY_ALL = 0.95

Look = Callable[[RowsBook, Trace], Iterator[Entry]]


def rows_account(trace: Trace, experiments: Experiments) -> Account | None:  # noqa: ARG001
    """What became of every row that was seen."""
    book = trace.books.rows if trace.books is not None else None
    if book is None:
        return None
    looks: tuple[Look, ...] = (
        _seen,
        judged,
        padding,
        classes,
        _reach,
        _pairs,
        _towers,
        _maps,
        _order,
        rounds,
    )
    entries = [entry for look in (*looks, labels_by_inputs) for entry in look(book, trace)]
    return Account(BookName.ROWS, tuple(entries))


def _seen(book: RowsBook, trace: Trace) -> Iterator[Entry]:  # noqa: ARG001
    rows = f"{book.rows:,} rows went into losses that were looked at"
    yield fact("rows-trained", f"{rows}; {book.distinct:,} different rows trained")


def _reach(book: RowsBook, trace: Trace) -> Iterator[Entry]:  # noqa: ARG001
    """Trainings whose every step is given all rows."""
    reach = book.reach
    if reach is None:
        return
    saw = f"the loss reaches {reach.reached} of the {reach.rows} rows that every step is given"
    whole = [size for size, reached in reach.sets if reached >= ALL * size]
    covers = sum(size for size, _ in reach.sets) >= reach.rows / 2
    if len(whole) >= 2 and covers and reach.reached >= NEARLY_ALL * reach.rows:
        sizes = ", ".join(map(str, whole))
        yield imbalance(
            "held-out-rows-in-the-loss",
            f"{saw}, also all of the {len(whole)} sets that the program keeps apart ({sizes})",
            fault="validation-data-leak",
            place=reach.place,
            confidence=0.85,
        )
    elif len(reach.sets) >= 2:
        yield balances("held-out-rows-in-the-loss", saw)


def _pairs(book: RowsBook, trace: Trace) -> Iterator[Entry]:  # noqa: ARG001
    """Whether a row that comes again brings its label."""
    pairs = book.labels
    if pairs.again < FEW_PAIRS or pairs.repeated > 0.05 * pairs.rows:
        yield unseen("labels-of-rows-seen-again", "no rows came again with a label")
        return
    if pairs.of_places:
        yield unseen("labels-of-rows-seen-again", "labels are those of places in a batch")
        return
    share = pairs.same / pairs.again
    saw = f"{pairs.same} of {pairs.again} rows that came again had the label that they had before"
    chance = pairs.chance + NEAR_CHANCE * (1 - pairs.chance)
    if share < chance and pairs.known > 0.9 * pairs.again and pairs.chance < 0.9:
        yield imbalance(
            "labels-of-rows-seen-again",
            f"{saw}, which is what chance gives ({pairs.chance:.0%})",
            fault=MISALIGNED,
            place=book.place,
            confidence=0.8,
        )
    elif share < ALL:
        yield fact("labels-of-rows-seen-again", saw)
    else:
        yield balances("labels-of-rows-seen-again", saw)


def _towers(book: RowsBook, trace: Trace) -> Iterator[Entry]:  # noqa: ARG001
    """Row i of one model's input is to go with row i of another's."""
    pairs = book.towers
    if pairs.again < FEW_PAIRS:
        return
    share = pairs.same / pairs.again
    saw = f"{pairs.same} of {pairs.again} rows that came again had the partner that they had before"
    if share < 2 * pairs.chance + 0.02 and pairs.known > 0.9 * pairs.again:
        yield imbalance(
            "partners-of-rows-seen-again",
            f"{saw}, which is what chance gives ({pairs.chance:.1%}): the two inputs travel apart",
            fault=MISALIGNED,
            place=book.place,
            confidence=0.9,
        )
    else:
        yield (balances if share > ALL else fact)("partners-of-rows-seen-again", saw)


def _maps(book: RowsBook, trace: Trace) -> Iterator[Entry]:  # noqa: ARG001
    """Pictures that are turned, and the maps that are their labels."""
    maps = book.maps
    saw = f"of {maps.again} pictures that came again {maps.turned} were turned or mirrored"
    if maps.otherwise >= max(FEW_MAPS, SOME_MAPS * maps.again):
        yield imbalance(
            "maps-turned-with-pictures",
            f"{saw}; the labels of {maps.otherwise} were not turned in the same way",
            fault=MISALIGNED,
            place=book.place,
            confidence=0.85,
        )
    elif maps.turned:
        yield balances("maps-turned-with-pictures", f"{saw}, and their labels with them")


def _order(book: RowsBook, trace: Trace) -> Iterator[Entry]:  # noqa: ARG001
    """Rounds that go class by class."""
    for order in book.orders:
        often = order.rounds >= 2 or order.classes >= 3
        if order.sorted < order.rounds or not often or order.single < order.batches / 2:
            continue
        yield imbalance(
            "classes-mixed-in-batches",
            f"{order.single} of {order.batches} batches of an epoch hold one class: the "
            f"{order.rows:,} rows come class by class",
            fault="not-shuffled",
            place=book.place,
            confidence=0.85,
        )
        return
