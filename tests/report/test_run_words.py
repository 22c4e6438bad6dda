"""Words for a run: what it cost."""

from __future__ import annotations

import pytest

from reenact.journal import Run
from reenact.report.run_words import cost_of


@pytest.mark.parametrize(
    ("money", "tokens", "unpriced", "output"),
    [
        ("0", 0, 0, "-"),
        ("0", 900, 0, "$0.0000"),
        ("0.0123", 900, 0, "$0.0123"),
        ("0", 900, 3, "unpriced"),
        ("0.5", 900, 1, "$0.5000 + unpriced"),
    ],
)
def test_what_has_no_price_is_called_unpriced(money: str, tokens: int, unpriced: int, output: str) -> None:
    run = Run(
        seq=1, id="1", pipeline="bug", request_hash="", turn=1,
        money=money, tokens_in=tokens, unpriced=unpriced,
    )  # fmt: skip
    assert cost_of(run) == output
