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

    def add(self, rows: Array, keys: Array) -> None:
        """Rows with the keys of their content."""
        if len(self.keys) >= MOST or rows.dtype.kind != "f" or flat(rows).shape[1] < BITS:
            return
        fresh = [place for place, key in enumerate(keys.tolist()) if key not in self.keys]
        fresh = fresh[: MOST - len(self.keys)]
        if fresh:
            self.keys.update(dict.fromkeys(keys[fresh].tolist()))
            self._bits.append(sketches_of(rows[fresh]))

    def near(self, others: Sketches) -> Facts | None:
        """Of these rows, how many are nearly one of the others and none of them; and how many of the others
        are nearly another of their own.
        """
        if not self._bits or not others._bits:
            return None
        own, theirs = numpy.concatenate(self._bits), numpy.concatenate(others._bits)
        known = list(self.keys)
        fresh = numpy.array([key not in others.keys for key in known[: len(own)]], bool)
        if not fresh.any():
            return None
        count = self._closest(own[fresh], theirs) <= NEAR
        among = others._closest(theirs, theirs, itself=True) <= NEAR
        return {"rows": int(fresh.sum()), "near": int(count.sum()), "usual": float(among.mean())}

    @staticmethod
    def _closest(rows: Array, others: Array, itself: bool = False) -> Array:
        """The fewest bits in which each row differs from one of the others."""
        found = []
        for place, row in enumerate(rows):
            differing = (others ^ row).view("u1").reshape(len(others), -1)
            bits = _COUNTS[differing].sum(axis=1)
            if itself:
                bits[place] = BITS
            found.append(int(bits.min()))
        return numpy.array(found)


_COUNTS = numpy.array([bin(byte).count("1") for byte in range(256)], "u1")


def sketches_of(rows: Array) -> Array:
    """For each row, as bits: which of its parts lie above their median."""
    table = flat(rows).astype("f8")
    edges = numpy.linspace(0, table.shape[1], BITS, endpoint=False).astype(int)
    parts = numpy.add.reduceat(table, edges, axis=1) / numpy.diff([*edges, table.shape[1]])
    above = parts > numpy.median(parts, axis=1, keepdims=True)
    return numpy.packbits(above, axis=1).view("u8").reshape(-1)
