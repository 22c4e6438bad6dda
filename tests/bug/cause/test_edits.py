from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath

import pytest

from reenact.bug.cause.edits import WorkingCopy, changed, changes_between, diff_of
from reenact.bug.project_files import project_files
from reenact.bug.script_runner import Revision

A = PurePosixPath("acme/a.py")
B = PurePosixPath("acme/b.py")
NEW = PurePosixPath("acme/new.py")
OLD_TEXTS = {A: "one\ntwo\nthree\nfour\n", B: "same\n"}
NEW_TEXTS = {A: "one\n2\n3\nfour\nfive\n", B: "same\n", NEW: "made\n"}


def test_lines_that_take_the_place_of_others_are_single_changes() -> None:
    changes = changes_between(OLD_TEXTS, NEW_TEXTS)
    assert [one.place() for one in changes] == [
        "acme/a.py:2",
        "acme/a.py:3",
        "acme/a.py:5",
        "acme/new.py:1",
    ]
    assert changed(OLD_TEXTS, changes) == {path: NEW_TEXTS[path] for path in (A, NEW)}
    assert changed(OLD_TEXTS, changes[1:2]) == {A: "one\ntwo\n3\nfour\n"}


def test_tests_are_no_part_of_a_difference() -> None:
    tests = {PurePosixPath("tests/test_a.py"): "x\n", PurePosixPath("acme/test_b.py"): "y\n"}
    assert changes_between({}, tests) == ()


@pytest.mark.parametrize("text", ["one\n", "one", ""])
def test_a_diff_is_one_that_git_applies(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.py").write_text(text)
    path = PurePosixPath("a.py")
    after = {path: "two\nthree", NEW: "made\n"}
    (tmp_path / "x.patch").write_text(diff_of({path: text}, after))
    subprocess.run(["git", "apply", "x.patch"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "a.py").read_text() == "two\nthree"
    assert (tmp_path / NEW).read_text() == "made\n"


def test_a_working_copy_is_as_it_was_but_for_what_is_changed(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "acme").mkdir(parents=True)
    for path, text in OLD_TEXTS.items():
        (source / path).write_text(text)
    (source / "data.bin").write_bytes(b"\0" * 2_000_000)
    copy = WorkingCopy(Revision("r", project_files(source)), tmp_path / "copy")
    first = copy.with_texts({A: "changed\n", NEW: "made\n"})
    assert first.files.texts[A] == "changed\n"
    assert (tmp_path / "copy" / NEW).read_text() == "made\n"
    second = copy.with_texts({B: "other\n"})
    assert not (tmp_path / "copy" / NEW).exists()
    assert project_files(tmp_path / "copy").texts == {A: OLD_TEXTS[A], B: "other\n"}
    assert first.identity != second.identity
    assert project_files(source).texts == OLD_TEXTS, "the original is never touched"
