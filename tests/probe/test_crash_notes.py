"""What the probe notes of an exception: who raised, at which call, with which tensors; nothing
is run.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from typing import Any

import pytest

from reenact.probe import injected

crash = injected.part("crash")
failed_call = injected.part("failed_call")
exits = injected.part("exits")


def failing(text: str, **names: Any) -> BaseException:
    """The exception of a program of this text."""
    file = "/somewhere/program.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    try:
        exec(compile(text, file, "exec"), {"__name__": "__main__", **names})
    except Exception as error:  # noqa: BLE001 - whatever the program raises is looked at
        return error
    raise AssertionError("it did not raise")


@pytest.mark.sample(2)
@pytest.mark.parametrize("statement", ["raise ValueError('shape')", "assert not 1, 'dimension'"])
def test_what_the_program_raises_is_its_own(statement: str) -> None:
    facts = crash.facts_of(failing(f"def check():\n    {statement}\ncheck()\n"))
    assert (facts["raised"], facts["by"]) == (True, "program")
    assert "operands" not in facts


def test_an_operator_names_its_operands() -> None:
    import numpy

    facts = crash.facts_of(
        failing("left @ right\n", left=numpy.ones((4, 3)), right=numpy.ones((4, 3)))
    )
    assert (facts["raised"], facts["by"], facts["call"]) == (False, "numpy", "@")
    assert [(one["name"], one["shape"]) for one in facts["operands"]] == [
        ("left", [4, 3]),
        ("right", [4, 3]),
    ]


def test_of_whole_numbers_the_range_is_kept_and_of_others_nothing() -> None:
    import numpy

    whole = failed_call.tensor_facts("y", numpy.array([3, 9, 4]))
    assert (whole["minimum"], whole["maximum"]) == (3, 9)
    quantities = failed_call.tensor_facts("x", numpy.array([0.5, 0.25]))
    assert (quantities["minimum"], quantities["maximum"]) == (None, None)


def test_a_property_is_not_executed() -> None:
    import numpy

    class Counting:
        reads = 0

        @property
        def weight(self) -> Any:
            self.reads += 1
            return numpy.ones((4, 3))

    layer = Counting()
    facts = crash.facts_of(failing("left @ layer.weight\n", left=numpy.ones((4, 3)), layer=layer))
    assert [one["name"] for one in facts["operands"]] == ["left"]
    assert layer.reads == 1


def test_a_keyword_that_a_function_does_not_take_is_named() -> None:
    assert crash.facts_of(failing("make(speed=2)\n", make=_make()))["unexpected"] == ["speed"]


def _make() -> Callable[..., int]:
    def make(size: int = 1) -> int:
        return size

    return make


@pytest.mark.parametrize(
    ("text", "variable"),
    [("os.environ['NOT_SET']", "NOT_SET"), ("{}['NOT_SET']", None)],
)
def test_only_a_variable_of_the_environment_is_one(text: str, variable: str | None) -> None:
    import os

    assert crash.facts_of(failing(f"{text}\n", os=os)).get("variable") == variable


def test_the_end_of_the_input_came_out_of_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Closed:
        def readline(self, *_: int) -> str:
            return ""

    monkeypatch.setattr(sys, "stdin", Closed())
    assert crash.facts_of(failing("int(input())\n"))["call"] == "input"


def test_frames_of_the_probe_are_not_shown_and_the_exception_keeps_them() -> None:
    shown: list[Any] = []
    hook = exits._hiding(lambda kind, error, trail: shown.append((trail, error.__traceback__)))
    with pytest.raises(AttributeError) as raised:
        failed_call.tensor_facts("x", None)
    error = raised.value
    whole = error.__traceback__
    hook(type(error), error, whole)
    assert error.__traceback__ is whole
    trail, of_error = shown[0]
    assert trail is of_error
    assert trail.tb_next is None
    assert whole is not None
    assert whole.tb_next is not None


def test_a_frame_of_compiled_code_is_no_place_of_the_program() -> None:
    import numpy

    noted = crash.describe(failing("numpy.random.choice(5, 10, replace=False)\n", numpy=numpy))
    assert noted["place"][0] == "/somewhere/program.py"
    assert noted["facts"]["stack"][-1]["owner"] == "numpy"


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("text", "argument"),
    [("sys.argv[50]", 50), ("int(sys.argv[50])", 50), ("[][50]", None)],
)
def test_the_argument_that_was_not_given(text: str, argument: int | None) -> None:
    assert crash.facts_of(failing(f"{text}\n", sys=sys))["argument"] == argument


def test_the_keys_of_a_dictionary_are_named_and_no_values() -> None:
    error = failing("table['acc']\n", table={"accuracy": "secret", "loss": 1.0})
    assert crash.facts_of(error)["keys"] == ["accuracy", "loss"]
    assert crash.facts_of(failing("table['acc']\n", table={1: 2}))["keys"] == []


@pytest.mark.parametrize(("text", "of_none"), [("nothing.mean", True), ("word.mean", False)])
def test_none_that_was_asked_for_an_attribute(text: str, of_none: bool) -> None:
    facts = crash.facts_of(failing(f"{text}\n", nothing=None, word=""))
    assert (facts["of_none"], facts["subject"]) == (of_none, "python")


def test_a_warning_through_the_probe_is_placed_where_it_is_without_it() -> None:
    places = injected.part("places")
    file = f"{places._HERE}/between.py"
    between: dict[str, Any] = {}
    exec(
        compile("def again(function):\n    return function(False)\n", file, "exec"),
        between,
    )

    def library(first: bool) -> Any:
        return between["again"](library) if first else places.around_probe(sys._getframe(), file, 2)

    def program() -> Any:
        return library(True)

    assert program() == (__file__, program.__code__.co_firstlineno + 1)
    assert places.around_probe(sys._getframe(), __file__, 1) is None
