"""Values into the journal and back: whatever goes in comes out, or is refused at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from pydantic import BaseModel

from reenact.errors import JournalDamaged, JournalError
from reenact.journal import Journal, Kind
from reenact.journal.artefacts import MemoryArtefacts, named
from reenact.journal.codec import (
    ROW_CHARACTERS,
    Bodies,
    Flattening,
    decoder,
    redact_nothing,
)
from reenact.journal.records import hashed
from reenact.sandbox.box import BoxResult, Ending, Event


class Colour(StrEnum):
    RED = "red"


class Plan(BaseModel):
    """What a model fills in."""

    title: str
    steps: list[str]
    weights: dict[str, float] = {}


@dataclass(frozen=True, slots=True)
class Everything:
    plan: Plan
    when: datetime
    where: PurePosixPath
    colour: Colour
    names: frozenset[str]
    by_seed: Mapping[int, tuple[float, ...]]
    price: Decimal | None
    raw: bytes


def through(value: Any, returns: Any = None) -> Any:
    bodies = Bodies(MemoryArtefacts(), redact_nothing)
    return decoder(returns)(bodies.plain(bodies.body(value).text))


leaves = (
    some.none()
    | some.booleans()
    | some.integers()
    | some.floats()
    | some.text()
    | some.text(some.characters(categories=["Cs", "Cc", "L"]))
    | some.binary()
    | some.decimals(allow_nan=False)
)
values = some.recursive(
    leaves,
    lambda inner: (
        some.lists(inner, max_size=4)
        | some.dictionaries(some.text() | some.just("$bytes"), inner, max_size=4)
    ),
    max_leaves=8,
)


def same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and math.isnan(left):
        return isinstance(right, float) and math.isnan(right)
    if isinstance(left, list):
        return type(right) is list and len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return (
            type(right) is dict
            and list(left) == list(right)
            and all(same(left[key], right[key]) for key in left)
        )
    return type(left) is type(right) and left == right


@given(values)
@settings(max_examples=100, deadline=None)
def test_plain_data_comes_back_as_it_went(value: Any) -> None:
    assert same(value, through(value))


def test_typed_data_comes_back_as_it_went() -> None:
    value = Everything(
        plan=Plan(title="t", steps=["a"], weights={"x": math.inf}),
        when=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        where=PurePosixPath("a/b"),
        colour=Colour.RED,
        names=frozenset({"q", "p"}),
        by_seed={1: (0.5, 1.0), 2: ()},
        price=Decimal("1.10"),
        raw=b"\xff" * 5000,
    )
    assert through(value, Everything) == value


def test_a_box_result_comes_back_as_it_went() -> None:
    value = BoxResult(
        ending=Ending.EXIT,
        tier="bubblewrap",
        exit_code=3,
        results={"out.bin": b"\x00\xff" * 4000},
        events=(Event("network", "denied"),),
        output="text\udcff",
    )
    assert through(value, BoxResult) == value


@pytest.mark.parametrize("value", [object(), {"f": print}, {(1, 2): 3}, {True: 1}])
def test_what_has_no_plain_form_is_refused(value: Any) -> None:
    with pytest.raises(JournalError):
        through(value, dict[Any, Any])


def test_a_large_body_is_an_artefact_and_comes_back() -> None:
    bodies = Bodies(MemoryArtefacts(), redact_nothing)
    value = ["x" * 1000] * (ROW_CHARACTERS // 1000 + 1)
    body = bodies.body(value)
    assert len(body.text) < 200
    assert len(body.artefacts) == 1
    assert bodies.plain(body.text) == value


def test_a_body_of_another_form_is_damage_and_no_crash() -> None:
    bodies = Bodies(MemoryArtefacts(), redact_nothing)
    for text in (
        '{"$decimal":"x"}',
        '{"$bytes":"é"}',
        "nope",
        "[" * 100_000,
        '{"$artefact":"0"}',
    ):
        with pytest.raises(JournalDamaged):
            bodies.plain(text)


def test_the_key_depends_on_path_version_and_inputs_and_on_nothing_else() -> None:
    def key(path: str, version: int, inputs: Any) -> str:
        return hashed([path, version, Flattening(named).flat(inputs)])

    plain = key("a/b", 1, {"x": 1, "y": [b"z" * 9999]})
    assert key("a/b", 1, {"y": [b"z" * 9999], "x": 1}) == plain
    others = {
        key("a/c", 1, {"x": 1, "y": [b"z" * 9999]}),
        key("a/b", 2, {"x": 1, "y": [b"z" * 9999]}),
        key("a/b", 1, {"x": 1, "y": [b"z" * 9998]}),
        key("a/b", 1, {"x": 1.5, "y": [b"z" * 9999]}),
        plain,
    }
    assert len(others) == 5


class Unbuildable:
    """A class that pydantic knows nothing about."""


@dataclass
class Unresolved:
    field: Nowhere  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize("kind", [Unbuildable, Unresolved])
def test_a_type_that_cannot_be_rebuilt_is_refused_before_anything_is_paid(
    kind: type,
) -> None:
    with Journal.in_memory() as journal, journal.run(pipeline="tale", request=1) as run:
        with pytest.raises(JournalError, match="cannot give back"):
            run.step("a", lambda: pytest.fail("paid"), kind=Kind.BOX, returns=kind)
        assert run.record.steps == 0
