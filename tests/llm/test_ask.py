from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from pydantic import BaseModel, ValidationError

from reenact.llm.ask import (
    Answer,
    Image,
    Prompt,
    Request,
    Text,
    Usage,
    answer_from_json,
    answer_to_json,
    schema_of,
)


class Paper(BaseModel):
    title: str
    year: int


class Book(BaseModel):
    title: str


PROMPT = Prompt("read/paper", 1, "You read.", (Text("Which?"), Image(b"png", label="figure 1")))
REQUEST = Request("paper/read", PROMPT, Paper)


@pytest.mark.parametrize(
    "changed",
    [
        replace(REQUEST, prompt=replace(PROMPT, name="read/book")),
        replace(REQUEST, prompt=replace(PROMPT, version=2)),
        replace(REQUEST, prompt=replace(PROMPT, system="You write.")),
        replace(REQUEST, prompt=replace(PROMPT, parts=(Text("Which?"),))),
        replace(
            REQUEST,
            prompt=replace(PROMPT, parts=(Text("Which?"), Image(b"PNG", label="figure 1"))),
        ),
        Request("paper/read", PROMPT, Book),
    ],
    ids=["name", "version", "system", "parts", "pixels", "schema"],
)
def test_hash_follows_the_wording(changed: Request[BaseModel]) -> None:
    assert changed.hash != REQUEST.hash


def test_hash_ignores_who_asks_and_how() -> None:
    other = replace(
        REQUEST,
        step="paper/again",
        temperature=0.7,
        max_tokens=10,
        sample=3,
        check=print,
    )
    assert other.hash == REQUEST.hash


def test_schema_keeps_a_property_called_title() -> None:
    schema = schema_of(Paper)
    assert schema["properties"] == {
        "title": {"type": "string"},
        "year": {"type": "integer"},
    }
    assert "title" not in schema


def test_answer_goes_to_json_and_back() -> None:
    answer = Answer(
        Paper(title="T", year=2020),
        Usage(3, 4, 1, estimated=True),
        Decimal("0.0012"),
        "relay",
        "recording",
        2,
        "earlier",
    )
    data = json.loads(json.dumps(answer_to_json(answer)))
    assert answer_from_json(Paper, data) == answer
    with pytest.raises(ValidationError):
        answer_from_json(Paper, {**data, "value": {"title": "T"}})


def test_usage_adds_up() -> None:
    total = Usage(1, 2, 1) + Usage(10, 20, estimated=True)
    assert total == Usage(11, 22, 1, estimated=True)
    assert total.tokens == 33
