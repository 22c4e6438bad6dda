"""Rows that are nearly equal: by a sketch of each, pictures and series are known again that were changed a
little.
"""

from __future__ import annotations

import numpy

from reenact_probe.books.row_values import flat
from reenact_probe.types import Array, Facts

BITS = 64
NEAR = 2
"""Bits of a sketch in which nearly equal rows may differ."""
MOST = 1024
"""Rows of a set, and of those that trained, of which sketches are kept."""


class Sketches:
    """Of the first rows of one set, each different row once."""

    def __init__(self) -> None:
        self.keys: dict[int, None] = {}
        self._bits: list[Array] = []

    @property
    def full(self) -> bool:
        return len(self.keys) >= MOST

    def add(self, rows: Array, keys: Array) -> None:
        """Rows with the keys of their content."""
        if self.full or rows.dtype.kind != "f" or flat(rows).shape[1] < BITS:
            return
        fresh: dict[int, int] = {}
        for place, key in enumerate(keys.tolist()):
            # A row may come twice in one batch.
            if key not in self.keys and len(self.keys) + len(fresh) < MOST:
                fresh.setdefault(key, place)
        if fresh:
            self.keys.update(dict.fromkeys(fresh))
            self._bits.append(sketches_of(rows[list(fresh.values())]))

    def near(self, others: Sketches) -> Facts | None:
        """Of these rows, how many are nearly one of the others and none of them."""
        if not self._bits or not others._bits:
            return None
        own, theirs = numpy.concatenate(self._bits), numpy.concatenate(others._bits)
        fresh = numpy.array([key not in others.keys for key in self.keys], bool)
        count = (_neighbours(own[fresh], theirs) > 0).sum()
        if fresh.any():
            return {"rows": int(fresh.sum()), "near": int(count)}
        return None

    def usual(self) -> float:
        """The share of these rows that are nearly another of them."""
        if not self._bits:
            return 0.0
        own = numpy.concatenate(self._bits)
        # Each is its own neighbour.
        return float((_neighbours(own, own) > 1).mean())


_COUNTS = numpy.array([bin(byte).count("1") for byte in range(256)], "u1")


def _neighbours(rows: Array, others: Array) -> Array:
    """How many of the others each row is nearly equal to."""
    found = []
    for row in rows:
        differing = _COUNTS[(others ^ row).view("u1").reshape(len(others), -1)].sum(axis=1)
        found.append(int((differing <= NEAR).sum()))
    return numpy.array(found, int)


def sketches_of(rows: Array) -> Array:
    """For each row, as bits: which of its parts lie above their median."""
    table = flat(rows).astype("f8")
    edges = numpy.linspace(0, table.shape[1], BITS, endpoint=False).astype(int)
    parts = numpy.add.reduceat(table, edges, axis=1) / numpy.diff([*edges, table.shape[1]])
    above = parts > numpy.median(parts, axis=1, keepdims=True)
    return numpy.packbits(above, axis=1).view("u8").reshape(-1)
