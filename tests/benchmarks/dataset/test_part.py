"""A part of the drawn cases: what counts as named, as a false alarm, as called sound; who says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.dataset.layout_part import part_scorecard
from benchmarks.dataset.part import FIXES, FREE, MeasuredPart, measured_part, part_of
from benchmarks.dataset.readings import READINGS, Reading, Sheet, read_readings, shown_findings
from benchmarks.dataset.result import NamedFault, TrainingDiagnosis
from benchmarks.dataset.splits import Split
from benchmarks.dataset.training import Training, Truth
from reenact.errors import InputError
from reenact.types import ExitCode

FAULTY = Training("a", "train.py", sound=False, what="the mask", fault=(Truth("", (3,)),))
SOUND = replace(FAULTY, id="b", sound=True, fault=())
FOUND = NamedFault(("RE010",), (("train.py", 4, 4),), 0.9, saw="never cleared")
OTHER = NamedFault(("RE021",), (), 0.6, saw="slow")
CRASH = NamedFault(("RE901",), (("train.py", 9, 9),), 0.9, saw="shapes differ")


def split(sort: str) -> Split:
    part = part_of("A")
    assert part is not None
    return next(one for one in part if one.name == f"drawn-{sort}-a")


def said(
    *findings: NamedFault,
    judgement: str = "",
    symptoms: tuple[NamedFault, ...] = (),
    could_not_run: str = "",
) -> TrainingDiagnosis:
    judged = judgement or ("findings" if findings else "sound")
    return TrainingDiagnosis(
        "a",
        "quick",
        "code",
        "start",
        judgement=judged,
        findings=findings,
        symptoms=symptoms,
        could_not_run=could_not_run,
    )


def measured(
    *cases: tuple[str, Training, TrainingDiagnosis], readings: tuple[Reading, ...] = ()
) -> MeasuredPart:
    members = [(split(sort), training) for sort, training, _ in cases]
    return measured_part("A", members, [result for *_, result in cases], readings)


def reading(
    result: TrainingDiagnosis, first: tuple[bool, ...], second: tuple[bool, ...]
) -> Reading:
    return Reading("a", Sheet(FAULTY, shown_findings(result)).digest, (first, second))


def test_a_part_has_free_faults_fixes_and_sound_programs() -> None:
    part = part_of("B")
    assert part is not None
    assert [one.name for one in part] == ["drawn-free-b", "drawn-fixes-b", "drawn-sound-b"]
    assert part_of("tuning") is None


@pytest.mark.parametrize(
    ("first", "second", "named", "true"),
    [
        ((True, False), (True, False), 1, 1),
        ((True, False), (False, True), 0, 0),
        ((False, True), (False, True), 1, 1),
        ((True, True), (True, True), 1, 2),
        ((False, False), (False, False), 0, 0),
    ],
)
def test_a_finding_is_true_where_both_readers_say_so_of_it(
    first: tuple[bool, ...], second: tuple[bool, ...], named: int, true: int
) -> None:
    result = said(FOUND, OTHER)
    part = measured((FREE, FAULTY, result), readings=(reading(result, first, second),))
    assert (part.named(FREE).part, part.true_findings.part) == (named, true)
    assert part.true_findings.whole == 2
    assert part.named(FIXES).whole == 0


def test_a_reading_of_other_findings_does_not_count() -> None:
    read = reading(said(OTHER), (True,), (True,))
    part = measured((FIXES, FAULTY, said(FOUND)), readings=(read,))
    assert part.named(FIXES).part == 0
    assert [case.training.id for case in part.unread] == ["a"]
    card = part_scorecard(part, whole=True)
    assert card.exit_code is ExitCode.INCONCLUSIVE


def test_only_the_first_two_findings_are_read_and_crashes_come_after_findings() -> None:
    result = said(FOUND, OTHER, symptoms=(CRASH,))
    assert shown_findings(result) == (FOUND, OTHER)
    assert shown_findings(said(symptoms=(CRASH,))) == (CRASH,)


def test_no_fault_found_is_counted_over_the_faulty_that_did_not_crash() -> None:
    part = measured(
        (FREE, FAULTY, said()),
        (FREE, FAULTY, said(FOUND)),
        (FIXES, FAULTY, said(symptoms=(CRASH,), judgement="broken")),
    )
    assert (part.called_sound.part, part.called_sound.whole) == (1, 2)


@pytest.mark.parametrize("judgement", ["findings", "broken", "unjudged"])
def test_anything_in_place_of_no_fault_found_is_a_false_alarm(judgement: str) -> None:
    part = measured(("sound", SOUND, said(judgement=judgement)), ("sound", SOUND, said()))
    alarms = part.alarms(part.sound)
    assert (alarms.part, alarms.whole) == (1, 2)


def test_sound_twins_of_free_faults_are_counted_apart() -> None:
    part = measured((FREE, SOUND, said(FOUND)), ("sound", SOUND, said()))
    assert part.alarms(part.sound).whole == 1
    assert part_scorecard(part, whole=False).measured["twins"].part == 1


def test_a_program_that_this_machine_cannot_start_is_left_out_and_no_goal_is_judged() -> None:
    part = measured((FREE, FAULTY, said(could_not_run="packages: torch_geometric")))
    assert part.named(FREE).whole == 0
    assert len(part.missing) == 1
    assert all(goal.met is None for goal in part_scorecard(part, whole=True).goals)


def test_a_sheet_tells_the_truth_and_the_findings() -> None:
    text = Sheet(FAULTY, (FOUND,)).text
    assert "the mask" in text
    assert "train.py:4 RE010 gradients-not-cleared: never cleared" in text


def test_readings_are_read_and_an_unknown_key_is_an_error(tmp_path: Path) -> None:
    assert read_readings(tmp_path) == ()
    block = '[[reading]]\ntraining = "a"\nfindings = "0"\nreaders = [[true], [false]]\n'
    (tmp_path / READINGS).write_text(block)
    assert read_readings(tmp_path) == (Reading("a", "0", ((True,), (False,))),)
    (tmp_path / READINGS).write_text(block + "reader = 3\n")
    with pytest.raises(InputError, match="readings"):
        read_readings(tmp_path)
