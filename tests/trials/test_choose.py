"""Executors by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import InputError
from reenact.trials.executor import open_executor
from reenact.trials.pool import ProcessPool


def test_each_name_opens_its_executor(tmp_path: Path) -> None:
    with open_executor("process", workers=3, scratch=tmp_path) as pool:
        assert type(pool) is ProcessPool
        assert (pool.workers, pool.servers) == (3, ())
    with pytest.raises(InputError, match="executor='proces'") as refused:
        open_executor("proces")
    assert "process, ray" in refused.value.next_step
