"""Edits that fit are made; those that do not are refused in words, and nothing is changed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.codegen.edits import Edited, FileText, edited, unfenced, with_files
from reenact.codegen.project import Project, check_name

PROJECT = Project({"a.py": "one\ntwo\nthree\n", "b.py": "x = 1\nx = 1\n"})


def by_lines(
    first: int,
    last: int,
    old_first: str,
    old_last: str,
    text: str = "new",
    path: str = "a.py",
) -> Any:
    return {
        "path": path,
        "first": first,
        "last": last,
        "old_first": old_first,
        "old_last": old_last,
        "text": text,
    }


def change(**parts: Any) -> Project:
    return edited(PROJECT, Edited.model_validate(parts))


def test_a_range_that_quotes_its_lines_is_replaced() -> None:
    made = change(lines=[by_lines(2, 3, "two", "three")])
    assert made.files["a.py"] == "one\nnew\n"
    assert PROJECT.files["a.py"] == "one\ntwo\nthree\n"


def test_several_ranges_count_from_what_was_shown() -> None:
    made = change(
        lines=[
            by_lines(1, 1, "one", "one", "A\nB\nC"),
            by_lines(3, 3, "three", "three", "D"),
        ]
    )
    assert made.files["a.py"] == "A\nB\nC\ntwo\nD\n"


def test_an_insertion_quotes_nothing() -> None:
    assert change(lines=[by_lines(4, 3, "", "", "four")]).files["a.py"] == "one\ntwo\nthree\nfour\n"


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"lines": [by_lines(1, 2, "two", "three")]}, "line 1 is 'one', not 'two'"),
        ({"lines": [by_lines(2, 3, "two", "two")]}, "line 3 is 'three', not 'two'"),
        ({"lines": [by_lines(2, 9, "two", "three")]}, "the file has 3 lines"),
        (
            {"lines": [by_lines(1, 2, "one", "two"), by_lines(2, 3, "two", "three")]},
            "touch line 2",
        ),
        ({"lines": [by_lines(1, 1, "", "", path="c.py")]}, "There is no file 'c.py'"),
        (
            {"swaps": [{"path": "b.py", "search": "x = 1", "replace": "y"}]},
            "is 2 times",
        ),
        (
            {"swaps": [{"path": "a.py", "search": "zwei", "replace": "y"}]},
            "is not",
        ),
        ({"removed": ["c.py"]}, "There is no file 'c.py'"),
        (
            {
                "removed": ["a.py"],
                "swaps": [{"path": "a.py", "search": "one", "replace": "y"}],
            },
            "two ways",
        ),
        ({"files": [{"path": "../out.py", "text": "x"}]}, "not a name of a project file"),
        ({"files": [{"path": "metrics.json", "text": "{}"}]}, "never written by hand"),
        ({"files": [{"path": "model.pkl", "text": "x"}]}, "not a text file"),
        (
            {"files": [{"path": "n.py", "text": "x"}, {"path": "n.py", "text": "y"}]},
            "given twice",
        ),
        (
            {"swaps": [{"path": "a.py", "search": "one", "replace": "one"}]},
            "change nothing",
        ),
        ({}, "Nothing is changed"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(parts: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        change(**parts)


def test_new_files_swaps_and_removals_go_together() -> None:
    made = change(
        swaps=[{"path": "a.py", "search": "two", "replace": "2"}],
        files=[{"path": "pkg/new.py", "text": "```python\nz = 1\n```"}],
        removed=["b.py"],
    )
    assert made.files == {"a.py": "one\n2\nthree\n", "pkg/new.py": "z = 1\n"}
    assert made.lines_changed(PROJECT) == 2 + 1 + 2


@given(st.text())
def test_no_name_leads_out_of_the_project(name: str) -> None:
    try:
        check_name(name)
    except ValueError:
        return
    assert ".." not in name.split("/")
    assert not name.startswith(("/", "."))


def test_a_fence_is_taken_off_and_files_end_in_one_line_end() -> None:
    assert unfenced("```\nx = 1\n```\n") == "x = 1\n"
    assert with_files(Project(), [FileText(path="a.py", text="x\n\n")]).files["a.py"] == "x\n"
