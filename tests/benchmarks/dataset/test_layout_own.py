"""What counts as named, as first at its line and as a false alarm in `programs that are kept
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks.dataset.card import scorecard
from benchmarks.dataset.kinds import CATEGORIES, categories
from benchmarks.dataset.layout_own import LEAST
from benchmarks.dataset.result import NamedFault, TrainingDiagnosis
from benchmarks.dataset.scoring import scored
from benchmarks.dataset.splits import split_named
from benchmarks.dataset.training import Training, Truth
from benchmarks.scorecard import Scorecard
from reenact.faults.registry import all_detectors
from reenact.types import ExitCode

FAULTY = Training(
    "loop",
    "loop.py",
    sound=False,
    what="the gradients are never cleared",
    style="plain-loop",
    fault=(Truth("missing-zero-grad", (12, 14)),),
)
SOUND = Training(
    "fine",
    "fine.py",
    sound=True,
    what="gradients of two batches are added",
    style="plain-loop",
)
CLEARED = NamedFault(("RE010",), (("loop.py", 14, 14),), 0.97, "gradients are never cleared")
RATE = NamedFault(("UM005",), (("loop.py", 14, 14),), 0.5, "learning rate 5")


def _diagnosis(training: Training, *findings: NamedFault, **more: object) -> TrainingDiagnosis:
    begun = TrainingDiagnosis(training.id, "quick", "code", "start", findings=findings)
    return replace(begun, **more)  # type: ignore[arg-type]


def _card(
    trainings: Sequence[Training],
    results: Sequence[TrainingDiagnosis],
    *,
    whole: bool = True,
) -> Scorecard:
    split = split_named("tuning")
    return scorecard(scored(split, trainings, results, depth="quick", whole=whole))


def _figures(training: Training, *findings: NamedFault, **more: object) -> dict[str, str]:
    card = _card([training], [_diagnosis(training, *findings, **more)])
    return {goal.name: goal.reached.split("(")[-1].rstrip(")") for goal in card.goals}


def test_a_true_fault_at_its_line_comes_first() -> None:
    found = _figures(FAULTY, CLEARED, RATE)

    assert found["a true fault named"] == found["named first, at its line"] == "1 of 1"


@pytest.mark.parametrize(
    "findings",
    [
        (RATE, CLEARED),
        (replace(CLEARED, places=(("loop.py", 13, 13),)),),
        (replace(CLEARED, places=()),),
        (replace(CLEARED, places=(("other.py", 14, 14),)),),
    ],
)
def test_a_true_fault_behind_another_or_elsewhere_is_only_named(
    findings: tuple[NamedFault, ...],
) -> None:
    found = _figures(FAULTY, *findings)

    assert (found["a true fault named"], found["named first, at its line"]) == (
        "1 of 1",
        "0 of 1",
    )


def test_another_fault_at_that_line_is_not_the_fault() -> None:
    assert _figures(FAULTY, RATE)["a true fault named"] == "0 of 1"


def test_what_was_only_suspected_is_not_named() -> None:
    assert _figures(FAULTY, doubts=(CLEARED,))["a true fault named"] == "0 of 1"


@pytest.mark.parametrize(
    ("more", "alarms"),
    [
        ({}, "0 of 1"),
        ({"findings": (RATE,)}, "1 of 1"),
        ({"judgement": "broken"}, "1 of 1"),
        ({"doubts": (RATE,)}, "0 of 1"),
    ],
)
def test_any_finding_or_a_bad_judgement_of_a_sound_program_is_a_false_alarm(
    more: dict[str, object], alarms: str
) -> None:
    assert _figures(SOUND, **more)[("false alarms on sound programs")] == alarms  # type: ignore[arg-type]


def test_a_detector_that_says_everything_and_one_that_says_nothing_miss_a_goal() -> None:
    faulty = [replace(FAULTY, id=f"faulty{n}") for n in range(LEAST)]
    sound = [replace(SOUND, id=f"sound{n}") for n in range(LEAST)]
    for findings in ((CLEARED, RATE), ()):
        results = [_diagnosis(training, *findings) for training in (*faulty, *sound)]

        assert _card([*faulty, *sound], results).exit_code is ExitCode.FOUND


def test_a_few_programs_judge_no_goal() -> None:
    card = _card([FAULTY], [_diagnosis(FAULTY)], whole=False)

    assert card.exit_code is ExitCode.INCONCLUSIVE


def test_a_category_names_only_rules_that_exist_or_have_its_name() -> None:
    rules, known = {rule.name for rule in all_detectors()}, categories()
    strange = {name for names in known.values() for name in names} - rules - set(known)

    assert not strange, f"not rules: {sorted(strange)} ({CATEGORIES.name})"
