"""The answer on its way through a journal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.judge import diagnose_evidence
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.faults.evidence import Evidence
from reenact.faults.tried import InterventionResult
from reenact.journal.codec import Flattening, decoder
from reenact.program.program import program_from_text
from reenact.program.static_graph import static_graph

EARLIER = Path(__file__).with_name("earlier_diagnosis.json")
"""`stored`: as the journal of an earlier version has it; `shown`: what that version printed."""
HOT = """\
import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=10.0)
"""


def earlier() -> tuple[dict[str, Any], dict[str, Any]]:
    both = json.loads(EARLIER.read_text(encoding="utf-8"))
    return both["stored"], both["shown"]


def test_a_diagnosis_is_read_back_as_it_was_stored() -> None:
    program = program_from_text(HOT)
    evidence = Evidence(program, static_graph(program))
    found = diagnose_evidence(evidence, DiagnoseOptions(depth=Depth.STATIC)).to_store()
    kept = Flattening(lambda data: pytest.fail(f"{len(data)} bytes as an artefact")).flat(found)
    read = decoder(Diagnosis)(kept)
    assert read.findings == found.findings != ()
    assert read.to_dict() == found.to_dict()


def test_a_diagnosis_of_an_earlier_version_is_read_in_the_form_of_this_one() -> None:
    stored, shown = earlier()
    read = decoder(Diagnosis)(stored)
    for one in (*shown["findings"], *shown["doubts"]):
        fix = {"diff": one["fix"], "patch": {"changes": []}, "reason": None}
        one["fix"] = {**fix, "safety": "unsafe", "tried": "not tried"} if one["fix"] else None
        one |= {"dropped_fixes": [], "candidates": [], "refused": []}
        for named in (one, *one["witnesses"]):
            named["suggestions"] = [each | {"does": None} for each in named["suggestions"]]
    later = {"accounts": [], "opinions": [], "hypotheses": [], "applied": None}
    assert read.to_dict() == {**shown, **later}
    (finding,) = read.findings
    assert [one.code for one in finding.observations] == ["AT002", "UM005"]
    assert (finding.code, finding.suspicion, finding.confidence) == ("UM005", 0.97, 0.97)
    assert [one.code for one in read.symptoms] == ["DL007"]


@pytest.mark.parametrize(
    ("name", "word", "status"),
    [
        ("status", "refuted", InterventionResult.REFUTED),
        ("standing", "refuted", InterventionResult.REFUTED),
        ("standing", "helped", InterventionResult.UNDECIDED),
    ],
)
def test_a_status_is_read_also_by_its_earlier_names(
    name: str, word: str, status: InterventionResult
) -> None:
    stored, _ = earlier()
    finding = stored["findings"][0]
    del finding["status"]
    finding[name] = word
    assert decoder(Diagnosis)(stored).findings[0].status is status
