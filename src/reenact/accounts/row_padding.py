"""Entries on padding: are rows that judge filled up like those that train?"""

from __future__ import annotations

from collections.abc import Iterator

from reenact.accounts.account import AccountStatus, Entry, balances, fact, imbalance
from reenact.probe.books.rows import FilledSide, JudgingRows, PaddedRows, RowsBook
from reenact.probe.trace import Trace

SOME = 0.05
"""Share of all numbers from which on rows count as filled up."""
NONE = 0.01
MOST, TIMES = 0.5, 5.0
"""Share that is most of a row, and times the share of the rows that train."""


def padding(book: RowsBook, trace: Trace) -> Iterator[Entry]:  # noqa: ARG001
    """One entry: the first set that is filled up otherwise, else that some are filled up alike."""
    train = book.padding
    if train is None:
        return
    compared = [(one, one.padding) for one in book.sets if one.padding is not None]
    found = [entry for one, own in compared if (entry := _unlike(train, own, one)) is not None]
    if found:
        yield min(found, key=lambda entry: entry.status is not AccountStatus.IMBALANCE)
    elif _side(train) and any(_side(own) for _, own in compared):
        yield balances("padding-of-rows", "rows that judge are filled up as those that train are")


def _unlike(train: PaddedRows, own: PaddedRows, one: JudgingRows) -> Entry | None:
    here, there = _side(own), _side(train)
    if here and there and here != there:
        saw = (
            f"the {one.rows} rows that judge are filled up with {_filled(own).value} at their {here}, "
            f"those that train with {_filled(train).value} at their {there}"
        )
        # A decoder that goes on from its last token is asked so, with a mask.
        return fact("padding-of-rows", saw, one.place)
    if here and there and _filled(own).value != _filled(train).value:
        saw = (
            f"the {one.rows} rows that judge are filled up with {_filled(own).value} and those that train "
            f"with {_filled(train).value}"
        )
        if train.parts > 1:
            return fact("padding-of-rows", saw, one.place)
        return imbalance(
            "padding-of-rows",
            saw,
            why="The model has learned to pass over another number, and reads this padding as tokens.",
            place=one.place,
            confidence=0.85,
        )
    share = _filled(own).share if here else 0.0
    before = max(train.begin.share, train.end.share)
    if share >= MOST and share > TIMES * before:
        saw = (
            f"padding makes up {share:.0%} of the rows that judge and {before:.0%} of those that train: a "
            "model that does not mask it has not learned such rows"
        )
        return fact("padding-of-rows", saw, one.place)
    return None


def _side(rows: PaddedRows) -> str:
    """At which end they are filled up; empty where at none, or at both."""
    shares = {"beginning": rows.begin.share, "end": rows.end.share}
    side = max(shares, key=lambda name: shares[name])
    other = min(shares.values())
    return side if shares[side] >= SOME and other < NONE else ""


def _filled(rows: PaddedRows) -> FilledSide:
    if rows.begin.share > rows.end.share:
        return rows.begin
    return rows.end
