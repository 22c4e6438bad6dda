"""The answer on its way through a journal."""

from __future__ import annotations

import pytest

from reenact.diagnosis.diagnosis import DiagnosisFinding, InterventionResult
from reenact.diagnosis.suspects import suspects_from
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding, Severity
from reenact.journal.codec import Flattening, decoder


@pytest.mark.parametrize("name", ["status", "standing"])
def test_a_finding_is_read_back_also_from_journals_of_earlier_versions(
    name: str,
) -> None:
    found = Finding(
        "RE003",
        "loss-of-another-task",
        "reenact",
        FaultType.LCH,
        Severity.ERROR,
        "mse",
        "why",
        0.9,
    )
    (suspect,) = suspects_from([found])
    finding = DiagnosisFinding(suspect, InterventionResult.CONFIRMED, 0.8, note="tried")
    kept = Flattening(lambda data: pytest.fail(f"{len(data)} bytes as an artefact")).flat(finding)
    assert isinstance(kept, dict)
    stored = {name if key == "status" else key: value for key, value in kept.items()}
    assert decoder(DiagnosisFinding)(stored) == finding
