"""Whether a training works, fails, or neither is to be seen."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from made_evidence import QUANTITIES, graph, trace
from reenact.faults.confidence import Health
from reenact.faults.evidence import Evidence
from reenact.faults.health import health_of
from reenact.probe.trace import Columns
from reenact.program.graph import TaskType

GUESSING = math.log(3)
"""The loss of a constant answer, where three classes are equally frequent."""


def falling(first: float, last: float, steps: int = 60) -> list[float]:
    return [first + (last - first) * step / (steps - 1) for step in range(steps)]


@pytest.mark.parametrize(
    ("losses", "health"),
    [
        pytest.param([], Health.UNSEEN, id="no step"),
        pytest.param(falling(1.2, 0.2), Health.WORKS, id="far below what guessing gives"),
        pytest.param(falling(1.2, 0.8), Health.UNCLEAR, id="somewhat below it"),
        pytest.param([GUESSING] * 60, Health.FAILS, id="as guessing"),
        pytest.param(falling(9.0, 2.0), Health.FAILS, id="fell, and is worse than guessing"),
        pytest.param(falling(1.2, 0.9, 9), Health.UNCLEAR, id="hardly begun"),
        pytest.param([1.0] * 6 + [math.nan] * 54, Health.FAILS, id="no number in the end"),
    ],
)
def test_a_loss_is_held_against_that_of_a_constant_answer(
    losses: list[float], health: Health
) -> None:
    assert health_of(Evidence(trace=trace(losses))) is health


def test_a_loss_whose_least_value_is_unknown_fails_only_where_it_stands_still() -> None:
    model = replace(graph(TaskType.REGRESSION, "mse", 1), loss=None)
    for last, health in ((0.95, Health.UNCLEAR), (1.0, Health.FAILS)):
        made = trace(falling(1.0, last), graph=model, data=(QUANTITIES,))
        assert health_of(Evidence(trace=made)) is health


def test_a_loss_that_climbs_far_above_its_start_fails_whatever_the_accuracy_is() -> None:
    for last, health in ((40.0, Health.FAILS), (0.3, Health.WORKS)):
        made = trace(falling(1.1, last))
        columns = (*made.steps.columns, "accuracy")
        rows = np.column_stack([made.steps.rows, np.full(60, 0.9)])
        assert health_of(Evidence(trace=replace(made, steps=Columns(columns, rows)))) is health


def test_losses_of_networks_in_turns_say_nothing() -> None:
    made = trace([GUESSING] * 60)
    rows = made.steps.rows.copy()
    rows[:, made.steps.columns.index("optimizer")] = np.arange(60) % 2
    assert (
        health_of(Evidence(trace=replace(made, steps=Columns(made.steps.columns, rows))))
        is Health.UNCLEAR
    )
