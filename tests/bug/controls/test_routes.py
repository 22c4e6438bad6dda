"""What a script hands in after its way parted: known values are handed on, others were chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reenact.bug.controls.routes import chosen
from reenact.bug.recorded_calls import LOST, CallEvent, RecordedCalls


def calls(
    *events: tuple[str, str, dict[str, str], int], end: int = 9, **more: Any
) -> RecordedCalls:
    """Events with the route on which each was met."""
    listed = tuple(
        CallEvent(way, name, 3, number, route)
        for number, (way, name, _, route) in enumerate(events)
    )
    return RecordedCalls(tuple(tree for _, _, tree, _ in events), listed, route=end, **more)


NAMES = ("out", "names", {"gives": "2"}, 1)
OTHER_NAMES = ("out", "names", {"gives": "3"}, 1)


def update(value: str, route: int) -> tuple[str, str, dict[str, str], int]:
    return ("in", "update", {"value": value}, route)


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        (
            calls(NAMES, update("nan", 5)),
            calls(OTHER_NAMES, update("3.0", 6)),
            "it gives update another `value`",
        ),
        (calls(NAMES, update("nan", 5)), calls(OTHER_NAMES, update("3.0", 5)), ""),
        (calls(NAMES, update("2", 5)), calls(OTHER_NAMES, update("3.0", 6)), ""),
        (calls(NAMES, update("3.0", 5)), calls(OTHER_NAMES, update("3.0", 6)), ""),
        (calls(NAMES, update("2", 5)), calls(OTHER_NAMES), "it calls update"),
        (
            calls(NAMES, update("nan", 5), end=LOST),
            calls(OTHER_NAMES, update("3.0", 6)),
            "",
        ),
        (
            calls(NAMES, update("nan", 5), cut="many"),
            calls(OTHER_NAMES, update("3.0", 6)),
            "",
        ),
    ],
    ids=[
        "chosen",
        "same route",
        "answered",
        "given there too",
        "another call",
        "not followed",
        "cut off",
    ],
)
def test_a_value_on_another_route(one: RecordedCalls, other: RecordedCalls, what: str) -> None:
    found = chosen(one, other)
    assert found.startswith(what)
    assert bool(found) is bool(what)


def test_what_is_observed_is_handed_on_or_chosen() -> None:
    one = calls(NAMES, end=5, kept={"observed": "nan"})
    other = calls(OTHER_NAMES, end=6, kept={"observed": "3.0"})
    assert chosen(one, other) == "`observed` is another"
    assert chosen(replace(one, route=6), other) == ""
    assert chosen(replace(one, kept={"observed": "2"}), other) == ""
    assert chosen(replace(one, kept=other.kept), other) == ""


@pytest.mark.parametrize(
    ("leaves", "is_chosen"),
    [
        (
            {
                "self": "object Model",
                "self.weight": "tensor float32 (2,)",
                "self.weight[:]": "ab12",
            },
            False,
        ),
        ({"self": "object Model", "self.rate": "0.5"}, True),
        ({"x": "tensor float32 (2,)", "x[:]": "ab12"}, True),
        ({"rate": "0.5", "rate?": "default"}, False),
        ({"values": "list of 0"}, True),
    ],
    ids=["weights", "an attribute", "a tensor", "a default", "an empty list"],
)
def test_weights_change_by_themselves(leaves: dict[str, str], is_chosen: bool) -> None:
    """An optimizer is a library: what it changes between two calls no answer of the project
    holds.
    """
    one = calls(NAMES, ("in", "forward", leaves, 5))
    other = calls(OTHER_NAMES, ("in", "forward", {"x": "0"}, 6))
    assert bool(chosen(one, other)) is is_chosen
