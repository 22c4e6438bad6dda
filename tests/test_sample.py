"""`make test` takes a sample of the cases of some tests; none is left out of both commands."""

from __future__ import annotations

import pytest


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", range(7))
def test_each_third_case_is_of_make_test_and_the_others_of_the_release(
    case: int, request: pytest.FixtureRequest
) -> None:
    is_further = request.node.get_closest_marker("release") is not None
    assert is_further == (case % 3 != 0)
