"""The columns of a trace. The header of every trace names them, so that a reader never counts."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reenact_probe.types import Row

STEP = (
    "step", "time", "epoch", "loss", "learning_rate", "batch_size", "backward_calls", "carried", "training",
    "sampled", "optimizer", "data_wait", "grad_norm", "weight_norm", "update_norm", "accuracy",
)  # fmt: skip
"""One row a step of an optimizer, sampled or not; what is known only on sampled steps is NaN elsewhere.

`carried` is 1 when gradients of the step before were still there at the first backward call, 0 when they had
been cleared. `training` is the mode of the model in the last forward pass seen."""

PARAMETER = (
    "step", "parameter", "grad_present", "grad_mean", "grad_std", "grad_mean_abs", "grad_norm",
    "grad_max_abs", "grad_zero_share", "grad_bad_share", "weight_mean", "weight_std", "weight_mean_abs",
    "weight_norm", "weight_max_abs", "weight_tiny_share", "weight_negative_share", "weight_bad_share",
    "update_mean_abs",
    "update_norm", "update_ratio",
)  # fmt: skip
"""One row a parameter tensor and sampled step. Weights are as they are after the step. `tiny` is below
1e-5.
"""

LAYER = (
    "step", "layer", "phase", "training", "mean", "std", "minimum", "maximum", "mean_abs", "zero_share",
    "nonpositive_share", "beyond_5_share", "saturated_share", "dead_unit_share", "bad_share", "row_sum",
    "grad_mean", "grad_mean_abs", "grad_zero_share", "grad_bad_share",
)  # fmt: skip
"""One row a layer and sampled forward pass: its output, and the gradient that came back to it.

`phase` is 0 for a training pass, 1 for an evaluation. `bad` is NaN or infinite. `row_sum` is the mean over
the batch of the sum of an output row, for the last layer only."""

COLUMNS = {"steps": STEP, "parameters": PARAMETER, "layers": LAYER}


class Table:
    """Rows of numbers, kept as they come until they are written."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.width = len(COLUMNS[name])
        self.rows: list[Row] = []
        self.add = self.rows.append

    def __len__(self) -> int:
        return len(self.rows)

    def set(self, row: int, column: int, value: float) -> None:
        """Put a value that came late into its row."""
        old = self.rows[row]
        self.rows[row] = (*old[:column], value, *old[column + 1 :])

    def take(self) -> bytes:
        """All rows, as an npy file; the table is empty afterwards."""
        flat = array("d")
        for row in self.rows:
            flat.extend(row)
        count = len(self.rows)
        self.rows.clear()
        return as_npy("<f8", (count, self.width), _little(flat))


def as_npy(descr: str, shape: tuple[int, ...], data: bytes) -> bytes:
    """The bytes of a version 1.0 npy file."""
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape!r}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode("latin1") + data


def _little(rows: array[float]) -> bytes:
    import sys

    if sys.byteorder == "big":
        rows.byteswap()
    return rows.tobytes()
