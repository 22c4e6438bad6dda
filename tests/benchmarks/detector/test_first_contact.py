"""What findings were worth on programs that no rule had seen."""

from __future__ import annotations

from benchmarks.detector.first_contact import (
    Contact,
    Reported,
    contacts,
    scored,
    shares_of,
    table,
)
from reenact.faults.confidence import Health
from reenact.faults.fault_type import FaultType
from reenact.faults.observation import Certainty


def reported(certainty: Certainty, *, true: bool, code: str = "RE019") -> Reported:
    return Reported((code,), ("reenact",), certainty, FaultType.HLR, 0.49, crash=False, true=true)


def test_a_training_that_learns_takes_back_hints_and_no_proof() -> None:
    hint, proof = (reported(one, true=False) for one in (Certainty.HINT, Certainty.PROOF))
    healthy = Contact("new", "a", sound=True, health=Health.UNCLEAR, broken=False, findings=(hint,))
    proven = Contact("new", "b", sound=True, health=Health.UNCLEAR, broken=False, findings=(proof,))
    broken = Contact("new", "c", sound=True, health=Health.UNCLEAR, broken=True, findings=())
    assert scored([healthy, proven, broken], health=False) == "3/3, 0/0"
    assert scored([healthy, proven, broken], health=True) == "1/3, 0/0"


def test_a_rule_that_was_wrong_is_shrunk_towards_all() -> None:
    wrong = [reported(Certainty.STRONG, true=False, code="UM009")] * 6
    right = [reported(Certainty.STRONG, true=True, code="RE013")] * 6
    known = Contact(
        "old",
        "a",
        sound=False,
        health=Health.UNCLEAR,
        broken=False,
        findings=(*wrong, *right),
    )
    assert shares_of([known]) == {"UM009": 0.2, "RE013": 0.8}


def test_health_loses_no_fault_that_was_named_and_halves_the_alarms() -> None:
    known = contacts()
    before, after = (scored(known, health=health).split(", ") for health in (False, True))
    assert (before, after) == (["34/141", "119/159"], ["15/141", "119/159"])
    assert len(table().splitlines()) == 1 + len({one.set for one in known})
