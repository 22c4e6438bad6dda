"""Two recorded runs side by side: what is given, what is answered, and what says nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reenact.bug.controls.compare import (
    Found,
    compared,
    functions_of_one,
    names_in,
    unstable_places,
)
from reenact.bug.project_files import project_files
from reenact.bug.recorded_calls import CallEvent, RecordedCalls


def calls(*events: tuple[str, str, dict[str, str]], **more: Any) -> RecordedCalls:
    listed = tuple(CallEvent(way, name, 3, number) for number, (way, name, _) in enumerate(events))
    return RecordedCalls(tuple(tree for _, _, tree in events), listed, **more)


IN = ("in", "total", {"values": "list of 1", "values[0]": "1.0"})
OTHER_IN = ("in", "total", {"values": "list of 1", "values[0]": "nan"})
OUT = ("out", "total", {"gives": "1.0"})
OTHER_OUT = ("out", "total", {"gives": "2.0"})


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ((IN, OUT), (IN, OUT), Found.ALIKE),
        ((IN, OUT), (IN, OTHER_OUT), Found.ANSWERS),
        ((IN, OUT), (OTHER_IN, OTHER_OUT), Found.GIVEN),
        # After a different answer a script may do anything.
        ((IN, OUT, IN), (IN, OTHER_OUT, OTHER_IN), Found.ANSWERS),
        ((IN, OUT, IN), (IN, OUT, OTHER_IN), Found.GIVEN),
        ((IN, OUT), (IN, OUT, IN, OUT), Found.ALIKE),
        ((IN, OUT), (("in", "scaled", {}), OUT), Found.GIVEN),
        ((), (), Found.ALIKE),
    ],
)
def test_the_first_difference_decides(one: Any, other: Any, found: Found) -> None:
    assert compared(calls(*one), calls(*other)).found is found


def test_an_attribute_that_one_side_alone_has_is_no_difference() -> None:
    plain = (
        "out",
        "Meter.__init__",
        {"after self": "object Meter", "after self.size": "1"},
    )
    more = ("out", "Meter.__init__", {**plain[2], "after self.floor": "0.5"})
    assert compared(calls(plain), calls(more)).found is Found.ALIKE
    larger = ("out", "Meter.__init__", {**more[2], "after self.size": "2"})
    assert compared(calls(plain), calls(larger)).found is Found.ANSWERS


def given(value: str, *, default: bool) -> tuple[str, str, dict[str, str]]:
    return (
        "in",
        "scaled",
        {"factor": value, **({"factor?": "default"} if default else {})},
    )


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (given("2.0", default=True), given("1.0", default=True), Found.ALIKE),
        (given("2.0", default=True), given("2.0", default=False), Found.ALIKE),
        (given("2.0", default=True), given("1.0", default=False), Found.GIVEN),
        (given("2.0", default=False), given("1.0", default=False), Found.GIVEN),
    ],
)
def test_another_default_is_no_other_argument(one: Any, other: Any, found: Found) -> None:
    assert compared(calls(one), calls(other)).found is found


def test_what_differs_between_two_runs_of_one_revision_is_no_evidence() -> None:
    first, again = calls(IN, OUT), calls(OTHER_IN, OUT)
    assert unstable_places(first, again) == {(0, "values[0]")}
    assert compared(first, again, unstable=unstable_places(first, again)).found is Found.ALIKE
    answers, others = calls(IN, OUT), calls(IN, OTHER_OUT)
    unstable = unstable_places(answers, others)
    assert compared(answers, others, unstable=unstable).found is Found.UNKNOWN


def test_a_recording_that_was_cut_tells_only_what_it_saw() -> None:
    cut = calls(IN, OUT, cut="only the first 2 were recorded")
    assert compared(cut, calls(IN, OUT)).found is Found.UNKNOWN
    assert compared(calls(IN, OUT), cut).found is Found.UNKNOWN
    assert compared(cut, calls(IN, OTHER_OUT)).found is Found.ANSWERS


def test_a_function_that_one_revision_alone_has_is_the_projects() -> None:
    one, other = calls(IN, OUT), calls(("in", "checked", {}), OUT)
    assert compared(one, other, only=frozenset({"checked"})).found is Found.ANSWERS
    assert compared(one, other).found is Found.GIVEN
    longer = calls(IN, OUT, ("in", "checked", {}))
    assert compared(one, longer, only=frozenset({"checked"})).found is Found.ANSWERS
    failed = calls(("out", "<module> acme/__init__.py", {"gives": "raised ImportError: no"}))
    assert compared(failed, one).found is Found.ANSWERS
    assert compared(failed, calls()).found is Found.ANSWERS


@pytest.mark.parametrize(
    ("path", "used", "found"),
    [
        ("acme.sums/LIMIT", {"LIMIT"}, Found.ANSWERS),
        ("acme.sums/LIMIT", {"acme", "sums"}, Found.ALIKE),
        ("acme.sums/LIMITS['a']", {"LIMITS"}, Found.ANSWERS),
        ("acme.sums/Meter:size", {"size"}, Found.ANSWERS),
        ("acme.sums/Meter:size", {"Meter"}, Found.ALIKE),
    ],
)
def test_a_constant_counts_where_the_script_names_it(
    path: str, used: set[str], found: Found
) -> None:
    one, other = (
        calls(IN, OUT, constants={path: "1"}),
        calls(IN, OUT, constants={path: "2"}),
    )
    assert compared(one, other, used=used).found is found


def test_names_of_a_script() -> None:
    script = "from acme.sums import Meter as M\nimport acme\nprint(M(1).size, acme.LIMIT)\n"
    assert {"Meter", "M", "size", "LIMIT", "acme"} <= names_in(script)


def test_functions_that_one_revision_alone_has(tmp_path: Path) -> None:
    texts = {
        "a": "class A:\n    def f(self): ...\ndef g():\n    def inner(): ...\n",
        "b": "class A:\n    def f(self): ...\n    def new(self): ...\ndef g(): ...\n",
    }
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "module.py").write_text(text)
    files = [project_files(tmp_path / name) for name in texts]
    assert functions_of_one(*files) == {"A.new", "g.<locals>.inner"}
