"""One encoder for every result: keys by name, path, digits and emptiness; no NaN."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypedDict

import pytest

from reenact.errors import InputError
from reenact.result import Result, encoded, rounded


class Colour(StrEnum):
    RED = "red"


class Pair(NamedTuple):
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Inner:
    name: str
    value: float = math.nan


@dataclass(frozen=True)
class Whole(Result):
    colour: Colour = Colour.RED
    inner: Inner | None = field(default_factory=lambda: Inner("x"))
    share: float = 0.12345
    note: str = ""
    pairs: tuple[Pair, ...] = (Pair(1.0, math.inf),)


def test_a_dataclass_is_an_object_of_its_fields() -> None:
    whole = Whole().to_dict()
    assert whole == {
        "colour": "red",
        "inner": {"name": "x", "value": None},
        "share": 0.12345,
        "note": "",
        "pairs": [{"before": 1.0, "after": None}],
    }
    assert list(whole) == ["colour", "inner", "share", "note", "pairs"]


class ShareJson(TypedDict):
    of: str | None
    share: float


@dataclass(frozen=True, slots=True)
class Share:
    whole: Whole
    share: float

    def json_fields(self) -> ShareJson:
        inner = self.whole.inner
        return {
            "of": inner.name if inner is not None else None,
            "share": rounded(self.share, 2),
        }


def test_a_class_that_gives_its_fields_is_encoded_by_them() -> None:
    assert encoded(Share(Whole(), 0.12345)) == {"of": "x", "share": 0.12}
    assert encoded(Share(Whole(inner=None), math.nan)) == {"of": None, "share": None}


def test_what_json_does_not_know_is_text_and_order_is_kept() -> None:
    reported = encoded({"path": PurePosixPath("a/b"), "money": Decimal("0.10"), "set": {"b", "a"}})
    assert (
        json.dumps(reported, allow_nan=False)
        == '{"path": "a/b", "money": "0.10", "set": ["a", "b"]}'
    )


def test_what_is_no_part_of_a_result_is_refused() -> None:
    with pytest.raises(TypeError, match="not part of any result"):
        encoded(object())


def test_a_result_without_a_view_prints_as_json_and_has_a_line_of_its_own() -> None:
    whole = Silent("both numbers hold")
    assert json.loads(str(whole)) == {"sentence": "both numbers hold"}
    assert repr(whole) == "<Silent both numbers hold>"
    assert whole.to_json() == str(whole)


def test_a_result_is_encoded_as_data_inside_another_one() -> None:
    assert encoded([Silent("one")]) == [{"sentence": "one"}]


def test_a_result_is_not_saved_under_an_ending_that_says_nothing(
    tmp_path: Path,
) -> None:
    with pytest.raises(
        InputError,
        match=r"one of \.html, \.json, \.md, \.sarif, \.txt\. Received: path=",
    ):
        Silent("x").save(tmp_path / "result.png")
    assert not list(tmp_path.iterdir())


@dataclass(frozen=True, repr=False)
class Silent(Result):
    """No view shows it."""

    sentence: str
