"""One pool for all tests of trials: its servers pay for their imports once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reenact.trials.pool import ProcessPool


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory, warm_interpreter: str) -> Iterator[ProcessPool]:
    with ProcessPool(
        2, python=warm_interpreter, scratch=tmp_path_factory.mktemp("scratch")
    ) as found:
        yield found
