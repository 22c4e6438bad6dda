"""Others are asked about a claim of a person: their fix and counter-checks are executed, their reasons
are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reenact.claims.check import Check
from reenact.claims.claim import Claim
from reenact.claims.edit import patch_of_diff
from reenact.claims.verdict import ClaimStatus, ClaimVerdict, GateName
from reenact.diagnosis.hypothesis import HypothesisOptions, put_to_test
from reenact.diagnosis.llm_detector import numbered
from reenact.diagnosis.proposals.refuters import asking
from reenact.diagnosis.services import DiagnoseServices
from reenact.journal import Journal
from reenact.llm.ask import Call
from reenact.llm.scripted import Scripted
from reenact.program.program import Program
from reenact.sandbox.choose import choose
from tests.claims.conftest import CHECK, FIX, RETURNS, program_of
from tests.diagnosis.proposals.test_tested import NO_DOUBT, OTHER_SWAPS


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal.open(tmp_path / ".reenact") as made:
        yield made


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return program_of(tmp_path, RETURNS)


def judged(program: Program, journal: Journal, *doubts: dict[str, Any]) -> ClaimVerdict:
    """A true claim, with these answers to the question for a reason against it."""
    waiting = list(doubts)

    def play(call: Call) -> Any:
        if "second" in call.step:
            return {"swaps": OTHER_SWAPS}
        return waiting.pop(0)

    model = Scripted(play)
    services = DiagnoseServices(journal, program.folder / ".reenact" / "traces", model=model)
    return put_to_test(
        program,
        Claim(
            "The first step has the most to come",
            patch_of_diff(FIX, program),
            CHECK,
            Check.read("differs"),
        ),
        HypothesisOptions(effect=False),
        services,
        choose,
        asked=asking(numbered(program), model),
    )


def test_without_a_reason_against_it_a_claim_is_likely(program: Program, journal: Journal) -> None:
    verdict = judged(program, journal, NO_DOUBT, NO_DOUBT)
    assert verdict.status is ClaimStatus.LIKELY
    passed = {gate.name: gate.passed for gate in verdict.gates}
    assert passed[GateName.SECOND] is True
    assert passed[GateName.REFUTERS] is True


def test_a_reason_of_the_second_who_is_asked_counts(program: Program, journal: Journal) -> None:
    reason = {"reason": "The list is turned round where it is used."}
    verdict = judged(program, journal, NO_DOUBT, reason)
    assert verdict.status is ClaimStatus.REFUTED
    assert "turned round" in verdict.reason
