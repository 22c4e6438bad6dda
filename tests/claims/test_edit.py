"""A diff becomes a patch that fits, or a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.claims.edit import lines_between, patch_of_diff
from reenact.errors import PatchRefused
from reenact.program.edit.change import Rewrite
from reenact.program.patch import Patch
from reenact.program.program import Program, read_program
from tests.claims.conftest import FIX, program_of


def test_a_diff_is_a_patch(program: Program) -> None:
    patch = patch_of_diff(FIX, program)
    text = patch.apply(program).entry_file.text
    assert "for reward in reversed(rewards):" in text
    assert "found.insert(0, total)" in text
    assert Patch.from_json(patch.to_json()) == patch
    assert lines_between(program, patch.apply(program)) == {"train.py": frozenset({8, 10})}


def test_it_fits_where_lines_have_moved(tmp_path: Path, program: Program) -> None:
    moved = program_of(tmp_path, "import math\n\n" + program.entry_file.text)
    assert "reversed" in patch_of_diff(FIX, moved).apply(moved).entry_file.text


def test_text_that_stands_twice_is_found_by_its_line(tmp_path: Path) -> None:
    twice = program_of(tmp_path, "a = 1\nb = a\n\nc = 2\nb = a\n\nd = 3\n")
    diff = "--- a/train.py\n+++ b/train.py\n@@ -5 +5 @@\n-b = a\n+b = c\n"
    assert patch_of_diff(diff, twice).apply(twice).entry_file.text.splitlines()[1::3] == [
        "b = a",
        "b = c",
    ]


def test_lines_can_be_put_in(program: Program) -> None:
    diff = "--- train.py\n+++ train.py\n@@ -12,0 +13,2 @@\n+\n+OTHER = 1\n"
    text = patch_of_diff(diff, program).apply(program).entry_file.text
    assert "OTHER = 1" in text


@pytest.mark.parametrize(
    ("diff", "says"),
    [
        ("nothing at all", "no change"),
        ("--- a/other.py\n+++ b/other.py\n@@ -1 +1 @@\n-a\n+b\n", "not one of the program's"),
        ("--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-not there\n+b\n", "is not in"),
        ("--- a/train.py\n+++ b/train.py\n@@ -2 +2 @@\n-GAMMA = 0.5\n+GAMMA = 0.5\n", "nothing"),
        ("--- a/train.py\n+++ b/train.py\n@@ -2 +2 @@\n-GAMMA = 0.5\n+GAMMA = (\n", "Python"),
        (
            "--- a/train.py\n+++ b/train.py\n@@ -2 +2,30 @@\n-GAMMA = 0.5\n"
            + "".join(f"+A{number} = {number}\n" for number in range(30)),
            "at most 3 files and 20 lines",
        ),
    ],
)
def test_what_does_not_fit_is_a_sentence(program: Program, diff: str, says: str) -> None:
    with pytest.raises(PatchRefused, match=says):
        patch_of_diff(diff, program)


def test_a_rewrite_must_stand_there_once(program: Program) -> None:
    for old, says in (("total", "times"), ("absent", "is not")):
        with pytest.raises(PatchRefused, match=says):
            Patch((Rewrite("train.py", old, "x"),)).apply(program)


@given(
    st.lists(st.sampled_from(["a = 1", "b = 2", "c = a", "", "# note"]), min_size=1, max_size=12)
)
def test_any_diff_of_two_programs_is_carried_out(lines: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        old = program_of(folder, "\n".join(["a = 0", *lines, "z = 9"]) + "\n")
        changed = [f"{line}0" if line.endswith("2") else line for line in lines]
        new_text = "\n".join(["a = 0", *changed, "z = 8"]) + "\n"
        (folder / "train.py").write_text(new_text)
        new = read_program(["train.py"], folder)
        from reenact.program.patch import unified_diff

        patch = patch_of_diff(unified_diff(old, new), old)
        assert patch.apply(old).entry_file.text == new_text
