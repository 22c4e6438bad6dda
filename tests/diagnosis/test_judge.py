"""Judging what is there: rules on a text alone, suppressed and threshold as in the whole pipeline."""

from __future__ import annotations

import pytest

from reenact.diagnosis.diagnosis import InterventionResult
from reenact.diagnosis.judge import diagnose_evidence
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.program.program import program_from_text
from reenact.program.static_graph import static_graph
from reenact.rules.evidence import Evidence

HOT = """\
import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=10.0){comment}
"""


def evidence(comment: str = "") -> Evidence:
    program = program_from_text(HOT.format(comment=comment))
    return Evidence(program, static_graph(program))


def test_what_a_rule_names_is_untried() -> None:
    (one,) = diagnose_evidence(evidence(), DiagnoseOptions(depth=Depth.STATIC)).findings
    assert (one.suspect.first.code, one.status) == ("UM005", InterventionResult.UNTRIED)


@pytest.mark.parametrize(
    ("comment", "options"),
    [
        ("  # reenact: ignore[UM005]", DiagnoseOptions()),
        ("", DiagnoseOptions(ignore=("UM005",))),
        ("", DiagnoseOptions(select=("NL",))),
    ],
)
def test_what_is_waved_through_or_not_asked_is_silent(comment: str, options: DiagnoseOptions) -> None:
    assert not diagnose_evidence(evidence(comment), options).findings


def test_what_is_less_sure_than_wanted_is_a_doubt() -> None:
    found = diagnose_evidence(evidence(), DiagnoseOptions(threshold=0.999))
    assert not found.findings
    assert [one.suspect.first.code for one in found.low_confidence] == ["UM005"]


def test_without_evidence_there_is_nothing_to_say() -> None:
    found = diagnose_evidence(Evidence(), DiagnoseOptions())
    assert (found.findings, found.low_confidence, found.symptoms) == ((), (), ())
