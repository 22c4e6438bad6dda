"""The programs of the pages, rewritten: a detector that reads the text alone fires on what its page shows
however that is written, and on nothing else.

No program is trained here: what each rewrite leaves as it was is the subject of `test_rewrites.py`.
"""

from __future__ import annotations

import sys

import pytest

from benchmarks.blind.rewrites.every import ALL, REWRITES, rewritten
from benchmarks.blind.rewrites.text import Project, Source
from faults.test_every_fault import pair_of
from reenact.faults import Detector, Needs
from reenact.faults.registry import all_detectors
from reenact.testing.faults import findings

BY_TEXT = [one for one in all_detectors() if one.needs == Needs.SOURCE]


def as_rewritten(text: str, name: str) -> str:
    project = Project({"train.py": Source.of(text)}, "", sys.executable)
    return rewritten(project, name).files["train.py"].text


@pytest.mark.parametrize("one", BY_TEXT, ids=lambda one: one.code)
def test_a_page_is_seen_however_it_is_written(one: Detector) -> None:
    example, instead = pair_of(one)
    names = (*REWRITES, ALL)
    silent = [name for name in names if not findings(one, as_rewritten(example, name))]
    assert silent == [], "silent on the example"
    loud = [name for name in names if findings(one, as_rewritten(instead, name))]
    assert loud == [], "fires on what to write instead"


def test_all_rewrites_change_something_on_most_pages() -> None:
    changed = [one for one in BY_TEXT if as_rewritten(pair_of(one)[0], ALL) != pair_of(one)[0]]
    assert len(changed) > 0.9 * len(BY_TEXT)
