"""The buggy revision with the names of the fixed one: they are there, and what was there does
the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.bug.controls.added import with_added_names
from reenact.bug.project_files import ProjectFiles, project_files

BUGGY = """from math import log

LIMIT = 1


class Meter:
    size = 1

    def mean(self):
        return 1 / 0
"""
FIXED = """from math import exp, log

LIMIT = 2
WIDTH = 3


class Meter:
    size = 2
    floor = 0.5

    def mean(self):
        return 0.0

    def safe(self):
        return True

    def __len__(self):
        return 1


def helper():
    return exp(0)
"""


def revisions(folder: Path, buggy: str, fixed: str) -> tuple[ProjectFiles, ProjectFiles]:
    for name, text in (("buggy", buggy), ("fixed", fixed)):
        (folder / name).mkdir()
        (folder / name / "acme.py").write_text(text)
    return project_files(folder / "buggy"), project_files(folder / "fixed")


def test_new_names_are_there_and_old_code_is_the_same(tmp_path: Path) -> None:
    files, count = with_added_names(*revisions(tmp_path, BUGGY, FIXED), tmp_path / "new")
    assert count == 5
    namespace: dict[str, object] = {}
    (text,) = files.texts.values()
    exec(text, namespace)
    meter = namespace["Meter"]
    assert (namespace["LIMIT"], namespace["WIDTH"]) == (1, 3)
    assert (meter.size, meter.floor) == (1, 0.5)  # type: ignore[attr-defined]
    assert meter().safe()  # type: ignore[operator]
    assert namespace["helper"]() == 1.0  # type: ignore[operator]
    with pytest.raises(ZeroDivisionError):
        meter().mean()  # type: ignore[operator]
    assert not hasattr(meter, "__len__"), "Python itself would call it"


def test_a_fix_without_new_names_adds_nothing(tmp_path: Path) -> None:
    fixed = BUGGY.replace("1 / 0", "0.0")
    files, count = with_added_names(*revisions(tmp_path, BUGGY, fixed), tmp_path / "new")
    assert count == 0
    assert list(files.texts.values()) == [BUGGY]


def test_new_files_are_names_too(tmp_path: Path) -> None:
    buggy, _ = revisions(tmp_path, BUGGY, BUGGY)
    (tmp_path / "fixed" / "more.py").write_text("NEW = 1\n")
    files, count = with_added_names(buggy, project_files(tmp_path / "fixed"), tmp_path / "new")
    assert count == 1
    assert (tmp_path / "new" / "more.py").read_text() == "NEW = 1\n"
    assert len(files.paths) == 2


def test_what_cannot_be_parsed_is_left_alone(tmp_path: Path) -> None:
    files, count = with_added_names(*revisions(tmp_path, BUGGY, "def f(:\n"), tmp_path / "new")
    assert count == 0
    assert list(files.texts.values()) == [BUGGY]
