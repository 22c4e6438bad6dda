"""The data of the program beside this file, given the way keras.datasets gives it."""

import os
import zipfile
from pathlib import Path

import numpy as np

FOLDER = Path(os.environ.get("REENACT_DATA", "data"))


def load_mnist(train=60000, test=10000, side=28):
    """Digits: grey levels from 0 to 255, 28 x 28 or fewer pixels, and their values."""
    return _part("mnist.npz", "train", train, 10, side), _part("mnist.npz", "test", test, 10, side)


def load_cifar10(train=50000, test=10000, classes=10, side=32):
    """Photographs: three levels from 0 to 255 a pixel, 32 x 32 or fewer pixels, and their classes in a column."""
    x_train, y_train = _part("cifar10.npz", "train", train, classes, side)
    x_test, y_test = _part("cifar10.npz", "test", test, classes, side)
    return (x_train, y_train.reshape(-1, 1)), (x_test, y_test.reshape(-1, 1))


def load_newswire(train=None, test=None):
    """Texts as arrays of word numbers (frequent words have small ones), and the topic of each text."""
    with np.load(_either("reuters.npz", "newswire.npz"), allow_pickle=False) as data:
        texts = np.split(data["tokens"], data["offsets"][1:-1])
        topics, border = data["labels"].astype("int64"), int(data["train_count"])
    return (texts[:border][:train], topics[:border][:train]), (texts[border:][:test], topics[border:][:test])


def load_iris():
    """Four measures of each flower, and its species from 0 to 2."""
    with np.load(FOLDER / "iris.npz", allow_pickle=False) as data:
        return data["x"], data["y"].astype("int64")


def load_higgs(rows):
    """The first events of the challenge: 31 numbers each, and 0 for a signal or 1 for background."""
    with np.load(FOLDER / "higgs.npz", allow_pickle=False) as data:
        return data["x"][:rows].astype("float32"), data["y"][:rows].astype("int64")


def _part(file, split, count, classes, side):
    """The first `count` images of the first classes, and their labels."""
    labels = _first(file, f"y_{split}", None)
    rows = np.flatnonzero(labels < classes)[:count]
    images = _first(file, f"x_{split}", rows[-1] + 1)[rows]
    return _shrunk(images, side), labels[rows]


def _first(file, name, count):
    """The first rows of one array; what lies behind them in the file is not read."""
    with zipfile.ZipFile(FOLDER / file) as archive, archive.open(f"{name}.npy") as stream:
        np.lib.format.read_magic(stream)
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        shape = (shape[0] if count is None else min(count, shape[0]), *shape[1:])
        data = stream.read(int(np.prod(shape)) * dtype.itemsize)
    return np.frombuffer(data, dtype).reshape(shape)


def _shrunk(images, side):
    """Images of fewer pixels: each is the mean of the square it stands for."""
    count, before = images.shape[:2]
    if side == before:
        return images
    step = before // side
    squares = images.reshape(count, side, step, side, step, *images.shape[3:])
    return squares.mean(axis=(2, 4)).round().astype(images.dtype)


def _either(*names):
    """The first of these files that is there."""
    for name in names:
        if (FOLDER / name).exists():
            return FOLDER / name
    raise FileNotFoundError(f"{' or '.join(names)} is not in {FOLDER}.")
