"""With what rows of tokens are filled up to one length, on which side, and how much of them that is."""

from __future__ import annotations

from collections import Counter

import numpy

from reenact_probe.types import Array, Facts

FEWEST_COLUMNS = 4
FEWEST_ROWS = 2
SHORTEST = 2
"""Equal numbers at an end that are more than a mark of an end."""
MOST_LENGTHS = 8


class Padding:
    """Of one set of rows, or of all that trained."""

    def __init__(self) -> None:
        self.values = 0
        self.parts = 0
        """Tensors that the model is given with them: more than one may tell where rows end."""
        self._filled: dict[bool, Counter[int]] = {False: Counter(), True: Counter()}
        """Numbers at the begin, and at the end, by what they are filled with."""
        self._lengths: dict[bool, set[int]] = {False: set(), True: set()}

    def add(self, parts: list[Array]) -> None:
        """Read the first tensor of tokens in what a model, or a loader, gives row by row."""
        self.parts = max(self.parts, len(parts))
        rows = next((one for one in parts if is_text(one)), None)
        if rows is None:
            return
        self.values += rows.size
        for at_end in (False, True):
            ordered = rows[:, ::-1] if at_end else rows
            value = Counter(ordered[:, 0].tolist()).most_common(1)[0][0]
            runs = numpy.cumprod(ordered == value, axis=1).sum(axis=1)
            long = runs[runs >= SHORTEST]
            self._filled[at_end][value] += int(long.sum())
            if len(self._lengths[at_end]) < MOST_LENGTHS:
                self._lengths[at_end].update(runs.tolist())

    def facts(self) -> Facts | None:
        """None where no tokens were seen."""
        if not self.values:
            return None
        return {"parts": self.parts, "begin": self._side(False), "end": self._side(True)}

    def _side(self, at_end: bool) -> Facts:
        (value, count), *_ = self._filled[at_end].most_common(1) or [(0, 0)]
        varies = len(self._lengths[at_end]) > 1
        return {"value": value, "share": count / self.values if varies else 0.0}


def is_text(rows: Array) -> bool:
    """Whether these may be tokens: whole numbers in rows of some length, more than two of them."""
    if rows.dtype.kind not in "iu" or rows.ndim != 2 or rows.shape[1] < FEWEST_COLUMNS:
        return False
    return len(rows) >= FEWEST_ROWS and len(numpy.unique(rows[:8])) > 2
