"""Every fault: its page is complete; its example and what to write instead differ in the fault alone.

The page of a fault has the pair of one of its detectors; the pairs of the others are in `pairs/CODE.txt`.
"""

from __future__ import annotations

from collections import Counter
from difflib import ndiff
from pathlib import Path

import pytest

from reenact.errors import InputError
from reenact.faults import Detector, Fault, Finding, Needs, Severity
from reenact.faults.detector import run_detectors
from reenact.faults.page import page_of, parsed
from reenact.faults.registry import all_detectors, all_faults, chosen, detectors_of
from reenact.testing.faults import complaints, evidence_of, pair_complaints

pytestmark = pytest.mark.usefixtures("warm_python")

PAIRS = Path(__file__).parent / "pairs"
MOST_CHANGED_LINES = 5
ENDED_EARLY = ("RE906", "RE907", "RE910")
"""Detectors of programs that cannot run at all."""


def pair_of(one: Detector) -> tuple[str, str]:
    """The programs on which a detector fires and is silent."""
    own = PAIRS / f"{one.code}.txt"
    page = parsed(own.read_text(encoding="utf-8"), one.code) if own.exists() else page_of(one.fault)
    return page.sections["Example"], page.sections["Instead"]


def named_on_the_page(fault: Fault) -> Detector:
    """The detector whose pair is on the page of its fault."""
    (one,) = (one for one in detectors_of(fault) if not (PAIRS / f"{one.code}.txt").exists())
    return one


def reported_on_the_good_program(one: Detector, instead: str) -> list[str]:
    """What stable detectors as severe as this one, or more so, report on its good program when
    it is run.
    """
    severities = list(Severity)
    severe = severities[: severities.index(one.severity) + 1]
    evidence = evidence_of(instead, run=True, experiments=bool(one.needs & Needs.EXPERIMENTS))
    found = run_detectors((other for other in chosen() if other is not one), evidence)
    return [f"{finding.code}: {finding.saw}" for finding in found if finding.severity in severe]


def why_it_does_not_run(one: Detector, example: str) -> tuple[Finding, ...]:
    """A bad program that the text alone gives away runs all the same."""
    if one.needs != Needs.SOURCE:
        return ()
    return run_detectors(chosen(ENDED_EARLY), evidence_of(example, run=True))


@pytest.mark.parametrize("fault", all_faults(), ids=lambda fault: fault.name)
def test_the_page_is_complete_and_its_programs_are_as_their_text_says(fault: Fault) -> None:
    """Nothing is trained."""
    one = named_on_the_page(fault)
    assert list(page_of(fault).missing()) == []
    if one.needs == Needs.SOURCE:
        assert pair_complaints(one.code, [one], *pair_of(one)) == []


@pytest.mark.sample(12)
@pytest.mark.parametrize("fault", all_faults(), ids=lambda fault: fault.name)
def test_the_programs_of_the_page(fault: Fault) -> None:
    one = named_on_the_page(fault)
    example, instead = pair_of(one)
    assert complaints(fault) == []
    assert pair_complaints(one.code, [one], example, instead) == []
    assert reported_on_the_good_program(one, instead) == []
    assert why_it_does_not_run(one, example) == ()


WITH_OWN_PAIR = [one for one in all_detectors() if (PAIRS / f"{one.code}.txt").exists()]


@pytest.mark.sample(12)
@pytest.mark.parametrize("one", WITH_OWN_PAIR, ids=lambda one: one.code)
def test_the_programs_of_a_further_detector(one: Detector) -> None:
    example, instead = pair_of(one)
    assert pair_complaints(one.code, [one], example, instead) == []
    assert reported_on_the_good_program(one, instead) == []
    assert why_it_does_not_run(one, example) == ()


@pytest.mark.parametrize("one", all_detectors(), ids=lambda one: one.code)
def test_the_pair_differs_in_a_few_lines(one: Detector) -> None:
    example, instead = pair_of(one)
    lines = list(ndiff(example.splitlines(), instead.splitlines()))
    removed, added = (sum(line.startswith(mark) for line in lines) for mark in ("- ", "+ "))
    assert 1 <= max(removed, added) <= MOST_CHANGED_LINES


def test_each_detector_has_an_example_of_its_own() -> None:
    uses = Counter(pair_of(one)[0] for one in all_detectors())
    assert [one.code for one in all_detectors() if uses[pair_of(one)[0]] > 1] == []


def test_each_pair_is_that_of_a_detector() -> None:
    assert {file.stem for file in PAIRS.iterdir()} == {one.code for one in WITH_OWN_PAIR}


PAGE = """LB01 changed

Example
    first = 1
    for number in range(3):
        print(number)
        print(first)
Instead
    - first = 1
    + first = 2
      for number in range(3):
    +     first += 1
    -     print(first)
"""


def test_instead_may_be_written_as_the_lines_that_change() -> None:
    lines = [
        "first = 2",
        "for number in range(3):",
        "    first += 1",
        "    print(number)",
    ]
    assert parsed(PAGE, "LB01").sections["Instead"].splitlines() == lines


def test_a_changed_line_that_the_example_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match=r"print\(last\)"):
        parsed(PAGE.replace("-     print(first)", "-     print(last)"), "LB01")
