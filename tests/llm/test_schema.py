from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reenact.llm.answers import misfits
from reenact.llm.ask import schema_of


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Dot(BaseModel):
    kind: Literal["dot"]
    at: tuple[int, int]


class Line(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["line"]
    length: float = Field(gt=0, le=10)


class Drawing(BaseModel):
    title: str = Field(min_length=2, max_length=5, pattern="^[a-z]+$")
    shapes: list[Annotated[Dot | Line, Field(discriminator="kind")]] = Field(max_length=2)
    colour: Colour | None = None
    labels: dict[str, int] = {}
    inner: Drawing | None = None
    done: bool = False


SCHEMA = schema_of(Drawing)
GOOD = {"title": "abc", "shapes": [{"kind": "dot", "at": [1, 2]}, {"kind": "line", "length": 3}]}


def test_what_fits() -> None:
    assert misfits(GOOD, SCHEMA) == []
    assert misfits({**GOOD, "colour": "red", "labels": {"a": 1}, "inner": GOOD, "note": 1}, SCHEMA) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"title": "a"}, "answer.title: 'a' is too short"),
        ({"title": "ABC"}, "answer.title: 'ABC' does not match"),
        ({"title": 3}, "answer.title: 3 is not of type 'string'"),
        ({"shapes": [{"kind": "dot"}]}, "answer.shapes[0]: 'at' is a required property"),
        (
            {"shapes": [{"kind": "line", "length": 11}]},
            "answer.shapes[0].length: 11 is greater than the maximum of 10",
        ),
        (
            {"shapes": [{"kind": "line", "length": 1, "x": 1}]},
            "answer.shapes[0]: Additional properties are not allowed ('x'",
        ),
        ({"shapes": [{"kind": "dot", "at": [1, 2, 3]}]}, "answer.shapes[0].at: [1, 2, 3] is too long"),
        ({"shapes": GOOD["shapes"] * 2}, "answer.shapes: "),
        ({"colour": "green"}, "answer.colour: 'green' is not"),
        ({"labels": {"a": "b"}}, "answer.labels.a: 'b' is not of type 'integer'"),
        ({"inner": {**GOOD, "done": "yes"}}, "answer.inner.done: 'yes' is not of type 'boolean'"),
    ],
)
def test_what_does_not(change: dict[str, Any], words: str) -> None:
    found = misfits({**GOOD, **change}, SCHEMA)
    assert any(line.startswith(words) for line in found), found


def test_no_object_at_all() -> None:
    assert misfits([1], SCHEMA) == ["answer: [1] is not of type 'object'"]
    missing = ["answer: 'title' is a required property", "answer: 'shapes' is a required property"]
    assert misfits({}, SCHEMA) == missing


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.floats(-3, 12)
    | st.sampled_from(["abc", "x", "dot", "line"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["title", "shapes", "kind", "at", "length", "colour"]), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(json_values)
def test_whatever_passes_here_passes_pydantic(value: Any) -> None:
    passes = not misfits(value, SCHEMA)
    try:
        Drawing.model_validate(value)
    except ValidationError:
        assert not passes
