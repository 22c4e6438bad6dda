from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from reenact.llm.answers import LONGEST_ANSWER, BadAnswer, read, validated
from reenact.llm.ask import Prompt, Reply, Request, Text


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
    assert validated('{"title": "<think>x</think>", "steps": ["a"]}', Plan).title == "<think>x</think>"


def test_line_breaks_in_strings_are_kept() -> None:
    assert validated('{"title": "a\nb", "steps": ["x,]"]}', Plan) == Plan(title="a\nb", steps=["x,]"])


BAD = {
    "empty": ("", "empty"),
    "whitespace": (" \n\t ", "empty"),
    "prose": ("I cannot do that.", "no JSON object"),
    "wrong language": ('{"titre": "t", "étapes": ["a"]}', "title: Field required"),
    "wrong schema": ('{"title": "t", "steps": []}', "steps: List should have at least 1 item"),
    "a list": (f"[{PLAIN}, {PLAIN}]", "valid dictionary"),
    "truncated": ('{"title": "t", "steps": ["a", "b', "breaks off"),
    "truncated in a fence": ('```json\n{"title": "t", "steps": [', "breaks off"),
    "not a number": ('{"title": "t", "steps": ["a"], "seeds": NaN}', "NaN"),
    "infinity": ('{"title": "t", "steps": ["a"], "seeds": -Infinity}', "Infinity"),
    "too large a float": ('{"title": "t", "steps": ["a"], "seeds": 1e999}', "too large"),
    "huge integer": (f'{{"title": "t", "steps": ["a"], "seeds": {"9" * 5000}}}', "64 bits"),
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
@given(st.text(alphabet='{}[]",:\\`\n titlesteps0Nané\ud800') | st.text() | json_like.map(json.dumps))
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
