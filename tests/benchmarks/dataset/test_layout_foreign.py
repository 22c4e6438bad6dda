"""From what was named to recall, precision and false alarms; and two programs of ours, all the
way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.dataset.asked import Asked
from benchmarks.dataset.card import scorecard
from benchmarks.dataset.foreign import Fixed, Foreign
from benchmarks.dataset.layout_foreign import LEAST
from benchmarks.dataset.result import NamedFault, Results, TrainingDiagnosis
from benchmarks.dataset.runner import diagnose_all, start_of
from benchmarks.dataset.scoring import Scored
from benchmarks.dataset.scoring import scored as scored_split
from benchmarks.dataset.splits import split_named
from benchmarks.dataset.training import Training, Truth
from benchmarks.dataset.truth import OF_STRANGERS
from benchmarks.share import Share
from reenact.faults.fault_type import FaultType
from reenact.types import ExitCode

FOREIGN = Foreign("owner/repository", "0" * 64)
CASE = Training(
    "one",
    "train.py",
    sound=False,
    what="for tests",
    fault=(Truth("ACH", (7,)), Truth("LCH", (9,)), Truth("RE901", (3,))),
    foreign=FOREIGN,
)
SOUND = replace(CASE, id="two", sound=True, fault=())
BODY = """import numpy as np
from keras import Sequential
from keras.layers import Dense
rows = np.random.default_rng(0).normal(size=(160, 4))
model = Sequential([Dense(8, activation="relu"), Dense(1, activation="{last}")])
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(rows, (rows.sum(axis=1) > 0).astype("float32"), epochs=6, verbose=0, validation_split=0.2)
"""


def named(
    fault: FaultType | None, *lines: int, code: str = "RE001", confidence: float = 0.9
) -> NamedFault:
    places = tuple(("train.py", line, line) for line in lines)
    return NamedFault((code,), places, confidence, fault=fault, status="untried")


def reported(
    *findings: NamedFault,
    symptoms: tuple[NamedFault, ...] = (),
    judgement: str = "findings",
) -> TrainingDiagnosis:
    return TrainingDiagnosis(
        "one",
        "quick",
        "code",
        "start",
        judgement=judgement,
        findings=findings,
        symptoms=symptoms,
    )


def scored(
    trainings: Sequence[Training],
    results: Sequence[TrainingDiagnosis],
    *,
    whole: bool = True,
) -> Scored:
    return scored_split(
        split_named("foreign-confirm"), trainings, results, depth="quick", whole=whole
    )


@pytest.mark.parametrize(
    ("fault", "true"),
    [
        (named(FaultType.ACH, 7), True),
        (named(FaultType.ARM, 7), True),
        (named(FaultType.ACH, 8), False),
        (named(FaultType.LCH), True),
        (named(FaultType.HLR), False),
        (replace(named(FaultType.LCH), places=(("train.py", 8, 10),)), True),
        (named(None, 3, code="RE901"), True),
        (named(None, 4, code="RE901"), False),
    ],
)
def test_a_fault_is_true_at_its_line_or_where_it_has_none(fault: NamedFault, true: bool) -> None:
    assert OF_STRANGERS.is_true(fault, CASE) is true


def test_recall_counts_programs_and_precision_findings() -> None:
    found = scored(
        [CASE, replace(CASE, id="three")],
        [
            reported(named(FaultType.ACH, 7), named(FaultType.HLR)),
            reported(named(FaultType.HBS)),
        ],
    )
    assert (found.named.part, found.named.whole) == (1, 2)
    assert (found.precision.part, found.precision.whole) == (1, 3)


def test_an_explained_crash_is_a_finding_and_other_symptoms_are_none() -> None:
    crash = named(None, 3, code="RE901")
    found = scored([CASE], [reported(symptoms=(crash, named(None, code="RE029")))])
    assert (found.named.part, found.precision.whole) == (1, 1)
    unsure = replace(crash, confidence=0.2)
    assert not scored([CASE], [reported(symptoms=(unsure,))]).named.part


def test_a_sound_program_has_a_false_alarm_by_a_finding_or_by_being_called_broken() -> None:
    found = scored(
        [SOUND, replace(SOUND, id="b"), replace(SOUND, id="c")],
        [
            reported(named(FaultType.HLR)),
            reported(judgement="broken"),
            reported(judgement="sound"),
        ],
    )
    assert (found.alarms.part, found.alarms.whole) == (2, 3)


def test_that_a_training_is_too_short_is_no_alarm_where_the_manifest_cut_it() -> None:
    brief = reported(named(FaultType.HNE, 4))
    cut = scored([replace(SOUND, args=("--epochs", "1"))], [brief])
    assert (cut.alarms.part, cut.alarms_of_all_kinds.part) == (0, 1)
    assert scored([SOUND], [brief]).alarms.part == 1


def test_the_interval_of_wilson() -> None:
    low, high = Share(8, 10).interval
    assert (round(low, 3), round(high, 3)) == (0.49, 0.943)
    assert str(Share(0, 0)) == "-"


def test_goals_are_judged_over_whole_halves_alone() -> None:
    faulty = [replace(CASE, id=f"f{number}") for number in range(LEAST)]
    sound = [replace(SOUND, id=f"s{number}") for number in range(LEAST)]
    results = [reported(named(FaultType.ACH, 7))] * LEAST + [reported(judgement="sound")] * LEAST
    every = [*faulty, *sound]
    assert scorecard(scored(every, results)).exit_code is ExitCode.OK
    assert scorecard(scored(every, results, whole=False)).exit_code is ExitCode.INCONCLUSIVE
    few = scored(faulty[:3], results[:3])
    assert scorecard(few).exit_code is ExitCode.INCONCLUSIVE
    missed = scored(
        [*faulty, *sound],
        [reported()] * LEAST + [reported(named(FaultType.ACH, 7))] * LEAST,
    )
    assert scorecard(missed).exit_code is ExitCode.FOUND


def test_a_result_of_another_start_is_not_taken_for_this_one(tmp_path: Path) -> None:
    results = Results(tmp_path, TrainingDiagnosis)
    result = reported(named(FaultType.ACH, 7))
    results.put(result)
    assert results.get(reported()) == result
    assert results.get(replace(reported(), started_as="other")) is None
    assert results.get(replace(reported(), depth="normal")) is None
    assert results.get(replace(reported(), model="replay:answers")) is None


def test_a_start_is_the_program_and_not_what_is_true_of_it() -> None:
    start = start_of(CASE, Asked(), with_fix=False)
    with_fix = replace(CASE, foreign=replace(FOREIGN, fixed=Fixed("fixed.py", "0" * 64)))
    assert start != start_of(replace(CASE, args=("--epochs", "1")), Asked(), with_fix=False)
    assert start == start_of(replace(CASE, fault=(Truth("HLR", (1,)),)), Asked(), with_fix=False)
    assert start == start_of(with_fix, Asked(), with_fix=False)
    assert start != start_of(with_fix, Asked(), with_fix=True)


@pytest.mark.slow
def test_two_programs_of_ours_are_diagnosed_in_the_box_and_known_the_second_time(
    tmp_path: Path,
) -> None:
    trainings = []
    for name, last in (("faulty", "softmax"), ("sound", "sigmoid")):
        file = tmp_path / "checkouts" / "repository" / name / "train.py"
        file.parent.mkdir(parents=True)
        file.write_text(BODY.format(last=last), encoding="utf-8")
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        fault = () if name == "sound" else (Truth("ACH", (5,)),)
        foreign = replace(FOREIGN, sha256=sha256)
        trainings.append(
            replace(
                CASE,
                id=name,
                path=f"{name}/train.py",
                sound=name == "sound",
                fault=fault,
                foreign=foreign,
            )
        )
    kept = tmp_path / "results"
    found = diagnose_all(trainings, Asked(checkouts=tmp_path / "checkouts"), kept)
    assert [result.could_not_run for result in found] == ["", ""]
    half = scored(trainings, found)
    assert (half.named.part, half.named.whole, half.alarms.whole) == (1, 1, 1)
    nothing_there = tmp_path / "nothing"
    nothing_there.mkdir()
    assert diagnose_all(trainings, Asked(checkouts=nothing_there), kept) == found
