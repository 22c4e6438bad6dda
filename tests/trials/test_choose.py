"""Executors by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import InputError
from reenact.trials.choose import open_executor
from reenact.trials.ensemble import Ensemble
from reenact.trials.pool import ProcessPool


def test_each_name_opens_its_executor(tmp_path: Path) -> None:
    with open_executor("process", workers=3, scratch=tmp_path, express=True) as pool:
        assert type(pool) is ProcessPool
        assert (pool.workers, pool.express, pool.servers) == (3, True, ())
    with open_executor("ensemble", workers=1) as ensemble:
        assert isinstance(ensemble, Ensemble)
    with pytest.raises(InputError, match="executor='proces'") as told:
        open_executor("proces")
    assert "process, ensemble, ray" in told.value.next_step
