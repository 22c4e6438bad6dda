from __future__ import annotations

import json
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reenact.llm.answers import LONGEST_ANSWER, BadAnswer, misfits, read, validated
from reenact.llm.ask import Prompt, Reply, Request, Text, schema_of


class Plan(BaseModel):
    title: str
    steps: list[str] = Field(min_length=1)
    seeds: int = 3


PLAIN = '{"title": "t", "steps": ["a"]}'
FENCE_IN_FENCE = '```json\n{"title": "t", "steps": ["```python\\nprint({1: 2})\\n```"]}\n```'

GOOD = {
    "bare": PLAIN,
    "spaces": f"\n\n  {PLAIN}  \n",
    "fence": f"```json\n{PLAIN}\n```",
    "fence without a word": f"```\n{PLAIN}\n```",
    "chatter around": f"Sure! Here it is:\n{PLAIN}\nHope that helps.",
    "stray bracket before a fence": f"Use {{ carefully.\n```json\n{PLAIN}\n```",
    "citation before": f"As in [1], the plan: {PLAIN}",
    "thinking": f'<think>maybe {{"title": "no", "steps": ["x"]}}?</think>{PLAIN}',
    "draft then final": f'{{"title": "draft"}} no, better: {PLAIN}',
    "trailing commas": '{"title": "t", "steps": ["a",],}',
    "comma in a string": '{"title": "t", "steps": ["a",], }',
    "python literals": "{'title': 't', 'steps': ['a'], 'seeds': 3}",
    "raw line break in a string": '{"title": "t", "steps": ["a"], "seeds":\n3}',
    "extra key": '{"title": "t", "steps": ["a"], "mood": null}',
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
def test_finds_the_answer(text: str) -> None:
    assert validated(text, Plan) == Plan(title="t", steps=["a"])


def test_code_fence_inside_code_fence() -> None:
    assert validated(FENCE_IN_FENCE, Plan).steps == ["```python\nprint({1: 2})\n```"]


def test_thinking_inside_the_answer_is_part_of_it() -> None:
    assert (
        validated('{"title": "<think>x</think>", "steps": ["a"]}', Plan).title == "<think>x</think>"
    )


def test_line_breaks_in_strings_are_kept() -> None:
    assert validated('{"title": "a\nb", "steps": ["x,]"]}', Plan) == Plan(
        title="a\nb", steps=["x,]"]
    )


BAD = {
    "empty": ("", "empty"),
    "whitespace": (" \n\t ", "empty"),
    "prose": ("I cannot do that.", "no JSON object"),
    "wrong language": ('{"titre": "t", "étapes": ["a"]}', "title: Field required"),
    "wrong schema": (
        '{"title": "t", "steps": []}',
        "steps: List should have at least 1 item",
    ),
    "a list": (f"[{PLAIN}, {PLAIN}]", "valid dictionary"),
    "truncated": ('{"title": "t", "steps": ["a", "b', "breaks off"),
    "truncated in a fence": ('```json\n{"title": "t", "steps": [', "breaks off"),
    "not a number": ('{"title": "t", "steps": ["a"], "seeds": NaN}', "NaN"),
    "infinity": ('{"title": "t", "steps": ["a"], "seeds": -Infinity}', "Infinity"),
    "too large a float": (
        '{"title": "t", "steps": ["a"], "seeds": 1e999}',
        "too large",
    ),
    "huge integer": (
        f'{{"title": "t", "steps": ["a"], "seeds": {"9" * 5000}}}',
        "64 bits",
    ),
    "same key twice": ('{"title": "t", "title": "u", "steps": ["a"]}', "twice"),
    "half a character": ('{"title": "\\ud800", "steps": ["a"]}', "surrogate"),
    "invalid": ('{"title": t, "steps": ["a"]}', "not valid"),
    "too deep": ('{"title": ' + "[" * 100_000 + "]" * 100_000 + "}", "deep"),
    "unquoted huge": ("{'seeds': 1" + "0" * 300 + "}", "not valid"),
}


@pytest.mark.parametrize(("text", "words"), BAD.values(), ids=BAD.keys())
def test_says_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(BadAnswer) as caught:
        validated(text, Plan)
    assert words in caught.value.for_model


def test_a_broken_outer_object_never_yields_an_inner_one() -> None:
    class Loose(BaseModel):
        note: str = ""

    with pytest.raises(BadAnswer):
        validated('{"wrapped": {"note": "inner"}, oops', Loose)


def test_infinite_repetition_is_named() -> None:
    with pytest.raises(BadAnswer, match="repeated itself") as caught:
        validated("the same again and " * 2000, Plan)
    assert not caught.value.echo


def test_endless_text_is_not_read() -> None:
    with pytest.raises(BadAnswer, match="longer than"):
        validated(PLAIN + " " * LONGEST_ANSWER, Plan)


FLOODS = {
    "fences": "```\n{" * 50_000,
    "objects": "{}" * 50_000,
    "openings": "[{" * 100_000,
    "quotes": '{"' * 100_000,
    "commas": "{" + ", " * 100_000 + "}",
    "literals": "{'a':" * 100_000,
}


@pytest.mark.parametrize("text", FLOODS.values(), ids=FLOODS)
def test_floods_end(text: str) -> None:
    with pytest.raises(BadAnswer):
        validated(text, Plan)


REQUEST = Request("s", Prompt("p", 1, "", (Text("?"),)), Plan)


def test_cut_off_by_length_is_never_read_even_when_it_parses() -> None:
    with pytest.raises(BadAnswer, match="cut off"):
        read(Reply(PLAIN, "m", finish="length"), REQUEST)


def test_unknown_tool() -> None:
    with pytest.raises(BadAnswer, match="rm_rf"):
        read(Reply("", "m", strays=("rm_rf",)), REQUEST)


def test_ten_equal_tool_calls_are_one_answer() -> None:
    assert read(Reply("", "m", offers=(PLAIN,) * 10), REQUEST).title == "t"


def test_different_tool_calls_are_no_answer() -> None:
    with pytest.raises(BadAnswer, match="2 different answers"):
        read(Reply("", "m", offers=(PLAIN, PLAIN.replace('"t"', '"u"'))), REQUEST)


def test_many_problems_are_shortened() -> None:
    class Many(BaseModel):
        rows: list[int]

    with pytest.raises(BadAnswer) as caught:
        validated(json.dumps({"rows": ["x"] * 50}), Many)
    assert "and 42 more" in caught.value.for_model


json_like = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet='{}[]",:\\`\n titlesteps0Nané\ud800') | st.text() | json_like.map(json.dumps)
)
def test_any_text_is_an_answer_or_a_bad_answer(text: str) -> None:
    try:
        found = validated(text, Plan).steps
    except BadAnswer as bad:
        found = [bad.for_model]
    assert found


@settings(max_examples=60, deadline=None)
@given(st.text(min_size=1), st.lists(st.text(), min_size=1))
def test_what_was_written_is_read_back(title: str, steps: list[str]) -> None:
    written = json.dumps({"title": title, "steps": steps, "seeds": 1})
    assert validated(f"Here:\n```json\n{written}\n```\nDone.", Plan) == Plan(
        title=title, steps=steps, seeds=1
    )


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
DRAWN = {
    "title": "abc",
    "shapes": [{"kind": "dot", "at": [1, 2]}, {"kind": "line", "length": 3}],
}


def test_what_fits() -> None:
    assert misfits(DRAWN, SCHEMA) == []
    assert (
        misfits(
            {**DRAWN, "colour": "red", "labels": {"a": 1}, "inner": DRAWN, "note": 1},
            SCHEMA,
        )
        == []
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"title": "a"}, "answer.title: 'a' is too short"),
        ({"title": "ABC"}, "answer.title: 'ABC' does not match"),
        ({"title": 3}, "answer.title: 3 is not of type 'string'"),
        (
            {"shapes": [{"kind": "dot"}]},
            "answer.shapes[0]: 'at' is a required property",
        ),
        (
            {"shapes": [{"kind": "line", "length": 11}]},
            "answer.shapes[0].length: 11 is greater than the maximum of 10",
        ),
        (
            {"shapes": [{"kind": "line", "length": 1, "x": 1}]},
            "answer.shapes[0]: Additional properties are not allowed ('x'",
        ),
        (
            {"shapes": [{"kind": "dot", "at": [1, 2, 3]}]},
            "answer.shapes[0].at: [1, 2, 3] is too long",
        ),
        ({"shapes": DRAWN["shapes"] * 2}, "answer.shapes: "),
        ({"colour": "green"}, "answer.colour: 'green' is not"),
        ({"labels": {"a": "b"}}, "answer.labels.a: 'b' is not of type 'integer'"),
        (
            {"inner": {**DRAWN, "done": "yes"}},
            "answer.inner.done: 'yes' is not of type 'boolean'",
        ),
    ],
)
def test_what_does_not(change: dict[str, Any], words: str) -> None:
    found = misfits({**DRAWN, **change}, SCHEMA)
    assert any(line.startswith(words) for line in found), found


def test_no_object_at_all() -> None:
    assert misfits([1], SCHEMA) == ["answer: [1] is not of type 'object'"]
    missing = [
        "answer: 'title' is a required property",
        "answer: 'shapes' is a required property",
    ]
    assert misfits({}, SCHEMA) == missing


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.floats(-3, 12)
    | st.sampled_from(["abc", "x", "dot", "line"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["title", "shapes", "kind", "at", "length", "colour"]),
            inner,
        )
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
