"""From the files of a package to the arrays of a data set."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.formats import (
    read_events,
    read_flowers,
    read_idx,
    read_labels,
    read_sprite,
)
from reenact.errors import InputError, MissingPart

CIFAR_FILES = (
    *(f"data_batch_{number}.png" for number in range(1, 6)),
    "test_batch.png",
    "train_lables.json",
    "test_lables.json",
)
"""File names as the package spells them."""
EVENTS = 10_000


def made(name: str, members: Mapping[str, bytes]) -> dict[str, NDArray[Any]]:
    """The arrays of a data set from the members of its package."""
    by_file = {path.rpartition("/")[2].removesuffix(".gz"): data for path, data in members.items()}
    return RECIPES[name](by_file)


def events(table: Path, by_hand: str) -> dict[str, NDArray[Any]]:
    """The first rows of the Higgs challenge's training.csv."""
    if not table.is_file():
        raise MissingPart("The Higgs challenge data is in no package.", next_step=by_hand)
    with table.open(encoding="utf-8", errors="replace") as stream:
        return read_events("".join(islice(stream, EVENTS + 1)), EVENTS)


def _digits(files: Mapping[str, bytes]) -> dict[str, NDArray[Any]]:
    return {
        "x_train": read_idx(files["train-images-idx3-ubyte"], (60000, 28, 28)),
        "y_train": read_idx(files["train-labels-idx1-ubyte"], (60000,)),
        "x_test": read_idx(files["t10k-images-idx3-ubyte"], (10000, 28, 28)),
        "y_test": read_idx(files["t10k-labels-idx1-ubyte"], (10000,)),
    }


def _clothes(files: Mapping[str, bytes]) -> dict[str, NDArray[Any]]:
    return _digits({name: _gunzipped(data) for name, data in files.items()})


def _photographs(files: Mapping[str, bytes]) -> dict[str, NDArray[Any]]:
    batches = [read_sprite(files[name], 10000, 32) for name in CIFAR_FILES[:6]]
    return {
        "x_train": np.concatenate(batches[:5]),
        "y_train": read_labels(files["train_lables.json"], 50000, 10),
        "x_test": batches[5],
        "y_test": read_labels(files["test_lables.json"], 10000, 10),
    }


def _flowers(files: Mapping[str, bytes]) -> dict[str, NDArray[Any]]:
    measures, species = read_flowers(files["iris.csv"], 150)
    return {"x": measures, "y": species}


def _gunzipped(data: bytes, most: int = 48_000_000) -> bytes:
    """Unpack at most so many bytes: a small file may not fill the memory."""
    try:
        whole = zlib.decompressobj(wbits=31).decompress(data, most + 1)
    except zlib.error as error:
        raise InputError(f"A gzip file of the package is damaged: {error}.") from error
    if len(whole) > most:
        raise InputError(f"A gzip file of the package unpacks to more than {most} bytes.")
    return whole


RECIPES: Mapping[str, Callable[[Mapping[str, bytes]], dict[str, NDArray[Any]]]] = {
    "mnist": _digits,
    "fashion-mnist": _clothes,
    "cifar10": _photographs,
    "iris": _flowers,
}
