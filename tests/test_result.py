"""One encoder for every result: keys by name, path, digits and emptiness; no NaN."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import ClassVar, NamedTuple, TypedDict

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
    JSON: ClassVar = (
        "colour",
        "of=inner.name",
        "share:2",
        "note?",
        "twice",
        "text=words",
        "pairs",
        "inner",
    )

    colour: Colour = Colour.RED
    inner: Inner | None = field(default_factory=lambda: Inner("x"))
    share: float = 0.12345
    note: str = ""
    pairs: tuple[Pair, ...] = (Pair(1.0, math.inf),)

    @property
    def twice(self) -> float:
        return 2 * self.share

    def words(self) -> str:
        return "in words"


def test_keys_follow_names_paths_properties_and_methods() -> None:
    assert Whole().to_dict() == {
        "colour": "red",
        "of": "x",
        "share": 0.12,
        "note": None,
        "twice": 0.2469,
        "text": "in words",
        "pairs": [{"before": 1.0, "after": None}],
        "inner": {"name": "x", "value": None},
    }
    assert list(Whole().to_dict()) == [key.partition("=")[0].rstrip("?:2") for key in Whole.JSON]


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


def test_a_path_through_nothing_is_null() -> None:
    assert Whole(inner=None).to_dict()["of"] is None


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
