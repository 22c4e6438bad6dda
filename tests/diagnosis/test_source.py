"""The source that a diagnosis keeps for its readers."""

from __future__ import annotations

from pathlib import PurePosixPath

from reenact.diagnosis.diagnosis import (
    Diagnosis,
    suspected_source,
)
from reenact.diagnosis.grouping import grouped
from reenact.diagnosis.options import Depth
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding, finding_of
from reenact.faults.observation import Observation, Severity
from reenact.program.program import program_from_text
from reenact.trials.budget import TrainingUsage
from reenact.types import Place

SOURCE = "import torch\nrate = 10.0\n"


def finding(code: str, place: Place | None) -> Finding:
    return finding_of(
        Observation(code, "name", "own", FaultType.HLR, Severity.ERROR, "seen", "wrong", 0.9, place)
    )


def diagnosis(evidence: Evidence, *findings: Finding) -> Diagnosis:
    return Diagnosis(Depth.STATIC, evidence, grouped(findings), (), (), 0.5, TrainingUsage(0.0))


def test_a_file_with_a_finding_is_kept_whole_with_its_places() -> None:
    place = Place(PurePosixPath("train.py"), 2, 7, 2, 11)
    found = diagnosis(
        Evidence(program_from_text(SOURCE)),
        finding("UM005", place),
        finding("RE019", place),
    )
    (kept,) = suspected_source(found)
    assert (kept.file, kept.text) == ("train.py", SOURCE)
    assert {one.code for one in kept.marks} == {"UM005", "RE019"}
    assert {one.place for one in kept.marks} == {place}


def test_a_finding_without_place_keeps_nothing() -> None:
    assert (
        suspected_source(diagnosis(Evidence(program_from_text(SOURCE)), finding("UM005", None)))
        == ()
    )
    assert suspected_source(diagnosis(Evidence())) == ()


def test_a_diagnosis_in_short_counts_what_was_confirmed() -> None:
    found = diagnosis(Evidence(), finding("UM005", None))
    assert found.in_short() == {
        "verdict": "1 finding",
        "sentence": "1 finding.",
        "judgement": "findings",
        "findings": 1,
        "confirmed": 0,
        "first": "UM005 name",
    }
    assert diagnosis(Evidence()).in_short()["verdict"] == "no detector fires (static)"
