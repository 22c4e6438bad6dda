"""The data set is what it was when its splits were locked: one hash check per split."""

from __future__ import annotations

import pytest

from benchmarks.dataset.lock import changes
from benchmarks.dataset.splits import Split, splits
from benchmarks.dataset.training import TRAININGS

pytestmark = pytest.mark.release


@pytest.mark.parametrize("split", splits().values(), ids=list(splits()))
def test_programs_truth_and_kinds_are_as_they_were_locked(split: Split) -> None:
    assert list(changes(split)) == []


def test_every_folder_is_in_a_split() -> None:
    folders = {
        path.name for path in TRAININGS.iterdir() if path.is_dir() and path.name != "__pycache__"
    }
    assert folders == {name for split in splits().values() for name in split.ids}
