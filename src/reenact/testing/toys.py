"""Toy data for examples: small, made from a seed, as NumPy arrays. Learnable in a second or two."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Classes = NDArray[np.int64]


def blobs(
    rows: int = 300,
    features: int = 8,
    classes: int = 3,
    seed: int = 0,
    spread: float = 1.0,
) -> tuple[Floats, Classes]:
    """Clouds of points around one centre a class, scaled to mean 0 and deviation 1."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(0, 2, (classes, features))
    labels = chance.integers(0, classes, rows)
    points = centres[labels] + chance.normal(0, spread, (rows, features))
    points = (points - points.mean(0)) / points.std(0)
    return points.astype("float32"), labels.astype("int64")


def moons(
    rows: int = 300,
    noise: float = 0.15,
    seed: int = 0,
) -> tuple[Floats, Classes]:
    """Two half circles that no straight line reports apart; two features, scaled."""
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, 2, rows)
    angle = chance.uniform(0, np.pi, rows)
    points = np.stack(
        [np.cos(angle), np.sin(angle)],
        1,
    )
    points[labels == 1] = points[labels == 1] * [1, -1] + [1.0, 0.4]
    points += chance.normal(0, noise, points.shape)
    points = (points - points.mean(0)) / points.std(0)
    return points.astype("float32"), labels.astype("int64")


def curve(
    rows: int = 300,
    features: int = 4,
    seed: int = 0,
) -> tuple[Floats, Floats]:
    """A smooth function of some numbers, with a little noise; targets of one column, mean 0,
    deviation 1.
    """
    chance = np.random.default_rng(seed)
    points = chance.uniform(-1, 1, (rows, features))
    target = np.sin(2 * points[:, :1]) + points[:, 1:2] * points[:, 2:3] + 0.5 * points[:, -1:]
    target += chance.normal(0, 0.05, target.shape)
    target = (target - target.mean()) / target.std()
    return points.astype("float32"), target.astype("float32")


def images(
    rows: int = 200,
    side: int = 8,
    classes: int = 3,
    seed: int = 0,
) -> tuple[Floats, Classes]:
    """Grey pictures with a bright bar, whose direction is the class; 0..1, shape rows, 1, side,
    side.
    """
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, classes, rows)
    pictures = chance.uniform(
        0,
        0.3,
        (rows, 1, side, side),
    )
    for number, label in enumerate(labels):
        at = int(chance.integers(1, side - 1))
        steps = np.arange(side)
        where = (
            (at, steps),
            (steps, at),
            (steps, steps),
            (steps, side - 1 - steps),
        )[label % 4]
        pictures[(number, 0, *where)] = 1.0
    return pictures.astype("float32"), labels.astype("int64")


def sequences(
    rows: int = 200,
    length: int = 12,
    seed: int = 0,
) -> tuple[Floats, Classes]:
    """Waves of two frequencies, shape rows, length, 1."""
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, 2, rows)
    time = np.arange(length) / length
    phase = chance.uniform(
        0,
        2 * np.pi,
        (rows, 1),
    )
    waves = np.sin(2 * np.pi * time * np.where(labels, 3, 1)[:, None] + phase)
    waves += chance.normal(0, 0.1, waves.shape)
    return waves[:, :, None].astype("float32"), labels.astype("int64")
