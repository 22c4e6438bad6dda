"""Cases that are run at once: what one raises ends the rest."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from benchmarks.several import several
from reenact.errors import InputError
from reenact.types import Stop, tell_nobody

pytestmark = pytest.mark.release


def written_or_failed(given: Path, _: Stop) -> str:
    if given.name == "0":
        raise InputError("The first one cannot be run.")
    given.touch()
    time.sleep(0.02)
    return given.name


def test_results_come_from_processes_as_they_are_done(tmp_path: Path) -> None:
    wanted = {name: tmp_path / name for name in "123"}
    found = several(wanted, written_or_failed, what="x", jobs=2, tell=tell_nobody, stop=Stop())
    assert {name: made for one in found for name, made in one.items()} == {
        "1": "1",
        "2": "2",
        "3": "3",
    }


def test_an_error_ends_what_has_not_begun(tmp_path: Path) -> None:
    wanted = {str(number): tmp_path / str(number) for number in range(400)}
    with pytest.raises(InputError, match="first one"):
        list(
            several(
                wanted,
                written_or_failed,
                what="x",
                jobs=2,
                tell=tell_nobody,
                stop=Stop(),
            )
        )
    assert len(list(tmp_path.iterdir())) < 399
