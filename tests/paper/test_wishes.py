"""What tells one request from another."""

from __future__ import annotations

import json

from reenact.paper.wishes import Goal, Wishes


def test_a_long_addendum_makes_another_request_and_no_long_one() -> None:
    short, long = (Wishes(goal=Goal(addendum="x" * size)).to_json() for size in (10, 100_000))
    assert short != long
    assert len(json.dumps(long)) < 4000
