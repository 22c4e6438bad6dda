"""What tells one request from another."""

from __future__ import annotations

import json

import pytest

from reenact.paper.options import Goal, PaperOptions, share


def test_a_long_addendum_makes_another_request_and_no_long_one() -> None:
    short, long = (PaperOptions(goal=Goal(addendum="x" * size)).to_json() for size in (10, 100_000))
    assert short != long
    assert len(json.dumps(long)) < 4000


@pytest.mark.parametrize(
    ("scale", "stated"), [(0.25, "25%"), (0.0625, "6%"), (0.01, "1%"), (0.005, "0.5%")]
)
def test_a_small_share_of_a_training_is_never_none(scale: float, stated: str) -> None:
    assert share(scale) == stated
