"""Entries of what inputs say about their labels: nothing at all, or the label itself."""

from __future__ import annotations

import math
from collections.abc import Iterator

from reenact.accounts.account import Entry, balances, fact, imbalance
from reenact.probe.books.rows import LabelledRows, RowsBook
from reenact.probe.trace import Trace

FEW_ROWS, FEW_NOISY = 1000, 512
NOTHING, LITTLE = 0.01, 0.02
NEAR = 0.05
LAST = 20
FAR = 20.0
"""Deviation of inputs, in those of the noise, from which on the noise is lost in them."""


def labels_by_inputs(book: RowsBook, trace: Trace) -> Iterator[Entry]:
    """What the rows that were kept say about their labels."""
    rows = book.labelled
    if rows is None:
        return
    yield from _known(book, rows)
    if rows.noise and rows.width >= 2 and not book.labels.again:
        yield from _noise(book, rows)
    else:
        yield from _nothing(book, rows, trace)


def _known(book: RowsBook, rows: LabelledRows) -> Iterator[Entry]:
    """The label is among the inputs."""
    if rows.later:
        which, reach = rows.later
        yield imbalance(
            "label-among-inputs",
            f"feature {which} of each step averages {reach} later values of the series that is "
            f"forecast, in {rows.rows} rows without exception",
            fault="target-leak",
            place=book.place,
            confidence=0.9,
        )
    if rows.equal is not None:
        saw = f"column {rows.equal} of the inputs is the label, in {rows.rows} rows"
        if rows.whole:
            yield fact("label-among-inputs", saw)
        else:
            yield imbalance(
                "label-among-inputs",
                saw,
                fault="target-leak",
                place=book.place,
                confidence=0.7,
            )


def _noise(book: RowsBook, rows: LabelledRows) -> Iterator[Entry]:
    """Noise that the model is to find must be in what it is given."""
    key = "noise-asked-for"
    if rows.cosine is not None:
        nothing = abs(rows.cosine - 1) < 4 * math.sqrt(2 / rows.rows) and rows.rows >= FEW_NOISY
    elif rows.width <= rows.columns and rows.explained is not None:
        nothing = rows.explained < LITTLE and rows.rows >= FEW_ROWS
    else:
        return
    if not nothing:
        yield balances(key, f"the inputs hold the noise that is asked for, in {rows.rows} rows")
        return
    saw = f"in {rows.rows} rows the inputs say nothing about the noise that is asked for"
    if rows.scale > FAR:
        saw = f"{saw}: their deviation is {rows.scale:.0f} times its own"
    yield imbalance(
        key,
        saw,
        fault="inputs-not-scaled" if rows.scale > FAR else "labels-misaligned",
        place=book.place,
        confidence=0.85,
    )


def _nothing(book: RowsBook, rows: LabelledRows, trace: Trace) -> Iterator[Entry]:
    """Tables whose labels have nothing to do with them."""
    if rows.explained is None or rows.rows < FEW_ROWS:
        return
    saw = f"{max(0.0, rows.explained):.1%} of the spread of the labels of {rows.rows} rows"
    saw = f"{saw} is explained by their {rows.columns} columns"
    entropy = rows.entropy or 0.0
    losses = trace.losses.values[-LAST:] if trace.step_count >= 5 * LAST else ()
    ended = sum(losses) / len(losses) if len(losses) else 0.0
    guessed = entropy > 0.1 and abs(ended - entropy) < NEAR * entropy
    if rows.explained < NOTHING and guessed:
        yield imbalance(
            "labels-explained",
            f"{saw}; the loss ends at {ended:.3f}, a constant answer has {entropy:.3f}",
            fault="labels-misaligned",
            place=book.place,
            confidence=0.7,
        )
    else:
        yield fact("labels-explained", saw)
