"""Words for a run: what it cost, and what it came to."""

from __future__ import annotations

import pytest

from reenact.journal import Run
from reenact.report.run_words import Listed, cost_of, headline, verdict_of


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
def test_what_has_no_price_is_called_unpriced(
    money: str, tokens: int, unpriced: int, output: str
) -> None:
    run = Run(
        seq=1,
        id="1",
        pipeline="bug",
        request_hash="",
        turn=1,
        money=money,
        tokens_in=tokens,
        unpriced=unpriced,
    )
    assert cost_of(run) == output


def finished(verdict: str) -> Run:
    return Run(seq=1, id="1", pipeline="repair", request_hash="", turn=1, verdict=verdict)


def test_a_list_has_the_decision_of_a_repair_and_a_page_the_first_finding_of_a_diagnosis() -> None:
    assert (
        verdict_of(finished('{"decision": "repaired", "sentence": "Repaired by 1 change."}'))
        == "repaired"
    )
    found = (
        '{"verdict": "1 finding", "sentence": "1 finding.", "first": "RE010 gradients-not-cleared"}'
    )
    assert headline(finished(found)) == "1 finding: RE010 gradients-not-cleared"


@pytest.mark.parametrize(
    ("status", "exit_code", "badge"),
    [
        ("finished", 0, "finished"),
        ("finished", 1, "findings"),
        ("finished", 3, "unjudged"),
        ("finished", 2, "failed"),
        ("finished", None, "finished"),
        ("running", None, "running"),
        ("stopped", 1, "stopped"),
    ],
)
def test_the_colour_of_a_run_is_that_of_its_verdict(
    status: str, exit_code: int | None, badge: str
) -> None:
    run = Run(seq=1, id="1", pipeline="diagnose", request_hash="", turn=1, exit_code=exit_code)
    assert Listed(run, status).badge == badge
