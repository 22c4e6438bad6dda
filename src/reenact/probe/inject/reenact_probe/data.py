"""What the data looks like: running facts of inputs and labels, by split, and rows that two
splits share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from reenact_probe.types import Array, Facts

MAX_FEATURES = 20_000
MAX_CLASSES = 1000
MAX_KEYS = 200_000
KEY_VALUES = 1024
WHOLE, FEW = 0.99, 16
"""Share of the rows of a batch that counts as all of them; a batch so small may be all by
chance.
"""
FEW_ROWS = 2000
MOST_LABELS = 100_000
"""Rows of a data set in memory that are measured: of its inputs, of its labels."""
ENOUGH = 64
"""Rows of a split from which on the spread of each of its features says something."""
FEW_LABELS = 8
FEW_BATCHES = 4
MOST_BATCHES = 400
"""Rows that a batch must have for its mean label to tell something, and how many of these
batches.
"""
_WEIGHTS = (
    numpy.random.default_rng(0).integers(
        0,
        2**63,
        KEY_VALUES,
        dtype="u8",
    )
    * 2
    + 1
)
"""Odd and without a pattern, so that the same values in another order have another key."""


class TensorFacts:
    """Running facts of one role in one split."""

    def __init__(self) -> None:
        self.rows = 0
        self.shape: list[int | None] | None = None
        self.dtype = ""
        self.low, self.high = float("inf"), -float("inf")
        self.total = self.squares = 0.0
        self.values = self.bad = 0
        self.feature_low: Array = None
        self.feature_high: Array = None
        self.feature_sums: Array = None
        """Of each feature of numbers: its sum and the sum of its squares."""
        self.counts: dict[int, int] = {}
        self.integral = True
        self.one_hot = True
        self.means: list[float] = []
        """Labels that are classes: the mean of each batch."""

    def update(self, array: Array, dtype: Any) -> None:
        """Take in one batch: rows first. `dtype` is the one the program used."""
        self.rows += len(array)
        self.dtype = str(dtype).replace("torch.", "")
        shape = [None, *array.shape[1:]]
        self.shape = shape if self.shape in (None, shape) else [None] * len(shape)
        array = numpy.asarray(array)
        values = array.astype("f8") if array.dtype.kind in "iub" else array
        finite = numpy.isfinite(values)
        self.bad += int(values.size - numpy.count_nonzero(finite))
        self._features(values)
        values = values if self.bad == 0 else values[finite]
        if values.size:
            self.low, self.high = (
                min(self.low, float(values.min())),
                max(self.high, float(values.max())),
            )
            self.total += float(values.sum(dtype="f8"))
            self.squares += float(numpy.square(values, dtype="f8").sum())
            self.values += values.size

    def _features(self, values: Array) -> None:
        flat = values.reshape(len(values), -1) if len(values) else values.reshape(0, 1)
        if flat.shape[1] > MAX_FEATURES or not len(flat):
            return
        low = flat.min(axis=0)
        high = flat.max(axis=0)
        sums = numpy.stack(
            [
                flat.sum(axis=0, dtype="f8"),
                numpy.square(flat, dtype="f8").sum(axis=0),
            ]
        )
        if self.feature_low is None or self.feature_low.shape != low.shape:
            self.feature_low = low
            self.feature_high = high
            self.feature_sums = sums
        else:
            self.feature_sums = self.feature_sums + sums
            self.feature_low = numpy.minimum(self.feature_low, low)
            self.feature_high = numpy.maximum(self.feature_high, high)

    def spreads(self) -> Array:
        """The standard deviation of each feature of numbers; none where rows are few or of
        several sizes.
        """
        known = self.feature_sums is not None and None not in (self.shape or [None])[1:]
        if not known or "float" not in self.dtype or self.rows < ENOUGH or self.bad:
            return None
        mean, square = self.feature_sums / self.rows
        return numpy.sqrt(
            numpy.maximum(
                square - mean * mean,
                0.0,
            )
        )

    def spread_beside(self, train: TensorFacts) -> float | None:
        """The spread of a feature as a share of that in the training data: of all together or the
        median of those that vary there, whichever is nearer to one, for many are rare and some have
        long tails.
        """
        own = self.spreads()
        other = train.spreads() if train is not self else None
        if own is None or other is None or own.shape != other.shape:
            return None
        vary = other > 1e-6
        if numpy.count_nonzero(vary) < 4:
            return None
        shares = (
            numpy.median(own[vary] / other[vary]),
            numpy.linalg.norm(own) / numpy.linalg.norm(other),
        )
        return min(map(float, shares), key=lambda share: abs(numpy.log(max(share, 1e-9))))

    def count_classes(self, array: Array) -> None:
        """Take in labels as classes, for as long as they look like classes."""
        array = numpy.asarray(array)
        if array.ndim > 1 and array.shape[-1] > 1 and self.one_hot:
            self.one_hot = bool(
                ((array == 0) | (array == 1)).all() and (array.sum(axis=-1) == 1).all()
            )
        elif array.ndim <= 1 or array.shape[-1] == 1:
            self.one_hot = False
        if self.one_hot:
            array = array.argmax(axis=-1)
        self.integral = self.integral and bool((array == numpy.floor(array)).all())
        if not self.integral or len(self.counts) > MAX_CLASSES:
            return
        for value, count in zip(*numpy.unique(array, return_counts=True)):
            self.counts[int(value)] = self.counts.get(int(value), 0) + int(count)
        if array.size == len(array) >= FEW_LABELS and len(self.means) < MOST_BATCHES:
            self.means.append(float(array.mean()))

    def batch_spread(self) -> float | None:
        """How far the means of the batches lie apart, in standard deviations of the labels: near
        one where rows come sorted by class, near the root of one by the size of a batch where they
        are shuffled.
        """
        rows = sum(self.counts.values())
        if len(self.means) < FEW_BATCHES or len(self.counts) < 2:
            return None
        mean = sum(value * count for value, count in self.counts.items()) / rows
        squares = sum(count * (value - mean) ** 2 for value, count in self.counts.items()) / rows
        return float(numpy.std(self.means)) / squares**0.5

    def as_dict(self, split: str, role: str) -> Facts:
        mean = self.total / self.values if self.values else None
        variance = self.squares / self.values - mean * mean if mean is not None else None
        discrete = role == "label" and self.integral and 0 < len(self.counts) <= MAX_CLASSES
        constant = 0
        if role == "input" and self.feature_low is not None and self.rows > 1:
            constant = int(numpy.count_nonzero(self.feature_low == self.feature_high))
        return {
            "split": split,
            "role": role,
            "shape": self.shape or [],
            "dtype": self.dtype,
            "minimum": self.low if self.values else None,
            "maximum": self.high if self.values else None,
            "mean": mean,
            "std": max(0.0, variance) ** 0.5 if variance is not None else None,
            "nan_share": self.bad / max(1, self.bad + self.values),
            "constant_features": constant,
            "classes": len(self.counts) if discrete else None,
            "class_counts": [self.counts[key] for key in sorted(self.counts)] if discrete else None,
            "class_values": sorted(self.counts) if discrete else None,
            "integral": bool(role == "label" and self.integral and self.rows),
            "one_hot": bool(role == "label" and self.one_hot and self.rows),
            "batch_spread": self.batch_spread() if discrete else None,
            "rows_seen": self.rows,
        }


class Split:
    """One source of batches: its inputs, its labels, and keys of its rows."""

    def __init__(self, step: int) -> None:
        self.first_step = step
        self.input = TensorFacts()
        self.label = TensorFacts()
        self.keys: set[int] = set()
        self.batches: list[set[int]] = []
        """The keys of each batch, where they came in batches."""
        self.known = 0.0
        """Share of the last batch that was known before."""

    def update(self, role: str, array: Array, dtype: Any) -> None:
        """Take in rows of inputs or labels."""
        (self.input if role == "input" else self.label).update(
            array,
            dtype,
        )
        if role == "label":
            self.label.count_classes(array)

    def read(
        self,
        role: str,
        select: Callable[[slice], Array],
        count: int,
        dtype: Any,
    ) -> None:
        """Take in a data set of so many rows that lies in memory; `select` gives some of them."""
        if role == "label":
            self.update(role, select(slice(MOST_LABELS)), dtype)
        else:
            self.update(
                role,
                select(
                    slice(
                        None,
                        None,
                        max(1, count // FEW_ROWS),
                    )
                ),
                dtype,
            )
            self.keys = set(row_keys(select(slice(MAX_KEYS))))

    def add_keys(self, rows: Any) -> float:
        """Remember rows; gives the share of them that was known before."""
        keys = row_keys(rows)
        self.known = sum(key in self.keys for key in keys) / max(1, len(keys))
        if len(self.keys) < MAX_KEYS:
            self.keys.update(keys)
            self.batches.append(set(keys))
        return self.known

    @property
    def complete(self) -> bool:
        """Whether every row is known by its key, as far as is known."""
        return len(self.keys) < MAX_KEYS and (not self.batches or self.known >= WHOLE)

    def foreign(self, train: Split) -> set[int]:
        """Its rows without batches that are training rows and nothing else: those are evaluated on
        purpose, next to others. All of its rows where there are no others.
        """
        batches = [(keys, len(keys)) for keys in self.batches]
        others = [
            keys for keys, rows in batches if rows < FEW or len(keys & train.keys) < WHOLE * rows
        ]
        return set().union(*others) if others else self.keys

    def completed_by(self, seen: Split | None) -> Split:
        """A data set whose rows are known by their numbers only takes its facts from the batches
        seen, as one of many parts does for its labels.
        """
        if seen is None or self.label.rows:
            return self
        both = Split(self.first_step)
        both.keys = self.keys
        both.label = seen.label
        both.input = self.input if self.input.rows else seen.input
        return both


def split_name(name: str, split: Split, steps: int) -> str:
    """Of a source after so many steps; one of no known name is validation data where it was used
    while training went on, else test data.
    """
    if name in ("train", "validation", "test"):
        return name
    return "validation" if split.first_step < steps else "test"


class Data:
    """All splits of a run."""

    def __init__(self) -> None:
        self.splits: dict[str, Split] = {}
        """By name, from the batches that were seen."""
        self.whole: dict[str, Split] = {}
        """By name, read from a data set that lies in memory: better than what single batches
        tell.
        """
        self.train_name: str | None = None
        """Name of the loader that training draws from."""
        self.dirty = False
        """There is something new to write."""

    def split(self, name: str, step: int) -> Split:
        self.dirty = True
        return self.splits.setdefault(name, Split(step))

    def take_news(self, steps: int) -> Facts | None:
        """The facts after so many steps as JSON; none when there is nothing new."""
        dirty, self.dirty = self.dirty, False
        return self.as_dict(steps) if dirty else None

    def as_dict(self, steps: int) -> Facts:
        """JSON. An evaluation source used while training went on is validation, one used only after
        it is test.
        """
        best = dict(self.splits)
        for name, whole in self.whole.items():
            own = "train" if name == self.train_name else name
            best[own] = whole.completed_by(self.splits.get(own))
            if own in self.splits:
                best[own].label.means = self.splits[own].label.means
        named = [(split_name(name, split, steps), split) for name, split in best.items()]
        train = next(
            (split for name, split in named if name == "train"),
            Split(0),
        )
        tensors = [
            dict(
                facts.as_dict(name, role),
                feature_spread=facts.spread_beside(train.input),
            )
            for name, split in named
            for role, facts in (("input", split.input), ("label", split.label))
            if facts.rows
        ]
        others = [
            (name, split.foreign(train))
            for name, split in named
            if split is not train and split.keys
        ]
        overlaps = [
            {
                "split": name,
                "rows": len(keys),
                "shared": len(keys & train.keys),
                "complete": train.complete,
            }
            for name, keys in others
            if train.keys
        ]
        return {"tensors": distinct(tensors), "overlaps": distinct(overlaps)}


def distinct(facts: list[Any]) -> list[Any]:
    """Each of these once: a loader that is made again every epoch gives the same facts every
    time.
    """
    kept: list[Any] = []
    for item in facts:
        if item not in kept[-50:]:
            kept.append(item)
    return kept


def spread(flat: Array, most: int) -> Array:
    """At most so many columns, evenly spread."""
    width = flat.shape[1]
    if width <= most:
        return flat
    return flat[:, numpy.linspace(0, width - 1, most).astype(int)]


def row_keys(rows: Any) -> list[int]:
    """A 64-bit key for each row, from at most 1,024 of its values: equal rows have equal keys."""
    keys: list[int] = key_array(rows).tolist()
    return keys


def key_array(rows: Any) -> Array:
    """The same as an array."""
    rows = numpy.asarray(rows)
    if not rows.size:
        return numpy.empty(0, "u8")
    flat = spread(
        rows.reshape(len(rows), -1),
        KEY_VALUES,
    )
    words = numpy.ascontiguousarray(flat, dtype="f4").view("u4")
    # One pass without a copy as wide as the data: that copy would be most of what a short training
    # pays.
    return numpy.einsum(
        "ij,j->i",
        words,
        _WEIGHTS[: words.shape[1]],
        dtype="u8",
        casting="unsafe",
    )
