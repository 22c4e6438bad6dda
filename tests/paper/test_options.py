"""What tells one request from another."""

from __future__ import annotations

import json

from reenact.paper.options import Goal, PaperOptions


def test_a_long_addendum_makes_another_request_and_no_long_one() -> None:
    short, long = (PaperOptions(goal=Goal(addendum="x" * size)).to_json() for size in (10, 100_000))
    assert short != long
    assert len(json.dumps(long)) < 4000
