"""Keys of rows: equal for equal rows, whatever array they lie in, and different for different
ones.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from reenact.probe import injected

RANDOM = np.random.default_rng(0)
KEY_VALUES = 1024


def row_keys(rows: np.ndarray[Any, Any]) -> Sequence[int]:
    injected.load()
    found: Sequence[int] = importlib.import_module("reenact_probe.data").row_keys(rows)
    return found


@pytest.mark.parametrize("shape", [(50, 3), (50, 28, 28), (50, 3, 32, 32)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "u1", "i8"])
def test_a_row_keeps_its_key_wherever_it_lies(shape: tuple[int, ...], dtype: str) -> None:
    rows = (255 * RANDOM.random(shape)).astype(dtype)
    keys = row_keys(rows)
    order = RANDOM.permutation(len(rows))
    assert row_keys(rows[order]) == [keys[at] for at in order]
    assert row_keys(rows[7:8]) == keys[7:8]
    assert len(set(keys)) == len(np.unique(rows.reshape(50, -1), axis=0))


def test_rows_of_zeros_and_ones_all_differ() -> None:
    rows = np.array(list(product((0.0, 1.0), repeat=14)), dtype="f4")
    assert len(set(row_keys(rows))) == len(rows)


def test_the_same_values_in_another_order_are_another_row() -> None:
    rows = np.array(list(permutations((1.0, 2.0, 3.0, 4.0, 5.0, 6.0))), dtype="f4")
    assert len(set(row_keys(rows))) == len(rows)


def test_wide_rows_are_distinguished_by_some_of_their_values() -> None:
    rows = np.zeros((3, 5 * KEY_VALUES), dtype="f4")
    rows[1, 0], rows[2, -1] = 1.0, 1.0
    assert len(set(row_keys(rows))) == 3


def test_no_rows_have_no_keys() -> None:
    assert row_keys(np.empty((0, 4))) == []
