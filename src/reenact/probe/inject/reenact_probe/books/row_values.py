"""Rows as numbers: what is read of a tensor for the book of rows, and a key for each row by its content."""

from __future__ import annotations

from typing import Any

import numpy

from reenact_probe.data import key_array
from reenact_probe.torch.samples import plain
from reenact_probe.torch.transfer import array_of
from reenact_probe.types import Array, Library, Tensor

MOST_VALUES = 1 << 18
MOST_ROWS = 4096
"""Values, and rows, of one tensor that are read."""
MOST_TENSORS = 6
_FACTORS = (1, 3, 5, 7, 11, 13, 17, 19)
"""Odd numbers: the same parts in another order are another row."""
SAMPLE = 64
MANY_BITS = 40.0


def first_rows_of(torch: Library, tensor: Tensor) -> Tensor | None:
    """The first rows of a tensor, where they are; none where it has no rows of numbers."""
    if not isinstance(tensor, torch.Tensor) or not plain(torch, tensor):
        return None
    if not tensor.dim() or not tensor.numel() or tensor.is_complex():
        return None
    width = tensor.numel() // tensor.shape[0]
    rows = min(MOST_ROWS, max(1, MOST_VALUES // width))
    return tensor.detach()[:rows]


def rows_of(torch: Library, tensor: Tensor) -> Array | None:
    """The same as numpy holds them; waits for a device."""
    few = first_rows_of(torch, tensor)
    return array_of(few.cpu()) if few is not None else None


def tensors_in(torch: Library, value: Any) -> list[Tensor]:
    """The tensors in nested tuples, lists and dictionaries, in order, as many as are read."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (tuple, list)):
        return []
    inside = [tensor for part in value[:8] for tensor in tensors_in(torch, part)]
    return inside[:MOST_TENSORS]


def same_rows(torch: Library, values: Any) -> list[Tensor]:
    """What was given row by row: the first part, and those that have as many rows as it."""
    parts = [first_rows_of(torch, tensor) for tensor in tensors_in(torch, values)]
    known = [part for part in parts if part is not None]
    return [part for part in known if len(part) == len(known[0])]


def keys_of(parts: list[Array]) -> Array:
    """One key for each row of all parts together."""
    keys = numpy.zeros(len(parts[0]), "u8")
    for factor, part in zip(_FACTORS, parts):
        keys = keys + key_array(part) * numpy.uint64(factor)
    return keys


def flat(rows: Array) -> Array:
    """Rows as a table."""
    return rows.reshape(len(rows), -1)


def is_certain(rows: Array) -> bool:
    """Whether two rows like these are hardly ever equal by chance: two of their values are measured, or
    they hold many values that differ from row to row.
    """
    few = flat(rows)[:SAMPLE]
    if len(few) < 8:
        return False
    few = few[:, :: max(1, few.shape[1] // 256)]
    distinct = _distinct(few)
    measured = 0
    if few.dtype.kind == "f":
        measured = int(numpy.count_nonzero(distinct > 0.8 * len(few)))
    # Of ones and zeros many are equal by chance: a row of one-hot codes is one of a few.
    bits = numpy.log2(distinct[distinct > 2]).sum()
    return bool(measured >= 2 or bits >= MANY_BITS)


def is_measured(rows: Array) -> bool:
    """Whether equal rows are copies: each different row has values of its own in two columns or more, as
    measured values are.
    """
    few = flat(rows)[: 4 * SAMPLE]
    if few.dtype.kind != "f":
        return False
    few = few[:, :: max(1, few.shape[1] // 64)]
    different = len(numpy.unique(few, axis=0))
    return bool(numpy.count_nonzero(_distinct(few) == different) >= 2)


def _distinct(rows: Array) -> Array:
    """How many values each column has."""
    ordered = numpy.sort(rows, axis=0)
    counts: Array = 1 + (ordered[1:] != ordered[:-1]).sum(axis=0)
    return counts
