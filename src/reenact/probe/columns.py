"""A table of a trace: named columns over one array of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Series:
    """Values over steps, in the order of the steps."""

    steps: NDArray[np.int64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def known(self) -> Series:
        """Without the steps whose value is not known."""
        import numpy as np

        keep = ~np.isnan(self.values)
        return Series(self.steps[keep], self.values[keep])


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows of numbers. A column that an older or other writer does not know reads as NaN."""

    columns: tuple[str, ...]
    rows: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> NDArray[np.float64]:
        if column in self.columns:
            return self.rows[:, self.columns.index(column)]
        import numpy as np

        return np.full(len(self.rows), np.nan)

    def where(self, **equal: float) -> Columns:
        """The rows in which each named column has the given value."""
        import numpy as np

        keep = np.ones(len(self.rows), dtype=bool)
        for column, value in equal.items():
            keep &= self[column] == value
        return Columns(self.columns, self.rows[keep])

    def series(self, column: str) -> Series:
        """One column over the steps."""
        import numpy as np

        return Series(self["step"].astype(np.int64), self[column])


def no_rows(columns: tuple[str, ...]) -> Columns:
    """A table with these columns and no row."""
    import numpy as np

    return Columns(columns, np.empty((0, len(columns))))
