"""From what was named to recall, precision and false alarms; and two programs of ours, all the way."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.field.card import LEAST, scorecard, scored
from benchmarks.field.case import FieldCase, Fixed, Half
from benchmarks.field.diagnosed import measure_all, start_of
from benchmarks.field.result import FieldResult, NamedFault, Results
from benchmarks.share import Share
from reenact.diagnosis.options import Depth
from reenact.program.fault import Fault
from reenact.types import ExitCode

CASE = FieldCase(
    "one", "owner/repository", "train.py", "0" * 64, "for tests",
    faults=((Fault.ACH, 7), (Fault.LCH, 9)), rules=(("RE901", 3),),
)  # fmt: skip
SOUND = replace(CASE, id="two", sound=True, faults=(), rules=())
BODY = """import numpy as np
from keras import Sequential
from keras.layers import Dense
rows = np.random.default_rng(0).normal(size=(160, 4))
model = Sequential([Dense(8, activation="relu"), Dense(1, activation="{last}")])
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(rows, (rows.sum(axis=1) > 0).astype("float32"), epochs=6, verbose=0, validation_split=0.2)
"""


def named(fault: Fault | None, *lines: int, code: str = "RE001", confidence: float = 0.9) -> NamedFault:
    return NamedFault(fault, (code,), tuple((line, line) for line in lines), "", confidence, "untried", "")


def said(
    *findings: NamedFault, symptoms: tuple[NamedFault, ...] = (), judgement: str = "findings"
) -> FieldResult:
    return FieldResult(
        "one", "quick", "code", "start", judgement=judgement, findings=findings, symptoms=symptoms
    )


@pytest.mark.parametrize(
    ("fault", "true"),
    [
        (named(Fault.ACH, 7), True),
        (named(Fault.ARM, 7), True),
        (named(Fault.ACH, 8), False),
        (named(Fault.LCH), True),
        (named(Fault.HLR), False),
        (replace(named(Fault.LCH), lines=((8, 10),)), True),
        (named(None, 3, code="RE901"), True),
        (named(None, 4, code="RE901"), False),
    ],
)
def test_a_fault_is_true_at_its_line_or_where_it_has_none(fault: NamedFault, true: bool) -> None:
    assert fault.is_true_of(CASE) is true


def test_recall_counts_programs_and_precision_findings() -> None:
    found = scored(
        Half.TUNE,
        [CASE, replace(CASE, id="three")],
        [said(named(Fault.ACH, 7), named(Fault.HLR)), said(named(Fault.HBS))],
    )
    assert (found.recall.part, found.recall.whole) == (1, 2)
    assert (found.precision.part, found.precision.whole) == (1, 3)


def test_an_explained_crash_is_a_finding_and_other_symptoms_are_none() -> None:
    crash = named(None, 3, code="RE901")
    found = scored(Half.TUNE, [CASE], [said(symptoms=(crash, named(None, code="RE029")))])
    assert (found.recall.part, found.precision.whole) == (1, 1)
    unsure = replace(crash, confidence=0.2)
    assert not scored(Half.TUNE, [CASE], [said(symptoms=(unsure,))]).recall.part


def test_a_sound_program_has_a_false_alarm_by_a_finding_or_by_being_called_broken() -> None:
    found = scored(
        Half.TUNE,
        [SOUND, replace(SOUND, id="b"), replace(SOUND, id="c")],
        [said(named(Fault.HLR)), said(judgement="broken"), said(judgement="sound")],
    )
    assert (found.alarms.part, found.alarms.whole) == (2, 3)


def test_that_a_training_is_too_short_is_no_alarm_where_the_manifest_cut_it() -> None:
    brief = said(named(Fault.HNE, 4))
    cut = scored(Half.TUNE, [replace(SOUND, arguments=("--epochs", "1"))], [brief])
    assert (cut.alarms.part, cut.alarms_of_all_kinds.part) == (0, 1)
    assert scored(Half.TUNE, [SOUND], [brief]).alarms.part == 1


def test_the_interval_of_wilson() -> None:
    low, high = Share(8, 10).interval
    assert (round(low, 3), round(high, 3)) == (0.49, 0.943)
    assert str(Share(0, 0)) == "-"


def test_goals_are_judged_over_whole_halves_alone() -> None:
    faulty = [replace(CASE, id=f"f{number}") for number in range(LEAST)]
    sound = [replace(SOUND, id=f"s{number}") for number in range(LEAST)]
    results = [said(named(Fault.ACH, 7))] * LEAST + [said(judgement="sound")] * LEAST
    whole = scored(Half.CONFIRM, [*faulty, *sound], results)
    assert scorecard(whole, Depth.QUICK, whole=True).exit_code is ExitCode.OK
    assert scorecard(whole, Depth.QUICK, whole=False).exit_code is ExitCode.INCONCLUSIVE
    few = scored(Half.CONFIRM, faulty[:3], results[:3])
    assert scorecard(few, Depth.QUICK, whole=True).exit_code is ExitCode.INCONCLUSIVE
    missed = scored(Half.CONFIRM, [*faulty, *sound], [said()] * LEAST + [said(named(Fault.ACH, 7))] * LEAST)
    assert scorecard(missed, Depth.QUICK, whole=True).exit_code is ExitCode.FOUND


def test_a_result_of_another_start_is_not_taken_for_this_one(tmp_path: Path) -> None:
    results = Results(tmp_path, FieldResult)
    results.put(said(named(Fault.ACH, 7)))
    assert results.get("one", "quick", "code", "start") == said(named(Fault.ACH, 7))
    assert results.get("one", "quick", "code", "other") is None
    assert results.get("one", "normal", "code", "start") is None
    assert start_of(CASE) != start_of(replace(CASE, arguments=("--epochs", "1")))
    assert start_of(CASE) == start_of(replace(CASE, faults=((Fault.HLR, 1),)))
    assert start_of(CASE) == start_of(replace(CASE, fixed=Fixed("fixed.py", "0" * 64)))


@pytest.mark.slow
def test_two_programs_of_ours_are_diagnosed_in_the_box_and_known_the_second_time(tmp_path: Path) -> None:
    cases = []
    for name, last in (("faulty", "softmax"), ("sound", "sigmoid")):
        file = tmp_path / "checkouts" / "repository" / name / "train.py"
        file.parent.mkdir(parents=True)
        file.write_text(BODY.format(last=last), encoding="utf-8")
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        case = replace(CASE, id=name, path=f"{name}/train.py", sha256=sha256, rules=())
        truth = {"sound": True, "faults": ()} if name == "sound" else {"faults": ((Fault.ACH, 5),)}
        cases.append(replace(case, **truth))
    results = Results(tmp_path / "results", FieldResult)
    found = measure_all(cases, tmp_path / "checkouts", results, depth=Depth.QUICK)
    assert [result.could_not_run for result in found] == ["", ""]
    half = scored(Half.TUNE, cases, found)
    assert (half.recall.part, half.recall.whole, half.alarms.whole) == (1, 1, 1)
    nothing_there = tmp_path / "nothing"
    nothing_there.mkdir()
    assert measure_all(cases, nothing_there, results, depth=Depth.QUICK) == found
