"""The figures of the repair benchmark, by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import pstdev

import pytest
from scipy.stats import wilcoxon

from benchmarks.faults.case import Scale, Side
from benchmarks.faults.cases import fault_case, source_text
from benchmarks.repairs.card import scorecard
from benchmarks.repairs.figures import Fault, Figures, mean_value, median_rate
from benchmarks.repairs.repaired import Reference, Repaired, improvement_rate, jaccards
from reenact.program.edit.change import Set
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch, change_for
from reenact.program.program import program_from_text
from reenact.program.static_graph import hyperparameters_of
from reenact.types import ExitCode

REFERENCE = Reference("D1", (0.5, 0.5), (0.9, 0.9), "test_accuracy", True, 1.0, 20)
RUN = Repaired(
    "D1",
    "guided",
    "20",
    0,
    "repaired",
    (0.5, 0.5),
    (0.9, 0.9),
    0.01,
    1,
    1.0,
    1.0,
    15,
    14.0,
    30.0,
)


@pytest.mark.parametrize(
    ("after", "rate"),
    [
        ((0.9, 0.9), 1.0),
        ((0.7, 0.7), 0.5),
        ((0.5, 0.5), 0.0),
        ((1.0, 1.0), 1.25),
        ((-math.inf, 0.9), 0.5),
    ],
)
def test_improvement_rate(after: tuple[float, ...], rate: float) -> None:
    assert improvement_rate(after, REFERENCE) == pytest.approx(rate)


def test_improvement_rate_of_an_error_keeps_its_sense() -> None:
    """Oriented: an error of 4 is -4, and larger is better."""
    reference = replace(REFERENCE, faulty=(-4.0, -4.0), fixed=(-1.0, -1.0), larger_is_better=False)
    assert improvement_rate((-2.5, -2.5), reference) == pytest.approx(0.5)
    assert mean_value((-2.5, -2.5), reference) == 2.5


@pytest.mark.parametrize("fixed", [REFERENCE.faulty, (0.4, 0.4)])
def test_no_rate_where_the_known_fix_is_no_improvement(
    fixed: tuple[float, ...],
) -> None:
    reference = replace(REFERENCE, fixed=fixed)
    figures = Fault(reference, (RUN,)).by("guided", "20")
    assert figures is not None
    assert math.isnan(figures.rate)
    assert math.isnan(median_rate([figures]))


def test_repeats() -> None:
    runs = (
        RUN,
        replace(RUN, repeat=1, after=(0.7, 0.7), complexity=3, decision="not-significant"),
    )
    figures = Fault(REFERENCE, runs).by("guided", "20")
    assert figures is not None
    assert figures.rate == pytest.approx(0.75)
    assert figures.sigma == pytest.approx(0.1)
    assert figures.complexity == 2
    assert figures.normalised == pytest.approx(0.1)
    assert not figures.repaired
    assert Fault(REFERENCE, runs).by("random", "20") is None


def test_jaccard_counts_the_known_faults() -> None:
    case = fault_case("M1")
    program = program_from_text(source_text(case, Side.BUGGY, Scale.LITE))
    planted = case.faults[0]
    params = hyperparameters_of(program)
    right = next(param for param in params if param.kind is planted.kind)
    other = next(param for param in params if param.kind is Kind.BATCH_SIZE)
    both = Patch((change_for(right, right.alternatives[0]), Set(other.id, 7)))
    assert jaccards(both, program, case)[0] == 1.0
    assert jaccards(Patch((Set(other.id, 7),)), program, case)[0] == 0.0


def test_an_activation_that_is_a_layer_of_its_own_is_counted_there() -> None:
    """D1 says `Dense(1)` and then `Activation("softmax")`, which is the layer that the study
    names.
    """
    case = fault_case("D1")
    program = program_from_text(source_text(case, Side.BUGGY, Scale.LITE))
    output = next(
        param
        for param in hyperparameters_of(program)
        if param.kind is Kind.ACTIVATION and param.role == "output"
    )
    patch = Patch((change_for(output, "sigmoid"),))
    assert jaccards(patch, program, case) == (1.0, 1.0)


def test_the_card_judges_the_goals() -> None:
    case = fault_case("D1")
    faults = [Fault(REFERENCE, (RUN, replace(RUN, budget="10", after=(0.8, 0.8))))]
    card = scorecard(faults, [case], {"D2": "data missing"}, Scale.LITE, ("guided",), ("10", "20"))
    reached = {goal.name: goal.met for goal in card.goals}
    assert reached["median improvement rate, budget 20"]
    assert not reached["median improvement rate, budget 10"]
    assert card.exit_code is ExitCode.FOUND


def test_a_fix_that_costs_more_than_the_budget_is_listed_apart() -> None:
    expensive = Fault(replace(REFERENCE, cost=25.0), (RUN,))
    card = scorecard([expensive], [fault_case("D1")], {}, Scale.LITE, ("guided",), ("20",))
    apart = next(table for table in card.tables if "dearer" in table.title)
    assert apart.rows == (("D1", "25.0"),)
    assert card.goals == ()
    assert card.exit_code is ExitCode.INCONCLUSIVE


def over_runs(count: int, *, better: int, found: bool = True) -> Figures:
    """So many runs with seeds of their own; in `better` of them the first training after is
    better.
    """
    runs = [
        replace(
            RUN,
            repeat=number,
            before=(0.5 + number / 100, 0.5),
            after=((0.9 if number < better else 0.4) + number / 50, 0.9),
            complexity=int(found),
        )
        for number in range(count)
    ]
    figures = Fault(replace(REFERENCE, faulty=(0.5, 0.51, 0.52)), tuple(runs)).by("guided", "20")
    assert figures is not None
    return figures


@pytest.mark.parametrize(("count", "better"), [(6, 6), (10, 10), (10, 7), (10, 5)])
def test_the_studys_test_is_over_runs_with_one_training_each(count: int, better: int) -> None:
    figures = over_runs(count, better=better)
    differences = [run.after[0] - run.before[0] for run in figures.runs]
    assert figures.p_over_runs == pytest.approx(wilcoxon(differences, method="exact").pvalue)
    assert figures.repaired == (better > 5), "though each patch holds by seeds of its own"


def test_fewer_runs_than_can_be_significant_have_no_test() -> None:
    assert over_runs(5, better=5).p_over_runs is None


def test_the_spread_over_runs_holds_the_noise_of_training() -> None:
    """Equal patches differ by their seeds; where nothing was found, the faulty program's
    trainings do.
    """
    assert over_runs(6, better=6).sigma == pytest.approx(pstdev(0.9 + n / 50 for n in range(6)))
    assert over_runs(6, better=6, found=False).sigma == pytest.approx(pstdev((0.5, 0.51, 0.52)))
    assert over_runs(6, better=6, found=False).p_over_runs == 1.0
