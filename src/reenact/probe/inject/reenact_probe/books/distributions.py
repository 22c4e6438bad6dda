"""Numbers that may be distributions: sums along an axis, of the first rows of what a loss is given."""

from __future__ import annotations

from reenact_probe.types import Tensor

MOST_NUMBERS = 1 << 20
"""Numbers of a tensor that are looked at: the first rows."""
LARGEST = 50.0
"""Above it an exponential says no more."""
_FAR = 1e30


def first_rows(tensor: Tensor) -> Tensor:
    """So many rows that they are not too many numbers."""
    rows = len(tensor) if tensor.dim() else 1
    each = tensor.numel() // rows if rows else 0
    if tensor.dim() and each:
        return tensor[: max(1, MOST_NUMBERS // each)]
    return tensor


def sums_along(numbers: Tensor, axis: int) -> list[float]:
    """The smallest and the largest sum along an axis, of those that are not 0 throughout."""
    sums = numbers.sum(axis)[numbers.ne(0).any(axis)]
    known = sums[sums.abs() < float("inf")]
    if known.numel():
        return [float(known.min()), float(known.max())]
    return []


def range_of(numbers: Tensor) -> list[float]:
    """The smallest and the largest number."""
    return [float(numbers.min().clamp(min=-_FAR)), float(numbers.max().clamp(max=_FAR))]
