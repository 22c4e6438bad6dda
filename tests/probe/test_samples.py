"""The statistics of samples: those of each sample alone, however many are reduced together."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from reenact.probe import injected

LENGTHS = (1, 16_000, 16_000, 16_000, 100_000, 1, 64, 32_768, 3)
"""Several blocks: some of many samples, one of a sample that is larger than a block."""


@pytest.fixture
def module() -> Any:
    injected.load()
    return importlib.import_module("reenact_probe.torch.samples")


def samples(dtype: str) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    made = [rng.normal(scale=3.0, size=length).astype(dtype) for length in LENGTHS]
    for sample in made:
        sample[::4] = 0.0
        sample[1::9] = 1e-7
    return made


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_row_tells_of_its_own_sample(module: Any, dtype: str) -> None:
    made = samples(dtype)
    table = module.reduce(made)
    assert len(table) == len(made)
    for sample, row in zip(made, table, strict=True):
        wide = sample.astype("f8")
        expected = {
            module.MEAN: wide.mean(),
            module.STD: wide.std(),
            module.MIN: wide.min(),
            module.MAX: wide.max(),
            module.MEAN_ABS: np.abs(wide).mean(),
            module.ZERO: (wide == 0).mean(),
            module.NONPOSITIVE: (wide <= 0).mean(),
            module.BEYOND_5: (np.abs(wide) >= 5).mean(),
            module.TINY: (np.abs(wide) < 1e-5).mean(),
            module.BAD: 0.0,
            module.SUM_SQUARES: np.square(wide).sum(),
            module.NEGATIVE: (wide < 0).mean(),
        }
        assert row[list(expected)] == pytest.approx(list(expected.values()), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("place", range(len(LENGTHS)))
def test_what_is_no_number_counts_in_its_own_sample(module: Any, place: int) -> None:
    made = samples("f4")
    made[place][-1] = np.nan
    bad = module.reduce(made)[:, module.BAD]
    assert bad[place] == pytest.approx(1 / LENGTHS[place])
    assert not np.delete(bad, place).any()
