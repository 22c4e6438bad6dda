"""What single rows tell: whether inputs say anything about their labels, and whether rows that are
evaluated again come back changed.

Both keep a few hundred rows, made short, and compute in numpy with numbers of their own: nothing of
the program is drawn, moved or asked.
"""

from __future__ import annotations

from typing import Any

import numpy

from reenact_probe.data import row_keys, spread
from reenact_probe.types import Array, Facts

MOST_ROWS = 512
A_LOOK = 64
FEWEST_ROWS = 160
"""Rows that are kept, rows taken at one look, rows below which nothing can be concluded."""
COLUMNS, BUCKETS = 1024, 96
"""Values of a row that are read, buckets that tokens are counted in."""
MOST_CLASSES, MOST_LABELS = 24, 8
PENALTIES = (0.3, 3.0, 30.0)
FEW_AGAIN = 8
MOST_AGAIN = 32
MOST_TIMES = 12


def are_places(labels: Array, in_order: bool = False) -> bool:
    """Whether labels number the rows of their batch, as those of contrastive losses do: which row is
    to go with which.
    """
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or len(labels) < 4:
        return False
    places = labels if in_order else numpy.sort(labels)
    return bool((places == range(len(labels))).all())


class Signal:
    """Rows of training inputs, each once, next to their labels."""

    def __init__(self) -> None:
        self._inputs: list[Array] = []
        self._labels: list[Array] = []
        self._known: set[int] = set()
        self._whole = False
        """Labels are whole numbers: classes, where they are few."""

    @property
    def full(self) -> bool:
        return len(self._known) >= MOST_ROWS

    def add(self, inputs: Array, labels: Array) -> None:
        """Take some rows of a batch; none where a row has a label for each step in time."""
        shape = labels.shape[1:]
        whole = labels.dtype.kind in "iub"
        if len(inputs) != len(labels) or inputs.ndim < 2 or (whole and shape not in ((), (1,))):
            return
        if whole and are_places(labels.reshape(-1)):
            return
        inputs = inputs[:A_LOOK]
        labels = labels[:A_LOOK].reshape(
            min(A_LOOK, len(labels)),
            -1,
        )
        keys = row_keys(inputs)
        new = [i for i, key in enumerate(keys) if key not in self._known and keys.index(key) == i]
        short = _short(inputs[new]) if new else None
        if short is None or not (numpy.isfinite(short).all() and numpy.isfinite(labels).all()):
            return
        first = (self._inputs or [short])[0], (self._labels or [labels])[0]
        if (
            short.shape[1],
            labels.shape[1],
        ) == (
            first[0].shape[1],
            first[1].shape[1],
        ):
            self._known.update(keys)
            self._inputs.append(short)
            self._labels.append(labels[new].astype("f8"))
            self._whole = whole

    def facts(self) -> Facts | None:
        """How many rows there were, and the share of the spread of the labels that inputs explain;
        none where there are too few rows, or no spread.
        """
        if sum(map(len, self._inputs)) < FEWEST_ROWS:
            return None
        inputs = numpy.concatenate(self._inputs)
        labels = _columns(numpy.concatenate(self._labels), self._whole)
        labels = labels[:, labels.std(axis=0) > 1e-12]
        if not labels.shape[1]:
            return None
        with numpy.errstate(all="ignore"):
            share = explained(_standard(inputs), _standard(labels))
        return {"rows": len(inputs), "explained": share}


def explained(inputs: Array, labels: Array) -> float:
    """The share of the spread of held-out labels that kernel ridge regression on the other half
    explains.
    """
    order = numpy.random.default_rng(0).permutation(len(inputs))
    inputs = inputs[order]
    labels = labels[order]
    # Alike in direction, and near to each other: both count.
    products = inputs @ inputs.T
    sizes = numpy.diag(products)
    distances = numpy.maximum(
        sizes[:, None] + sizes[None, :] - 2 * products,
        0.0,
    )
    kernel = products / inputs.shape[1] + numpy.exp(
        -distances / (float(numpy.median(distances)) or 1.0)
    )
    half = len(labels) // 2
    left = numpy.zeros(len(PENALTIES))
    for known, asked in (
        (slice(half), slice(half, None)),
        (slice(half, None), slice(half)),
    ):
        mean = labels[known].mean(axis=0)
        for number, penalty in enumerate(PENALTIES):
            square = kernel[known, known] + penalty * numpy.eye(len(labels[known]))
            answer = (
                kernel[asked, known]
                @ numpy.linalg.solve(
                    square,
                    labels[known] - mean,
                )
                + mean
            )
            left[number] += float(((labels[asked] - answer) ** 2).sum())
    return 1 - float(left.min()) / float(((labels - labels.mean(axis=0)) ** 2).sum())


def _short(inputs: Array) -> Array | None:
    """A few numbers for each row: of tokens how often each occurs, of others some of their
    values.
    """
    flat = inputs.reshape(len(inputs), -1)
    if not flat.size:
        return None
    if inputs.dtype.kind in "iu" and inputs.ndim == 2:
        counts = numpy.zeros((len(flat), BUCKETS))
        numpy.add.at(
            counts,
            (
                numpy.arange(len(flat))[:, None],
                flat % BUCKETS,
            ),
            1.0,
        )
        return counts
    return spread(flat, COLUMNS).astype("f8")


def _standard(values: Array) -> Array:
    """Columns of mean 0 and deviation 1."""
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / numpy.where(spread > 1e-12, spread, 1.0)


def _columns(labels: Array, whole: bool) -> Array:
    """A column for each class; of numbers some of their columns."""
    classes: Array = numpy.unique(labels) if whole else numpy.empty(0)
    if 1 < len(classes) <= MOST_CLASSES:
        return (labels == classes[None, :]).astype("f8")
    return spread(labels, MOST_LABELS)


class Again:
    """The first rows of each evaluation, by where they came from."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[Array, Any]] = {}
        self._times = 0

    def compare(
        self,
        source: str,
        rows: Array,
        labels: Array | None,
    ) -> Facts | None:
        """Of rows that were evaluated before in the same place: how many are the same, and how many
        are most like the row that they were then; none for the first time.
        """
        if rows.dtype.kind != "f" or rows.ndim < 2 or self._times >= MOST_TIMES:
            return None
        rows = spread(
            rows[:MOST_AGAIN].reshape(
                min(MOST_AGAIN, len(rows)),
                -1,
            ),
            COLUMNS,
        ).astype("f8")
        if source not in self._first:
            self._first[source] = (
                rows,
                None if labels is None else labels.copy(),
            )
            return None
        before, then = self._first[source]
        if before.shape != rows.shape or len(rows) < FEW_AGAIN:
            return None
        self._times += 1
        same = float((before == rows).all(axis=1).mean())
        if same == 1.0:
            return None
        near = numpy.square(before).sum(axis=1)[None, :] - 2 * (rows @ before.T)
        own = float((near.argmin(axis=1) == numpy.arange(len(rows))).mean())
        equal = None if labels is None or then is None else bool(numpy.array_equal(then, labels))
        drawn = labels is not None and not _repeats(labels)
        return {
            "rows": len(rows),
            "same": same,
            "own": own,
            "labels": equal,
            "drawn": drawn,
        }


def _repeats(labels: Array) -> bool:
    """Whether labels follow each other in a pattern, as those of rows that are made up by their
    number do: sorted, or the same again after some.
    """
    flat = labels.reshape(len(labels), -1)[:, 0]
    ordered = bool((flat[1:] >= flat[:-1]).all())
    return ordered or any(
        bool((flat[gap:] == flat[:-gap]).all()) for gap in range(1, len(flat) // 2)
    )
