"""The rows as arrays: features, one column of truth a class, and which rows belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.detector.gather import Row
from reenact.diagnosis.learned.features import matrix
from reenact.diagnosis.learned.findings import CLASSES, FaultClass
from reenact.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST_ROWS, FEWEST_BASES = 10, 3
"""A class with less to learn from is left out."""


@dataclass(frozen=True)
class Dataset:
    """What the classifiers learn from."""

    names: tuple[str, ...]
    """Features, in the order of the columns."""
    classes: tuple[FaultClass, ...]
    x: NDArray[np.float32]
    y: NDArray[np.int64]
    """One row a training, one column a class, 0 or 1."""
    healthy: NDArray[np.bool_]
    """Rows without any fault, those outside the classes included."""
    bases: NDArray[np.int64]
    """Number of the base program of each row."""
    mutants: NDArray[np.int64]
    """Number of the mutant of each row: seeds of one mutant are never both learned from and
    tested on.
    """
    base_names: tuple[str, ...]


def dataset(rows: Sequence[Row]) -> Dataset:
    """The arrays; raises InputError when there are too few rows for any class."""
    import numpy as np

    classes = tuple(one for one in CLASSES if _enough(rows, one))
    if not classes:
        raise InputError(f"There is too little to learn from. Received: {len(rows)} trainings.")
    names = tuple(rows[0].features)
    bases = tuple(dict.fromkeys(row.base for row in rows))
    mutants = {
        key: number for number, key in enumerate(dict.fromkeys(_mutant(row) for row in rows))
    }
    truth = [[bool(row.faults.intersection(one.faults)) for one in classes] for row in rows]
    return Dataset(
        names,
        classes,
        matrix([row.features for row in rows], names),
        np.array(truth, dtype=np.int64),
        np.array([not row.faults for row in rows]),
        np.array([bases.index(row.base) for row in rows]),
        np.array([mutants[_mutant(row)] for row in rows]),
        bases,
    )


def _enough(rows: Sequence[Row], one: FaultClass) -> bool:
    mine = [row for row in rows if row.faults.intersection(one.faults)]
    return len(mine) >= FEWEST_ROWS and len({row.base for row in mine}) >= FEWEST_BASES


def _mutant(row: Row) -> tuple[str, str]:
    return row.base, row.mutant
