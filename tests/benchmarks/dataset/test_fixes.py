"""The card of fixes: what is counted, and that a split that is held out is left alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.dataset.fixes import card, opened
from benchmarks.dataset.inside import _named
from benchmarks.dataset.result import NamedFault, TrainingDiagnosis
from benchmarks.dataset.splits import splits
from reenact.errors import InputError
from reenact.faults.finding import finding_of
from reenact.faults.fix import DroppedFix, Fix, FixTried
from reenact.faults.observation import Observation, Severity
from reenact.program.patch import Patch

SILENT, LATER = FixTried.SILENT.value, FixTried.NOT_TRIED.value


def named(fix: str = "", *dropped: str) -> NamedFault:
    return NamedFault(("RE010",), (), 0.9, fix=fix, dropped=dropped)


def diagnosis(training: str, *findings: NamedFault, why: str = "") -> TrainingDiagnosis:
    return TrainingDiagnosis(
        training, "quick", "code", "start", could_not_run=why, findings=findings
    )


def test_each_finding_is_counted_by_what_became_of_its_fix() -> None:
    one = diagnosis("one", named(SILENT), named(LATER), named("", "RE010 still fires"), named())
    two = diagnosis("two", named(SILENT))
    none = diagnosis("three", why="packages: nothing")
    found = card([("first", [one, none]), ("second", [two])])
    assert found.figures == "3 of 5 findings have a fix, 2 of these ran and are silent"
    rows = found.tables[0].rows
    assert rows[0] == ("first", "1", "4", "2", "1", "1", "1", "1")
    assert rows[1] == ("second", "1", "1", "1", "1", "0", "0", "0")
    assert rows[2] == ("all", "2", "5", "3", "2", "1", "1", "1")
    assert found.tables[1].rows == (("1", "RE010 still fires"),)
    assert found.goals[0].met is False
    assert card([("first", [two])]).goals[0].met is True
    assert card([("first", [none])]).goals[0].met is None


def test_a_split_that_is_held_out_is_left_alone() -> None:
    held_out = [split.name for split in splits().values() if not split.opened]
    assert held_out
    with pytest.raises(InputError, match="held out"):
        opened(held_out[:1])
    assert not {split.name for split in opened(())} & set(held_out)


def test_what_runs_next_to_a_program_tells_of_its_fixes() -> None:
    seen = Observation("RE010", "name", "reenact", None, Severity.ERROR, "saw", "why", 0.9)
    finding = finding_of(seen)
    assert _named(finding, "untried")["fix"] == ""

    fixed = replace(
        finding,
        fix=Fix(Patch(), "diff", tried=FixTried.SILENT),
        dropped_fixes=(DroppedFix(Patch(), "it crashes"),),
    )
    named = _named(fixed, "untried")
    assert (named["fix"], named["dropped"]) == (SILENT, ["it crashes"])
