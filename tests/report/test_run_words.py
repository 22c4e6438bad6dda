"""Words for a run: what it cost."""

from __future__ import annotations

import pytest

from reenact.report.run_words import cost_of


@pytest.mark.parametrize(
    ("money", "tokens", "unpriced", "said"),
    [
        ("0", 0, 0, "-"),
        ("0", 900, 0, "$0.0000"),
        ("0.0123", 900, 0, "$0.0123"),
        ("0", 900, 3, "unpriced"),
        ("0.5", 900, 1, "$0.5000 + unpriced"),
    ],
)
def test_what_has_no_price_is_said_to_have_none(money: str, tokens: int, unpriced: int, said: str) -> None:
    assert cost_of(money, tokens, unpriced) == said
