"""One pool and one ensemble for all tests of trials: their servers pay for their imports once."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from reenact.trials.ensemble import Ensemble
from reenact.trials.pool import ProcessPool


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessPool]:
    with ProcessPool(2, python=sys.executable, scratch=tmp_path_factory.mktemp("scratch")) as found:
        yield found


@pytest.fixture(scope="session")
def ensemble(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ensemble]:
    """Takes trainings together whatever the measurement says."""
    scratch = tmp_path_factory.mktemp("ensemble")
    with Ensemble(1, python=sys.executable, scratch=scratch, gain=0.0) as found:
        yield found
