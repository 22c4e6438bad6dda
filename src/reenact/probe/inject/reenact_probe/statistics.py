"""All statistics of one sampled step in one pass: every sample lies in one flat array, cut at offsets."""

from __future__ import annotations

import numpy

from reenact_probe.types import Array

MEAN, STD, MIN, MAX, MEAN_ABS, ZERO, NONPOSITIVE, BEYOND_5, TINY, BAD, SUM_SQUARES, NEGATIVE = range(12)
TINY_BELOW = 1e-5


def reduce(flat: Array, lengths: list[int]) -> Array:
    """One row of statistics for each segment of `flat`; shares are of the segment's length."""
    counts = numpy.asarray(lengths)
    starts = numpy.concatenate(([0], numpy.cumsum(counts)[:-1]))
    with numpy.errstate(all="ignore"):
        return _reduce(flat, starts, counts.astype("f8"))


def _reduce(flat: Array, starts: Array, counts: Array) -> Array:
    magnitude = numpy.abs(flat)
    result = numpy.empty((len(counts), 12))
    result[:, MEAN] = numpy.add.reduceat(flat, starts, dtype="f8") / counts
    result[:, MEAN_ABS] = numpy.add.reduceat(magnitude, starts, dtype="f8") / counts
    result[:, SUM_SQUARES] = numpy.add.reduceat(numpy.square(flat, dtype="f8"), starts)
    variance = result[:, SUM_SQUARES] / counts - result[:, MEAN] ** 2
    result[:, STD] = numpy.sqrt(numpy.maximum(variance, 0.0))
    result[:, MIN] = numpy.minimum.reduceat(flat, starts)
    result[:, MAX] = numpy.maximum.reduceat(flat, starts)
    result[:, ZERO] = _share(flat == 0, starts, counts)
    result[:, NEGATIVE] = _share(flat < 0, starts, counts)
    result[:, NONPOSITIVE] = result[:, ZERO] + result[:, NEGATIVE]
    result[:, BEYOND_5] = _share(magnitude >= 5, starts, counts)
    result[:, TINY] = _share(magnitude < TINY_BELOW, starts, counts)
    # A sum is finite when every part is: the slow look is needed only when something is wrong.
    bad = ~numpy.isfinite(result[:, MEAN_ABS])
    result[:, BAD] = _share(~numpy.isfinite(flat), starts, counts) if bad.any() else 0.0
    return result


def _share(mask: Array, starts: Array, counts: Array) -> Array:
    return numpy.add.reduceat(mask.view("u1"), starts, dtype="u4") / counts
