"""What loaders give round by round, and of which classes: rounds that end early or come in one order, rows
that are others when they are read again, classes that judge and never train.
"""

from __future__ import annotations

from collections import Counter

import numpy

from reenact_probe.books.row_values import keys_of
from reenact_probe.types import Array, Facts, Tensor

MOST_HEADS = 12
"""Rounds of a loader whose first batch is known."""
COMPARED = 2
"""Rounds whose rows are held against each other."""
MOST_CLASSES = 64
FEW_ROWS = 8


class Rounds:
    """The rounds of one loader."""

    def __init__(self) -> None:
        self.begun = 0
        self.early = 0
        """Rounds that began, and those before the last that gave fewer batches than there are."""
        self.given = 0
        self.batches = 0
        """Of the round under way; the most that one gives."""
        self.longest = 0
        self.heads: list[int] = []
        self._keys: list[set[int]] = []
        """Of the first rounds that were read: their rows, and the labels in their order."""
        self._labels: list[list[bytes]] = []
        self._is_read = False

    def begins(
        self,
        batches: int | None,
        first: Array | None,
        is_read: bool,
    ) -> None:
        """The first batch of a round has come."""
        if self.begun:
            self.early += self.given < self.batches
            self.longest = max(self.longest, self.given)
        self.begun += 1
        self.given = 0
        self.batches = batches or 0
        if first is not None and len(first) >= FEW_ROWS and len(self.heads) < MOST_HEADS:
            keys = keys_of([first]) * numpy.uint64(3)
            self.heads.append(int(numpy.bitwise_xor.reduce(keys)))
        self._is_read = is_read and len(self._keys) < COMPARED
        if self._is_read:
            self._keys.append(set())
            self._labels.append([])

    def read(self, keys: Array, labels: Array | None) -> None:
        """A batch of a round that is read."""
        if self._is_read:
            self._keys[-1].update(keys.tolist())
            self._labels[-1].append(b"" if labels is None else labels.tobytes())

    def facts(self, index: int) -> Facts:
        longest = max(self.longest, self.given)
        return {
            "loader": index,
            "rounds": self.begun,
            "early": self.early,
            "longest": longest,
            "batches": self.batches,
            "known": len(self.heads),
            "orders": len(set(self.heads)),
            "changed": self._changed(),
        }

    def _changed(self) -> float | None:
        """Of two rounds with the same labels in the same order: the share of rows that are others."""
        if len(self._keys) < 2:
            return None
        if self._labels[0] != self._labels[1] or not any(self._labels[0]):
            return None
        first, second = self._keys[:2]
        return 1 - len(first & second) / max(1, len(second))


class Classes:
    """Which classes train, and which judge, by the answers of a model to a number of them."""

    def __init__(self) -> None:
        self.train: Counter[int] = Counter()
        self.judge: Counter[int] = Counter()
        self._among = 0

    def trains(self, prediction: Tensor, labels: Array) -> None:
        """A loss that is stepped compares a score for each class with one class per row."""
        among = _among(prediction, labels)
        if among:
            self._among = self._among or among
            self._add(self.train, labels, among)

    def judges(self, prediction: Tensor, labels: Array) -> None:
        """The same of rows that judge."""
        self._add(self.judge, labels, _among(prediction, labels))

    def _add(self, counts: Counter[int], labels: Array, among: int) -> None:
        if among and among == self._among:
            counts.update(labels.tolist())

    def facts(self) -> Facts:
        return {"among": self._among, "train": dict(self.train), "judge": dict(self.judge)}


def _among(prediction: Tensor, labels: Array) -> int:
    """How many classes there are; 0 where these are not classes."""
    if prediction.dim() != 2 or labels.ndim != 1 or labels.dtype.kind not in "iu":
        return 0
    classes = int(prediction.shape[1])
    fits = len(labels) == len(prediction) and 2 <= classes <= MOST_CLASSES
    inside = fits and len(labels) > 0 and labels.min() >= 0 and labels.max() < classes
    return classes if inside else 0
