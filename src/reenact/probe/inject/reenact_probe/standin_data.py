"""Made-up data in the shapes, dtypes and value ranges of well-known data sets.

Labels follow from the inputs (a template for each class under noise, words that only one topic has, a curved
rule for quantities), so that a sound training learns; the same call gives the same rows every time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from reenact_probe.types import Array

TRAIN, TEST = 2000, 500
"""Rows, where the program does not count on those of the real data."""
Parts = tuple[tuple[Array, Array], tuple[Array, Array]]
"""Training and test data, each inputs and labels."""
_CELL = 4
"""Pixels of a template that have one value, across and down."""
_SHIFTS = tuple((down, right) for down in (-2, 0, 2) for right in (-2, 0, 2))
_AT_ONCE = 1000
"""Pictures that are computed together: memory for a few of them as floats, not for all."""
_FIRST_TELLING, _TELLING = 30, 8
"""Rank of the first word that tells a topic, and how many there are to each."""

BOSTON = (
    (0.006, 89), (0, 100), (0.46, 27.7), (0, 1), (0.385, 0.871), (3.56, 8.78), (2.9, 100), (1.13, 12.1),
    (1, 24), (187, 711), (12.6, 22), (0.32, 396.9), (1.73, 38),
)  # fmt: skip
CALIFORNIA = (
    (-124.35, -114.31), (32.54, 41.95), (1, 52), (2, 39320), (1, 6445), (3, 35682), (1, 6082), (0.5, 15),
)  # fmt: skip
CALIFORNIA_MEANS = (
    (0.5, 15), (1, 52), (0.85, 141.9), (0.33, 34.07), (3, 35682), (0.69, 1243), (32.54, 41.95),
    (-124.35, -114.31),
)  # fmt: skip
"""Least and largest value of each column, as keras and as scikit-learn order them."""


def pictures(side: int, channels: int, classes: int, rows: Sequence[int], seed: int) -> Parts:
    """Pictures of uint8 and labels: (rows, side, side), or (rows, side, side, channels) where there are
    colours. Each is the template of its class, moved a little, with a fainter one of another class."""
    chance = numpy.random.default_rng(seed)
    templates = _templates(side, channels, classes, chance)
    total = rows[0] + rows[1]
    labels = chance.permutation(numpy.arange(total) % classes)
    images = numpy.empty((total, *templates.shape[2:]), dtype="uint8")
    for begin in range(0, total, _AT_ONCE):
        part = labels[begin : begin + _AT_ONCE]
        moved = chance.integers(0, len(_SHIFTS), len(part))
        bright, faint = (
            chance.uniform(*bounds, len(part)).astype("float32").reshape(-1, *[1] * (images.ndim - 1))
            for bounds in ((0.6, 1.1), (0.0, 0.5))
        )
        mixed = bright * templates[moved, part]
        mixed += faint * templates[moved, chance.integers(0, classes, len(part))]
        mixed += 0.1 * chance.standard_normal(mixed.shape, dtype="float32")
        images[begin : begin + _AT_ONCE] = numpy.rint(numpy.clip(mixed, 0, 1) * 255)
    return (images[: rows[0]], labels[: rows[0]]), (images[rows[0] :], labels[rows[0] :])


def _templates(side: int, channels: int, classes: int, chance: Array) -> Array:
    """(shifts, classes, side, side[, channels]) from 0 to 1; one colour: strokes on an empty background."""
    cells = side // _CELL
    coarse = chance.random((classes, cells, cells, channels)).astype("float32")
    if channels == 1:
        coarse[coarse < 0.55] = 0
        coarse[:, [0, -1]] = 0
        coarse[:, :, [0, -1]] = 0
    large = coarse.repeat(_CELL, axis=1).repeat(_CELL, axis=2)
    large = large[..., 0] if channels == 1 else large
    return numpy.stack([numpy.roll(large, shift, axis=(1, 2)) for shift in _SHIFTS])


def ranks(words: int, classes: int, rows: int, seed: int) -> tuple[list[list[int]], Array]:
    """Texts as ranks of their words, the most frequent being 1, and their topics."""
    chance = numpy.random.default_rng(seed)
    topics = chance.permutation(numpy.arange(rows) % classes)
    texts = []
    for topic in topics:
        text = (words ** chance.random(chance.integers(30, 250))).astype("int64")
        telling = chance.random(len(text)) < 0.15
        first = _FIRST_TELLING + _TELLING * topic
        text[telling] = chance.integers(first, first + _TELLING, telling.sum())
        texts.append(text.tolist())
    return texts, topics


def encoded(
    texts: list[list[int]], topics: Array, num_words: int | None = None, skip_top: int = 0,
    maxlen: int | None = None, start_char: int | None = 1, oov_char: int | None = 2, index_from: int = 3,
) -> tuple[Array, Array]:  # fmt: skip
    """Ranks as keras numbers them, by the arguments of `imdb.load_data`."""
    head = [] if start_char is None else [start_char]
    made = [[*head, *(rank + index_from for rank in text)] for text in texts]
    kept = [at for at, text in enumerate(made) if not maxlen or len(text) < maxlen]
    limit = num_words or 1 + max(max(text) for text in made)
    rows = numpy.empty(len(kept), dtype=object)
    for row, at in enumerate(kept):
        words = [word if skip_top <= word < limit else oov_char for word in made[at]]
        rows[row] = [word for word in words if word is not None]
    return rows, numpy.asarray(topics)[kept]


def table(
    columns: Sequence[tuple[float, float]], target: tuple[float, float], rows: int, seed: int
) -> tuple[Array, Array]:
    """Numbers between the bounds of each column, and a quantity that follows from them by a curved rule."""
    chance = numpy.random.default_rng(seed)
    shares = chance.random((rows, len(columns)))
    centred = 2 * shares - 1
    height = centred @ chance.normal(0, 1, len(columns)) + centred[:, 0] * centred[:, 1] - centred[:, 2] ** 2
    height += chance.normal(0, 0.1, rows)
    low, high = numpy.asarray(columns, dtype="float64").T
    risen = 1 / (1 + numpy.exp(-height))
    return low + shares * (high - low), target[0] + risen * (target[1] - target[0])
