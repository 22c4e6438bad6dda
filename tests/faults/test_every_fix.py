"""Every fault whose detector suggests an edit: on its minimal pair the edit is a fix.

By the text: it parses, and the detector is silent on the edited text. By a run: the edited program ran in a
scratch copy, and the detector was silent. The page of a fault shows what the tool makes.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from reenact.faults import Detector, Needs
from reenact.faults.detector import run_detectors
from reenact.faults.fix import FixTried
from reenact.faults.page import SHOWN, page_of, parsed, shown_fixes
from reenact.faults.registry import all_detectors, detectors_of, fault
from reenact.program.patch import replacements_in
from reenact.program.program import program_from_text
from reenact.testing.faults import evidence_of, with_fixes

pytestmark = pytest.mark.usefixtures("warm_python")

PAIRS = Path(__file__).parent / "pairs"
OF_TEXT = [one for one in all_detectors() if one.needs in (Needs.SOURCE, Needs(0))]


BEYOND_A_RUN = ("the program takes no step", "does not fire without it")
"""Why a run shows nothing: examples of text alone train nothing, and some detectors are of the text."""
NO_FIX = frozenset(
    {
        "AT002",
        "AT003",
        "AT005",
        "DD006",
        "DD007",
        "DD008",
        "RE040",
    }
)
"""Detectors that still fire on their program with each of the edits."""


def example_of(one: Detector) -> str:
    own = PAIRS / f"{one.code}.txt"
    page = parsed(own.read_text(encoding="utf-8"), one.code) if own.exists() else page_of(one.fault)
    return page.sections["Example"]


@pytest.mark.parametrize("one", OF_TEXT, ids=lambda one: one.code)
def test_by_the_text_an_edit_silences_the_detector(one: Detector) -> None:
    """Nothing is run."""
    example = example_of(one)
    found = [each for each in with_fixes(one, example, run=False) if each.edits]
    if not found:
        pytest.skip("no edit is suggested")
    program = program_from_text(example)
    for each in found:
        assert each.fix is not None, each.dropped_fixes
        assert each.fix.tried is FixTried.NOT_RUN
        edited = each.fix.patch.apply(program).files[0].text
        still = run_detectors([one], evidence_of(edited, run=False))
        assert len(still) < len(found)


@pytest.mark.sample(12)
@pytest.mark.parametrize("one", all_detectors(), ids=lambda one: one.code)
def test_by_a_run_an_edit_silences_the_detector(one: Detector) -> None:
    found = [each for each in with_fixes(one, example_of(one), run=True) if each.edits]
    if not found:
        pytest.skip("no edit is suggested")
    first = found[0]
    if one.code in NO_FIX:
        assert first.fix is None
        assert all(dropped.reason for dropped in first.dropped_fixes)
        return
    assert first.fix is not None, first.dropped_fixes
    shown = shown_fixes().get(one.fault.name)
    if detectors_of(one.fault)[0] is one and not (PAIRS / f"{one.code}.txt").exists():
        assert shown is not None, f"run scripts/fault_fixes.py {one.fault.name}"
        assert (shown.diff, shown.tried) == (first.fix.diff, first.fix.tried.value)
    if first.fix.tried is not FixTried.SILENT:
        assert any(first.fix.reason.endswith(words) for words in BEYOND_A_RUN), first.fix.sentence


@pytest.mark.parametrize("name", sorted(shown_fixes()))
def test_the_fix_of_a_page_is_one_of_its_example(name: str) -> None:
    """Nothing is run: it applies, and what it gives is a program."""
    known = fault(name)
    assert known is not None, f"{name} is no fault: take it out of {SHOWN.name}"
    lines = page_of(known).sections["Example"].splitlines(keepends=True)
    (replaced,) = replacements_in(shown_fixes()[name].diff).values()
    for one in reversed(replaced):
        lines[one.line - 1 : one.line - 1 + one.removed] = [one.text]
    assert "".join(lines) != page_of(known).sections["Example"]
    ast.parse("".join(lines))
