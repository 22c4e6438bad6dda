"""What follows from a surer finding is worth a look at most."""

from __future__ import annotations

import pytest

from reenact.diagnosis.consequences import without_consequences
from reenact.diagnosis.options import THRESHOLD
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding, finding_of, merged
from reenact.faults.observation import Certainty, Observation, Observes, Severity


def finding(code: str, fault: FaultType | None, **more: object) -> Finding:
    """Likely, and seen in the run, where nothing else is reported."""
    given: dict[str, object] = {
        "severity": Severity.ERROR,
        "saw": "saw",
        "why": "why",
        "confidence": 0.8,
        "certainty": Certainty.STRONG,
        "in_the_run": True,
        **more,
    }
    return finding_of(Observation(code, code.lower(), "reenact", fault, **given))  # type: ignore[arg-type]


DIVERGES = finding("TC011", FaultType.HLR, observes=Observes.LOSSES)
CLIPPED = finding("RE043", FaultType.GCL)
NOT_CLEARED = finding("RE010", FaultType.ZGR, certainty=Certainty.PROOF)
BROADCAST = finding("RE033", None, certainty=Certainty.PROOF)
LEAK = finding("RE018", None, certainty=Certainty.PROOF, of_held_out_rows=True)


@pytest.mark.parametrize("cause", [CLIPPED, NOT_CLEARED, BROADCAST])
def test_a_learning_rate_is_not_judged_next_to_what_spoils_the_steps(cause: Finding) -> None:
    first, second = without_consequences([cause, DIVERGES], THRESHOLD)
    assert first == cause
    assert second.confidence < THRESHOLD
    assert second.note == f"probably follows from {cause.code}: fix that first"


def test_a_leak_explains_no_course_of_the_loss() -> None:
    assert without_consequences([LEAK, DIVERGES], THRESHOLD) == (LEAK, DIVERGES)


def test_a_learning_rate_that_the_text_shows_to_be_wrong_stays() -> None:
    written = finding("UM005", FaultType.HLR, in_the_run=False)
    assert without_consequences([NOT_CLEARED, written], THRESHOLD) == (NOT_CLEARED, written)


def test_what_is_only_a_hint_in_the_text_goes_as_well() -> None:
    usual = finding("UM005", FaultType.HLR, in_the_run=False, certainty=Certainty.HINT)
    _, second = without_consequences([NOT_CLEARED, usual], THRESHOLD)
    assert second.confidence < THRESHOLD


def test_a_cause_that_is_itself_doubtful_explains_nothing() -> None:
    doubtful = finding("RE043", FaultType.GCL, confidence=0.3)
    assert without_consequences([doubtful, DIVERGES], THRESHOLD) == (doubtful, DIVERGES)


def test_proof_is_never_a_consequence() -> None:
    proven = finding("RE019", FaultType.HLR, certainty=Certainty.PROOF)
    assert without_consequences([NOT_CLEARED, proven], THRESHOLD) == (NOT_CLEARED, proven)


def test_a_fault_that_is_proven_of_all_is_not_listed_again_for_a_layer() -> None:
    whole = finding("RE120", None, certainty=Certainty.PROOF, fault_name="parameters-not-trained")
    layer = finding("RE013", None, fault_name="parameters-not-trained", layer="0")
    other = finding("RE014", None, fault_name="dead-units", layer="0")
    first, second, third = without_consequences([whole, layer, other], THRESHOLD)
    assert (first, third) == (whole, other)
    assert second.confidence < THRESHOLD
    of_layer = finding(
        "RE120", None, certainty=Certainty.PROOF, fault_name="parameters-not-trained", layer="2"
    )
    assert without_consequences([of_layer, layer], THRESHOLD) == (of_layer, layer)


def test_the_witness_that_proves_says_what_a_cause_is_about() -> None:
    learned = finding("LEARNED", FaultType.ZGR, confidence=0.99)
    cause = merged([learned, NOT_CLEARED])
    assert cause.first.code == "LEARNED"
    _, second = without_consequences([cause, DIVERGES], THRESHOLD)
    assert second.confidence < THRESHOLD
