"""What counts as named, as first at its line and as a false alarm in `python -m benchmarks modern`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.modern.card import LEAST, scorecard
from benchmarks.modern.case import CATEGORIES, Half, ModernCase, Truth, categories
from benchmarks.modern.measure import ModernResult, Named
from reenact.rules.registry import all_rules
from reenact.types import ExitCode

FAULTY = ModernCase(
    "loop", "loop.py", "plain-loop", "faulty", "the gradients are never cleared", 5,
    fault=(Truth("missing-zero-grad", (12, 14)),),
)  # fmt: skip
SOUND = ModernCase("fine", "fine.py", "plain-loop", "sound", "gradients of two batches are added", 5)
CLEARED = Named(("RE010",), (("loop.py", 14, 14),), 0.97, "gradients are never cleared")
RATE = Named(("UM005",), (("loop.py", 14, 14),), 0.5, "learning rate 5")


def _figures(case: ModernCase, *findings: Named, **more: object) -> dict[str, str]:
    result = replace(ModernResult(case.id, "code", findings=findings), **more)  # type: ignore[arg-type]
    card = scorecard(Half.TUNE, [case], [result], depth="quick", whole=True)
    return {goal.name: goal.reached.split("(")[-1].rstrip(")") for goal in card.goals}


def test_a_true_fault_at_its_line_comes_first() -> None:
    found = _figures(FAULTY, CLEARED, RATE)

    assert found["a true fault named"] == found["named first, at its line"] == "1 of 1"


@pytest.mark.parametrize(
    "findings",
    [(RATE, CLEARED), (replace(CLEARED, places=(("loop.py", 13, 13),)),), (replace(CLEARED, places=()),),
     (replace(CLEARED, places=(("other.py", 14, 14),)),)],
)  # fmt: skip
def test_a_true_fault_behind_another_or_elsewhere_is_only_named(findings: tuple[Named, ...]) -> None:
    found = _figures(FAULTY, *findings)

    assert (found["a true fault named"], found["named first, at its line"]) == ("1 of 1", "0 of 1")


def test_another_fault_at_that_line_is_not_the_fault() -> None:
    assert _figures(FAULTY, RATE)["a true fault named"] == "0 of 1"


def test_what_was_only_suspected_is_not_named() -> None:
    assert _figures(FAULTY, doubts=(CLEARED,))["a true fault named"] == "0 of 1"


@pytest.mark.parametrize(
    ("more", "alarms"),
    [({}, "0 of 1"), ({"findings": (RATE,)}, "1 of 1"), ({"judgement": "broken"}, "1 of 1"),
     ({"doubts": (RATE,)}, "0 of 1")],
)  # fmt: skip
def test_any_finding_or_a_bad_judgement_of_a_sound_program_is_a_false_alarm(
    more: dict[str, object], alarms: str
) -> None:
    assert _figures(SOUND, **more)["false alarms on sound programs"] == alarms  # type: ignore[arg-type]


def test_a_detector_that_says_everything_and_one_that_says_nothing_miss_a_goal() -> None:
    faulty = [replace(FAULTY, id=f"faulty{n}") for n in range(LEAST)]
    sound = [replace(SOUND, id=f"sound{n}") for n in range(LEAST)]
    for findings in ((CLEARED, RATE), ()):
        results = [ModernResult(case.id, "code", findings=findings) for case in (*faulty, *sound)]
        card = scorecard(Half.TUNE, [*faulty, *sound], results, depth="quick", whole=True)

        assert card.exit_code is ExitCode.FOUND


def test_a_few_programs_judge_no_goal() -> None:
    card = scorecard(Half.TUNE, [FAULTY], [ModernResult("loop", "code")], depth="quick", whole=False)

    assert card.exit_code is ExitCode.INCONCLUSIVE


def test_a_category_names_only_rules_that_exist_or_have_its_name() -> None:
    rules, known = {rule.name for rule in all_rules()}, categories()
    strange = {name for names in known.values() for name in names} - rules - set(known)

    assert not strange, f"not rules: {sorted(strange)} ({CATEGORIES.name})"
