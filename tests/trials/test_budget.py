"""Budgets as a user writes them, and what is used of them."""

from __future__ import annotations

import math

import pytest

from reenact.errors import InputError
from reenact.trials.budget import (
    TrainingBudget,
    TrainingUsage,
    diagnose_budget,
    repair_budget,
)


@pytest.mark.parametrize("read", [diagnose_budget, repair_budget])
@pytest.mark.parametrize(
    ("text", "multiple", "trainings", "seconds"),
    [
        ("20x", 20, None, None),
        ("0.5x", 0.5, None, None),
        ("40t", math.inf, 40, None),
        ("90s", math.inf, None, 90),
        ("2m", math.inf, None, 120),
        ("1h", math.inf, None, 3600),
    ],
)
def test_one_grammar_for_diagnose_and_repair(read, text, multiple, trainings, seconds) -> None:
    assert read(text) == TrainingBudget(multiple, trainings, seconds)


@pytest.mark.parametrize("read", [diagnose_budget, repair_budget])
@pytest.mark.parametrize(
    "text", ["", "0", "-3", "soon", "m", "x", "0.5t", "2000000x", "inf", "nan", "5mx"]
)
def test_anything_else_is_refused(read, text: str) -> None:
    with pytest.raises(InputError, match="budget"):
        read(text)


def test_a_bare_number_keeps_its_meaning_for_a_while_and_says_what_to_write() -> None:
    diagnose, repair = diagnose_budget("40"), repair_budget("40")
    assert (diagnose.multiple, diagnose.exact) == (40, False)
    assert (repair.multiple, repair.exact) == (40, True)
    assert "write 40t" in diagnose.note
    assert "write 40x" in repair.note
    assert not repair_budget("40x").note


def test_an_inexact_budget_allows_more_of_short_trainings_and_not_of_long_ones() -> None:
    usual = TrainingBudget(30, exact=False)
    assert usual.for_trainings_of(5.0) is usual
    assert usual.for_trainings_of(0.5).multiple * 0.5 == pytest.approx(90)
    asked = diagnose_budget("30s")
    assert asked.for_trainings_of(0.5) is asked


def test_what_is_spent_is_counted_in_trainings() -> None:
    assert TrainingUsage(9.0, 4, cpu_seconds=6.0, one_training=2.0).spent == 3.0
    assert TrainingUsage(9.0).spent == 0.0
