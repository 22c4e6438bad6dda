"""Of trainings whose every step is given all rows at once: which of them the loss reaches, and which the
program has set apart."""

from __future__ import annotations

import gc

import numpy

from reenact_probe.books.row_values import MOST_ROWS
from reenact_probe.torch.samples import plain
from reenact_probe.types import Array, Facts, Library, Place, Tensor

FEW_ROWS = 50
MOST_SETS = 8
LOOKS = 3


class Reach:
    """Rows that a loss reaches, among all that the model is given."""

    def __init__(self, torch: Library) -> None:
        self.torch = torch
        self.rows = 0
        self.reached: Array = None
        self.labels: Array = None
        self.place: Place | None = None
        self.sets: list[list[int]] | None = None
        """Of each set of rows apart: how many it has, how many of them are reached."""
        self._looks = 0
        self._whole = 0
        self._again = False
        """The inputs of the last loss were those of the one before."""

    def given(self, whole: int, labels: Array) -> None:
        """A loss compared a prediction for each row of the inputs of one model, known by all their keys."""
        self._again, self._whole = whole == self._whole, whole
        if len(labels) == self.rows and self.reached is not None:
            self.labels = labels

    def trains(
        self,
        prediction: Tensor,
        target: Tensor,
        place: Place | None,
    ) -> None:
        """A loss compares these: where the inputs are those of the step before, as far as is known."""
        rows = len(target) if target.dim() else 0
        whole_numbers = not target.is_floating_point() and target.dim() == 1
        if not self._again or rows < FEW_ROWS or self._looks >= LOOKS or not whole_numbers:
            return
        if prediction.dim() < 2 or len(prediction) != rows or not prediction.requires_grad:
            return
        if not plain(self.torch, target) or rows > MOST_ROWS or prediction.is_leaf:
            return
        self._looks += 1
        self.rows = rows
        self.place = place
        prediction.register_hook(self._came)

    def _came(self, gradient: Tensor) -> None:
        """The gradient of the prediction; it stays as it is."""
        if len(gradient) == self.rows and not gradient.is_sparse:
            reached = (gradient.detach() != 0).flatten(1).any(1).cpu().numpy()
            self.reached = reached if self.reached is None else self.reached | reached

    def evaluated(self, rows: int) -> None:
        """The same rows are evaluated: what sets of them does the program hold?"""
        known = self.reached is not None and self.labels is not None
        if self.sets is None and known and rows == self.rows:
            apart = self._apart()
            self.sets = [
                [int(one.sum()), int((one & self.reached).sum())] for one in apart[:MOST_SETS]
            ]

    def _apart(self) -> list[Array]:
        """Sets of rows that share none: masks, and lists of numbers. A set of one class is not a part
        of a split."""
        found: list[Array] = []
        for thing in gc.get_objects():
            if type(thing) is not self.torch.Tensor:
                continue
            mask = self._mask(thing)
            if mask is None or len(numpy.unique(self.labels[mask])) < 2:
                continue
            if not any((mask & other).any() for other in found):
                found.append(mask)
        return found

    def _mask(self, tensor: Tensor) -> Array | None:
        """A tensor as a set of rows; none where it is not one, or is that of all rows."""
        if tensor.dim() != 1 or tensor.requires_grad or not tensor.numel():
            return None
        few = tensor.numel() < self.rows
        if tensor.dtype is self.torch.bool and tensor.numel() == self.rows:
            mask: Array = tensor.cpu().numpy()
        elif tensor.dtype is self.torch.int64 and few and tensor.numel() >= 8:
            numbers = tensor.cpu().numpy()
            if numbers.min() < 0 or numbers.max() >= self.rows:
                return None
            if len(numpy.unique(numbers)) < len(numbers):
                return None
            mask = numpy.zeros(self.rows, bool)
            mask[numbers] = True
        else:
            return None
        size = int(mask.sum())
        return mask if 8 <= size < self.rows else None

    def facts(self) -> Facts | None:
        if self.reached is None:
            return None
        return {
            "rows": self.rows,
            "reached": int(self.reached.sum()),
            "sets": self.sets or [],
            "place": self.place,
        }
