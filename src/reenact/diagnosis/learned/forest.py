"""The shipped model: a forest of decision trees as plain arrays, read and asked with NumPy alone.

No pickle: the file is an npz of numbers and text. Every tree belongs to one class and is a range of nodes; a
node sends a row to its left child when the value of its feature is at most its threshold; a leaf holds what
it adds to the class's log-odds. The probability then goes through a calibration curve, so that 0.7 means
right in seven of ten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reenact.diagnosis.learned.features import matrix
from reenact.errors import InputError

MODEL = Path(__file__).parent / "model.npz"
FORMAT = 1


@dataclass(frozen=True)
class Forest:
    """Trees and what they mean."""

    names: tuple[str, ...]
    """Features, in the order of the columns."""
    codes: tuple[str, ...]
    """Classes, in the order of the columns of what comes out."""
    roots: NDArray[np.int32]
    """First node of each tree."""
    owner: NDArray[np.int16]
    """Number of the class that each tree speaks of."""
    prior: NDArray[np.float64]
    """Log-odds of each class before any tree has spoken."""
    feature: NDArray[np.int16]
    """Feature that a node asks for; -1 at a leaf."""
    threshold: NDArray[np.float32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float32]
    """What a leaf adds."""
    curve_x: NDArray[np.float32]
    """One calibration curve a class: probabilities of the trees, ascending..."""
    curve_y: NDArray[np.float32]
    """... and what they are worth."""

    def raw(self, x: NDArray[np.float32]) -> NDArray[np.float64]:
        """Probabilities before calibration: one row a training, one column a class."""
        at = np.broadcast_to(self.roots, (len(x), len(self.roots))).copy()
        rows = np.arange(len(x))[:, None]
        while (inner := self.feature[at] >= 0).any():
            goes_left = x[rows, np.maximum(self.feature[at], 0)] <= self.threshold[at]
            at = np.where(inner, np.where(goes_left, self.left[at], self.right[at]), at)
        odds = np.broadcast_to(self.prior, (len(x), len(self.codes))).copy()
        for tree, owner in enumerate(self.owner):
            odds[:, owner] += self.value[at[:, tree]]
        probabilities: NDArray[np.float64] = 1 / (1 + np.exp(-odds))
        return probabilities

    def probabilities(self, features: Mapping[str, float]) -> dict[str, float]:
        """Calibrated probability of each class, by code."""
        probabilities = self.calibrated(self.raw(matrix([features], self.names)))[0]
        return {code: float(value) for code, value in zip(self.codes, probabilities, strict=True)}

    def calibrated(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """What raw probabilities are worth, column by column."""
        curves = zip(raw.T, self.curve_x, self.curve_y, strict=True)
        return np.stack([np.interp(values, xs, ys) for values, xs, ys in curves], axis=1)

    def save(self, file: Path) -> None:
        """Write it; the file is the same for the same forest."""
        arrays = {field: getattr(self, field) for field in _ARRAYS}
        texts = {"names": np.array(self.names), "codes": np.array(self.codes), "format": np.array([FORMAT])}
        with file.open("wb") as sink:
            np.savez_compressed(sink, allow_pickle=False, **arrays, **texts)


_ARRAYS = (
    "roots", "owner", "prior", "feature", "threshold", "left", "right", "value", "curve_x", "curve_y",
)  # fmt: skip


@lru_cache(maxsize=4)
def load(file: Path = MODEL) -> Forest:
    """The forest in a file; raises InputError when it is not one."""
    import zipfile

    try:
        with np.load(file, allow_pickle=False) as found:
            if int(found["format"][0]) != FORMAT:
                raise InputError(f"The detector has another format than {FORMAT}. Received: {file}.")
            names, codes = (tuple(map(str, found[key])) for key in ("names", "codes"))
            return Forest(names, codes, *(found[key] for key in _ARRAYS))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(
            f"The learned detector cannot be read ({error}). Received: {file}.",
            next_step="Train it again: python -m benchmarks train-detector.",
        ) from error
