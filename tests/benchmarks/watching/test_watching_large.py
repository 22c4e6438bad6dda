"""A trace of many hours is written in few chunks and can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.watching.large import STEPS_A_SECOND, write_day
from reenact.probe.read import read_trace

pytestmark = pytest.mark.release


def test_chunks_become_fewer_as_a_training_goes_on(tmp_path: Path) -> None:
    write_day(tmp_path / "hour", 3600)
    trace = read_trace(tmp_path / "hour")
    assert trace.step_count == 3600 * STEPS_A_SECOND
    assert trace.complete
    assert len(list((tmp_path / "hour").glob("chunk-*.npz"))) < 300
