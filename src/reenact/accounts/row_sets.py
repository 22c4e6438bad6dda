"""Entries of the rows that judge: did they train, and are they scaled as those that did?"""

from __future__ import annotations

from collections.abc import Iterator

from reenact.accounts.account import Entry, balances, fact, imbalance, unseen
from reenact.probe.books.rows import JudgingRows, RowsBook
from reenact.probe.trace import Trace

FEW_ROWS = 32
FEW_SHARED = 10
SOME, MOST = 0.05, 0.95
FAR = 3.0
"""Times the share that chance gives."""
SURE = 0.1
"""By so much fewer rows must have trained than of a part of the training rows are known."""
HALF = 0.5
NAMED = 5
SEVERAL = 0.8
"""Share of the most frequent label, from which on rows have one label by chance."""
FEW_COLUMNS = 4
APART = 0.75
MISMATCH = "train-test-scaling-mismatch"


def judged(book: RowsBook, trace: Trace) -> Iterator[Entry]:  # noqa: ARG001
    """Every set that the model was asked about."""
    yield from _indexed(book)
    yield from _groups(book)
    sets = [one for one in book.sets if one.rows >= FEW_ROWS and _is_fixed(one)]
    if not sets:
        yield unseen("rows-that-judge", "no fixed set of rows was evaluated that could be read")
        return
    yield from _shared(book, sets)
    yield from _nearly(book, sets)
    yield from _neighbours(sets)
    yield from _own_figures(book, sets)
    yield from _elsewhere(book, sets)


def _indexed(book: RowsBook) -> Iterator[Entry]:
    """Rows that train and judge by their index: also those that are changed each time they are read."""
    key = "rows-by-index"
    for one in sorted(book.indexed, key=lambda rows: -rows.shared):
        saw = f"{one.shared} of {one.rows} rows that judge, by their index in one data set"
        if one.shared < FEW_SHARED:
            yield balances(key, f"{saw}, trained the model before")
        elif SOME <= one.share <= MOST:
            yield imbalance(
                key,
                f"{saw}, are drawn from in training as well",
                fault="validation-data-leak",
                confidence=0.85,
            )
        else:
            yield fact(key, f"{saw}, are drawn from in training as well")
        return


def _groups(book: RowsBook) -> Iterator[Entry]:
    """Rows of one thing, as of a patient, that train and judge while the rows themselves differ."""
    one = book.groups
    if one is None:
        return
    key = "groups-on-both-sides"
    columns = ", ".join(map(str, one.columns[:NAMED]))
    saw = (
        f"columns {columns} divide the rows that train into the same {one.groups} groups, as what belongs to "
        f"one person or machine does; {one.shared} of {one.rows} rows that judge are of these groups"
    )
    if one.shared < MOST * one.rows:
        yield (balances if not one.shared else fact)(key, saw)
    elif one.alike >= MOST and one.most < SEVERAL:
        yield imbalance(
            key,
            f"{saw}, and all rows of a group have one label",
            why="The model can know a group again and answer with its label: split by groups, not by rows.",
            place=one.place,
            confidence=0.75,
        )
    else:
        yield fact(key, saw, one.place)


def _is_fixed(one: JudgingRows) -> bool:
    """Whether this is a set that is evaluated, not what is drawn for a step or a sample."""
    return one.labelled or one.times >= 2


def _shared(book: RowsBook, sets: list[JudgingRows]) -> Iterator[Entry]:
    """Rows that train and judge."""
    certain = [one for one in sets if one.certain]
    for one in certain:
        saw = f"{one.shared} of {one.distinct} rows that judge trained the model before"
        chance = one.by_chance(book.twins, book.distinct)
        if one.shared < FEW_SHARED:
            continue
        if _is_mixed(one, chance) and not _is_everything(book, one):
            yield imbalance(
                "rows-that-judge",
                saw,
                fault="validation-data-leak",
                place=one.place,
                confidence=0.9 if one.labelled else 0.75,
            )
            return
        if chance >= one.share / FAR:
            saw = f"{saw}; rows are equal by chance that often"
        yield fact("rows-that-judge", saw, one.place)
    fresh = sum(not one.shared for one in certain)
    if fresh:
        rows = sum(one.distinct for one in certain if not one.shared)
        yield balances("rows-that-judge", f"{rows} rows that judge trained no model")


def _is_mixed(one: JudgingRows, chance: float) -> bool:
    """Whether some of these rows trained and some did not: more than chance gives, and fewer than of
    rows that all trained, as for an accuracy of the training, are known to have done so.
    """
    return SOME + FAR * chance <= one.share <= min(MOST, one.coverage - SURE)


def _is_everything(book: RowsBook, one: JudgingRows) -> bool:
    """Whether it is asked about all rows there are, those that train among them."""
    return not one.labelled and one.shared >= 0.9 * book.distinct


def _nearly(book: RowsBook, sets: list[JudgingRows]) -> Iterator[Entry]:
    """Rows that judge and are copies, changed a little, of rows that trained: as where pictures are
    changed before they are split.
    """
    for one in sets:
        seen = one.nearly
        if seen is not None and seen.near >= FEW_SHARED and seen.near >= SOME * seen.rows:
            yield fact(
                "nearly-equal-rows",
                f"{seen.near} of {seen.rows} rows that judge are nearly equal to a row that trained; so are "
                f"{book.nearly:.0%} of the rows that trained to another of them",
                one.place,
            )
            return


def _neighbours(sets: list[JudgingRows]) -> Iterator[Entry]:
    """Windows that judge and overlap windows that train."""
    for one in sets:
        if one.windows >= FEW_ROWS and one.share < SOME and one.across > HALF * one.windows:
            yield fact(
                "neighbours-in-time",
                f"{one.across} of {one.windows} windows that judge overlap windows that train by half or "
                "more, before or after them",
                one.place,
            )


def _own_figures(book: RowsBook, sets: list[JudgingRows]) -> Iterator[Entry]:
    """Rows that judge have mean 0 and deviation 1 by themselves."""
    for one in sets:
        held_out = one.share < 0.5 and one.complete
        if held_out and one.scaled.are_their_own:
            as_well = ", as do those that train" if book.train.are_their_own else ""
            columns = f"all {one.columns} columns" if one.columns > 1 else "the values"
            yield imbalance(
                "scaled-by-own-rows",
                f"{columns} of the {one.rows} rows that judge have mean 0 and deviation 1 by "
                f"themselves{as_well}: each set was scaled by its own statistics",
                fault=MISMATCH,
                place=one.place,
                confidence=0.85,
            )
            return


def _elsewhere(book: RowsBook, sets: list[JudgingRows]) -> Iterator[Entry]:  # noqa: ARG001
    """Rows that judge lie where no row trained, or their columns do."""
    moved = next((one for one in sets if one.moved >= 2), None)
    if moved is not None:
        yield imbalance(
            "order-of-columns",
            f"{moved.moved} columns (or channels) of the {moved.rows} rows that judge have the "
            "mean and deviation that others have in training: they come in another order",
            why="Weights belong to the place of a column: at another place it is read as another "
            "quantity.",
            place=moved.place,
            confidence=0.8,
        )
        return
    compared = [one for one in sets if one.compared >= FEW_COLUMNS and one.share < SOME]
    far = [one for one in compared if one.apart >= APART]
    if not far:
        return
    one = far[0]
    saw = (
        f"{one.apart:.0%} of the {one.compared} columns of the {one.rows} rows that judge lie "
        "elsewhere than in training, or are three times as wide or narrow"
    )
    if len(far) == len(compared):
        yield imbalance("columns-of-rows-that-judge", saw, fault=MISMATCH, place=one.place)
    else:
        yield fact("columns-of-rows-that-judge", saw, one.place)
