"""On the example of its page, or of its own pair, a detector with a fix by edits is silent after one."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.faults.page import page_of, parsed
from reenact.faults.registry import all_faults, detector
from reenact.program.program import program_from_text
from reenact.testing.faults import findings

pytestmark = pytest.mark.usefixtures("warm_python")

PAIRS = Path(__file__).parents[1] / "pairs"
WITH_EDITS = (
    "RE007",
    "RE008",
    "RE010",
    "RE011",
    "RE013",
    "RE018",
    "RE025",
    "RE033",
    "RE034",
    "RE035",
    "RE036",
    "RE037",
    "RE044",
    "RE047",
    "RE048",
    "RE049",
    "RE050",
    "RE051",
    "RE053",
    "RE054",
    "RE056",
    "RE057",
    "RE058",
    "RE059",
    "RE060",
    "RE066",
    "RE067",
    "RE101",
    "RE102",
    "RE103",
    "RE110",
    "RE111",
    "RE112",
    "RE120",
    "RE121",
    "RE123",
    "RE124",
    "RE141",
    "RE142",
    "RE143",
    "RE144",
    "RE902",
    "RE903",
    "RE046",
    "RE100",
    "RE113",
    "RE913",
    "NL001",
    "NL011",
    "TC003",
)
"""Detectors whose examples an edit of code mends."""
REFUSED = ("RE055", "RE904")
"""Detectors whose examples have no safe edit."""


def example(code: str) -> str:
    own = PAIRS / f"{code}.txt"
    one = detector(code)
    page = parsed(own.read_text(encoding="utf-8"), code) if own.exists() else page_of(one.fault)
    return page.sections["Example"]


@pytest.mark.sample(8)
@pytest.mark.parametrize("code", WITH_EDITS)
def test_the_detector_is_silent_after_an_edit(code: str) -> None:
    text = example(code)
    program = program_from_text(text)
    found = findings(detector(code), text)[0]
    assert found.candidates
    edited = (one.patch.apply(program).files[0].text for one in found.candidates)
    assert any(not findings(detector(code), after) for after in edited)


@pytest.mark.sample(2)
@pytest.mark.parametrize("code", REFUSED)
def test_what_cannot_be_edited_safely_says_why(code: str) -> None:
    found = findings(detector(code), example(code))[0]
    assert found.candidates == ()
    assert found.refused[0].reason.endswith(".")


def test_the_manual_lists_every_fault() -> None:
    manual = (Path(__file__).parents[3] / "docs" / "fixes.md").read_text(encoding="utf-8")
    assert [one.name for one in all_faults() if f"| `{one.name}` |" not in manual] == []
