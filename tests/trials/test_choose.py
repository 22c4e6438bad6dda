"""Executors by their names."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from reenact.errors import InputError, MissingExtra
from reenact.installed import install_line
from reenact.trials.choose import open_executor
from reenact.trials.pool import ProcessPool


def test_each_name_opens_its_executor() -> None:
    with open_executor("process", workers=3) as pool:
        assert type(pool) is ProcessPool
        assert (pool.workers, pool.servers) == (3, ())
    with pytest.raises(InputError, match="executor='proces'") as refused:
        open_executor("proces")
    assert "process, ray" in refused.value.next_step


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed here.")
def test_without_ray_a_sentence_says_what_to_install() -> None:
    with pytest.raises(MissingExtra, match="the package ray") as refused:
        open_executor("ray")
    assert refused.value.next_step == install_line("ray")
