"""What the examples of the rules do not reach: windows, ties, and runs that only look still or broken."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reenact.faults.detector import run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.facts.measured import first_hit, mostly_zero_since, still_since
from reenact.faults.finding import Finding
from reenact.faults.registry import chosen, detector
from reenact.probe.inject.reenact_probe.folder import LAYER, PARAMETER, STEP
from reenact.probe.trace import Columns, Metric, Trace, no_rows
from reenact.program.layer_view import LayerView


def steps_of(**columns: list[float]) -> Columns:
    count = len(next(iter(columns.values())))
    given = {
        "step": list(range(count)),
        "backward_calls": [1] * count,
        "sampled": [1] * count,
        **columns,
    }
    rows = np.full((count, len(STEP)), np.nan)
    for name, values in given.items():
        rows[:, STEP.index(name)] = values
    return Columns(STEP, rows)


def run_of(steps: Columns, metrics: tuple[Metric, ...] = ()) -> Evidence:
    trace = Trace(
        steps,
        no_rows(LAYER),
        no_rows(PARAMETER),
        (),
        (),
        metrics,
        (),
        None,
        (),
        (),
        None,
        True,
        1.0,
        0.0,
        (),
    )
    return Evidence(trace=trace)


def found(code: str, evidence: Evidence) -> tuple[Finding, ...]:
    return run_detectors((detector(code),), evidence)


def layer(name: str) -> LayerView:
    return LayerView(name, "Linear", "dense", 0, None, None, "hidden", {}, None)


def test_still_since_names_the_step_from_which_nothing_moved() -> None:
    rows = steps_of(loss=[3, 2, 1, 1, 1, 1, 1])
    assert still_since(rows, ("loss",), 5) == 2
    assert still_since(rows, ("loss",), 6) is None
    assert still_since(steps_of(loss=[1, 1, 1, 1, 1, 2]), ("loss",), 5) is None
    assert still_since(steps_of(loss=[math.nan] * 6), ("loss",), 5) is None


def test_zero_in_half_of_the_rows_counts_and_in_fewer_does_not() -> None:
    assert mostly_zero_since(steps_of(loss=[1, 1, 0, 0, 0, 1]), "loss", 5) == 2
    assert mostly_zero_since(steps_of(loss=[1, 1, 0, 0, 1, 1]), "loss", 5) is None
    assert mostly_zero_since(steps_of(loss=[0, 0, 0]), "loss", 5) is None


def test_the_earliest_step_wins_and_then_the_first_layer() -> None:
    when = {"a": 4, "b": 2, "c": 2}
    hit = first_hit(Evidence(), map(layer, "abc"), ("odd", 0.5, lambda _, one: when[one.name]))
    assert hit is not None
    assert (hit.layer.name, hit.step) == ("b", 2)
    assert first_hit(Evidence(), [layer("a")], ("odd", 0.5, lambda *_: None)) is None


def test_a_loss_that_stands_still_after_it_fell_is_a_training_that_is_over() -> None:
    assert found("DL007", run_of(steps_of(loss=[2.0] * 8)))
    assert not found("DL007", run_of(steps_of(loss=[4.0, 2.0, 1.0, *[0.5] * 8])))


def test_a_step_that_nothing_went_backward_for_has_no_loss_and_no_invalid_one() -> None:
    losses = [1.0, math.nan, 0.9, math.nan]
    assert not found("DL006", run_of(steps_of(loss=losses, backward_calls=[1, 0, 1, 0])))
    hit = found("DL006", run_of(steps_of(loss=losses)))
    assert [finding.first.step for finding in hit] == [1]
    assert found("DL006", run_of(steps_of(loss=[1.0, math.inf])))[0].first.step == 1


def test_a_program_whose_loss_nobody_saw_has_no_invalid_loss() -> None:
    assert not found("DL006", run_of(steps_of(loss=[math.nan] * 5)))


@pytest.mark.parametrize(("level", "fires"), [(0.3, True), (1.0, False)])
def test_equal_accuracies_are_no_symptom_when_they_are_perfect(level: float, fires: bool) -> None:
    steps = steps_of(loss=[1.0] * 6, accuracy=[level] * 6, epoch=list(range(6)))
    assert bool(found("DL009", run_of(steps))) is fires


def test_equal_accuracies_above_the_first_are_progress() -> None:
    steps = steps_of(loss=[1.0] * 6, accuracy=[0.3, *[0.9] * 5], epoch=list(range(6)))
    assert not found("DL009", run_of(steps))


def test_an_accuracy_that_the_program_prints_as_nan_is_named_with_its_step() -> None:
    metric = Metric("val_accuracy", math.nan, 7, 0, 0.0, "user")
    assert [one.first.step for one in found("DL008", run_of(steps_of(loss=[1.0]), (metric,)))] == [
        7
    ]


@pytest.mark.parametrize("losses", [[math.nan], [1.0], [0.0] * 9, [-1.0] * 9], ids=str)
def test_runs_that_tell_next_to_nothing_break_no_rule(losses: list[float]) -> None:
    rules = chosen(("deeplocalize", "deepdiagnosis", "autotrainer"))
    run_detectors(rules, Evidence())
    codes = {finding.code for finding in run_detectors(rules, run_of(steps_of(loss=losses)))}
    assert codes <= {"DL007"}
