"""Budgets as a user writes them, and what is used of them."""

from __future__ import annotations

import math

import pytest

from reenact.errors import InputError
from reenact.trials.budget import TrainingBudget, TrainingUsage, training_budget


@pytest.mark.parametrize(
    ("text", "multiple", "trainings", "seconds"),
    [
        ("20x", 20, None, None), ("0.5x", 0.5, None, None), ("40t", math.inf, 40, None),
        ("90s", math.inf, None, 90), ("2m", math.inf, None, 120), ("1h", math.inf, None, 3600),
    ],
)  # fmt: skip
def test_one_grammar_for_diagnose_and_repair(text, multiple, trainings, seconds) -> None:
    assert training_budget(text) == TrainingBudget(multiple, trainings, seconds)


@pytest.mark.parametrize(
    "text", ["", "0", "-3", "soon", "m", "x", "0.5t", "2000000x", "inf", "nan", "5mx", "40"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="budget"):
        training_budget(text)


def test_an_inexact_budget_allows_more_of_short_trainings_and_not_of_long_ones() -> None:
    usual = TrainingBudget(30, exact=False)
    assert usual.for_trainings_of(5.0) is usual
    assert usual.for_trainings_of(0.5).multiple * 0.5 == pytest.approx(90)
    asked = training_budget("30s")
    assert asked.for_trainings_of(0.5) is asked


def test_what_is_spent_is_counted_in_trainings() -> None:
    assert TrainingUsage(9.0, 4, cpu_seconds=6.0, one_training=2.0).spent == 3.0
    assert TrainingUsage(9.0).spent == 0.0
