"""What control runs say of a number, on both sides of every bound: made runs, no box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from reenact.codegen.project import Project
from reenact.paper.measure.control import ControlStatus, NumberControl, Source
from reenact.paper.measure.control_runs import (
    DRY,
    FULL,
    NO_UPDATES,
    NOTHING_TRAINED,
    OTHER_SEEDS,
    PERMUTED,
    PLAIN,
    ControlRun,
    Controls,
    Observed,
    are_far_worse,
    control_of,
    controlled,
    judged_by,
    other_seed,
)
from reenact.paper.measure.gap import Comparison, Match, compare
from reenact.paper.measure.recompute import Pass
from reenact.paper.measure.runs import FullRun

SEEDS = (0.90, 0.91, 0.92)
PROJECT = Project({"train.py": "print(1)\n"})
Runs = Mapping[tuple[str, str], ControlRun]


def seen(value: float = 0.91, constant: float | None = 0.5) -> list[Pass]:
    return [Pass(series="1/0/0", guessed=False, of={"accuracy": (value, constant)})]


def observed(**more: Any) -> Observed:
    stated: dict[str, Any] = {
        "torch": True,
        "optimizers": ["SGD", "Adam"],
        "steps": 9,
        "by_hand": 0,
        "updates": 0,
        "moved": True,
        "permuted": 9,
        "not_permuted": "",
        "predicted": 40,
        "left_out": 0,
        "passes": [],
    }
    return Observed(**{**stated, **more})


def ran(value: float | None, **more: Any) -> ControlRun:
    return ControlRun({} if value is None else {"accuracy": value}, observed(**more))


def failed(why: str) -> ControlRun:
    return ControlRun({}, None, why)


def runs_with(
    plain: ControlRun | None = None,
    no_updates: float = 0.5,
    permuted: float = 0.5,
    more: Runs | None = None,
) -> dict[tuple[str, str], ControlRun]:
    """Runs that pass at the scale of the dry run, or with the others that are given."""
    return {
        (PLAIN, FULL): plain or ran(0.91, passes=seen()),
        (PLAIN, DRY): ran(0.8),
        (NO_UPDATES, DRY): ran(no_updates),
        (PERMUTED, DRY): ran(permuted),
        **(more or {}),
    }


def accuracy(claim: Any, value: float = 0.91, unit: str = "", **more: Any) -> Any:
    return claim(value=value, unit=unit, metric=more.pop("metric", "test accuracy"), **more)


def measured(stated: Any, values: tuple[float, ...] = SEEDS, first: int = 1) -> Comparison:
    """A claim next to a full run of each seed, the first of which is watched."""
    runs = [
        FullRun(seed, True, {"accuracy": value}, "", 1.0, 1.0, 1.0, "")
        for seed, value in enumerate((values[first], *values[:first], *values[first + 1 :]))
    ]
    (one,) = compare([stated], runs, [Match(claim="C1", metric="accuracy")])
    return one


def judged(
    one: Comparison, made: Runs, factor: float = 1.0, seed: int = 0
) -> tuple[NumberControl, set[tuple[str, str]]]:
    """What the runs say of it, and which of them were asked for; no other can be made."""
    asked = Recording(made)
    controls = Controls(PROJECT, seed, None, None, made=asked)  # type: ignore[arg-type]
    return control_of(one, factor, controls), asked.asked


class Recording(dict[tuple[str, str], ControlRun]):
    """Runs that are there already."""

    def __init__(self, made: Runs) -> None:
        super().__init__(made)
        self.asked: set[tuple[str, str]] = set()

    def __getitem__(self, key: tuple[str, str]) -> ControlRun:
        self.asked.add(key)
        return super().__getitem__(key)


def test_a_number_that_goes_away_without_training_passes(claim: Any) -> None:
    control, asked = judged(measured(accuracy(claim)), runs_with())
    assert control == NumberControl(
        ControlStatus.PASSED,
        Source.RECOMPUTED,
        trained=0.8,
        untrained=0.5,
        permuted=0.5,
        at=DRY,
        constant=0.5,
        should_recompute=True,
    )
    assert asked == {(PLAIN, FULL), (PLAIN, DRY), (NO_UPDATES, DRY), (PERMUTED, DRY)}, (
        "what was recomputed needs no other seed"
    )


def test_what_is_not_trained_for_needs_no_run(claim: Any) -> None:
    one = measured(accuracy(claim, metric="number of parameters"))
    assert judged(one, {}) == (NumberControl(ControlStatus.NOT_NEEDED, Source.AS_REPORTED), set())


@pytest.mark.parametrize(
    ("plain", "seed", "why"),
    [
        (failed("the control run failed: exit code 1"), 0, "the control run failed: exit code 1"),
        (ran(None), 0, "did not leave this metric"),
        (ControlRun({"accuracy": 0.91}, None, "it ended early"), 0, "it ended early"),
        (None, 7, "did not leave this metric"),
    ],
    ids=["failed", "another metric", "not observed", "no full run with this seed"],
)
def test_without_the_observed_run_or_one_like_it_there_is_no_control(
    claim: Any, plain: ControlRun | None, seed: int, why: str
) -> None:
    control, asked = judged(measured(accuracy(claim)), runs_with(plain), seed=seed)
    assert (control.status, control.source) == (ControlStatus.IMPOSSIBLE, Source.AS_REPORTED)
    assert why in control.why
    assert asked == {(PLAIN, FULL)}


@pytest.mark.parametrize(
    ("when_observed", "status"),
    [
        (0.94, ControlStatus.PASSED),
        (0.96, ControlStatus.OTHER),
        (0.88, ControlStatus.PASSED),
        (0.86, ControlStatus.OTHER),
    ],
)
def test_the_observed_run_gives_the_number_of_its_seed(
    claim: Any, when_observed: float, status: ControlStatus
) -> None:
    """Within the tolerance of a claim: 5 % of 0.91. The number of that seed, not the mean."""
    one = measured(accuracy(claim), (0.3, 0.91, 0.92))
    plain = ran(when_observed, passes=seen(when_observed))
    control, _ = judged(one, runs_with(plain))
    assert control.status is status
    assert ("0.91 alone" in control.why) is (status is ControlStatus.OTHER)


def test_the_observed_run_may_be_off_by_the_spread_over_seeds(claim: Any) -> None:
    one = measured(accuracy(claim), (0.8, 0.91, 0.92))
    assert one.spread == pytest.approx(0.0666, abs=1e-3)
    near, _ = judged(one, runs_with(ran(0.85, passes=seen(0.85))))
    assert near.status is ControlStatus.PASSED
    far, _ = judged(one, runs_with(ran(0.84, passes=seen(0.84))))
    assert far.status is ControlStatus.OTHER


def test_numbers_of_controls_are_in_the_unit_of_the_claim(claim: Any) -> None:
    stated = accuracy(claim, 91.0, "%")
    control, _ = judged(measured(stated), runs_with(), factor=100.0)
    assert (control.status, control.trained, control.untrained) == (ControlStatus.PASSED, 80, 50)
    assert (control.permuted, control.constant) == (50, 50)
    unchanged, _ = judged(measured(stated), runs_with(), factor=1.0)
    assert unchanged.status is ControlStatus.OTHER


@pytest.mark.parametrize(
    ("metric", "torch", "could"),
    [
        ("test accuracy", True, True),
        ("test accuracy", False, False),
        ("something new", True, False),
        ("something new", False, False),
    ],
)
def test_what_could_have_been_recomputed_is_of_a_known_family_and_made_with_torch(
    claim: Any, metric: str, torch: bool, could: bool
) -> None:
    plain = ran(0.91, torch=torch)
    others = {(OTHER_SEEDS[0], FULL): ran(0.91)}
    control, _ = judged(measured(accuracy(claim, metric=metric)), runs_with(plain, more=others))
    assert control.source is Source.AS_REPORTED
    assert control.should_recompute is could


@pytest.mark.parametrize("sign", ["steps", "by_hand", "updates"])
def test_any_sign_of_a_training_lets_it_be_taken_out(claim: Any, sign: str) -> None:
    nothing = {"steps": 0, "by_hand": 0, "updates": 0, "passes": seen()}
    plain = ran(0.91, **{**nothing, sign: 1})
    assert judged(measured(accuracy(claim)), runs_with(plain))[0].status is ControlStatus.PASSED
    control, asked = judged(measured(accuracy(claim)), runs_with(ran(0.91, **nothing)))
    assert (control.status, control.why) == (ControlStatus.IMPOSSIBLE, NOTHING_TRAINED)
    assert asked == {(PLAIN, FULL)}


def test_steps_that_change_no_parameter_are_no_training(claim: Any) -> None:
    control, asked = judged(
        measured(accuracy(claim)), runs_with(ran(0.91, moved=False, passes=seen()))
    )
    assert (control.status, control.why) == (ControlStatus.UNCHANGED, "9 steps of SGD, Adam")
    assert asked == {(PLAIN, FULL)}


def test_a_number_that_predictions_contradict_needs_no_further_run(claim: Any) -> None:
    control, asked = judged(measured(accuracy(claim)), runs_with(ran(0.91, passes=seen(0.7))))
    assert (control.status, control.source) == (ControlStatus.PASSED, Source.NOT_CONFIRMED)
    assert asked == {(PLAIN, FULL)}


@pytest.mark.parametrize(
    ("constant", "claimed", "as_good"),
    [
        (0.87, 0.91, True),
        (0.86, 0.91, False),
        (0.95, 0.91, True),
        (None, 0.91, False),
        (0.87, 0.94, False),
    ],
)
def test_a_constant_answer_is_compared_with_the_claim(
    claim: Any, constant: float | None, claimed: float, as_good: bool
) -> None:
    """Not with what was measured."""
    one = measured(accuracy(claim, claimed))
    control, _ = judged(one, runs_with(ran(0.91, passes=seen(0.91, constant))))
    assert (control.constant, control.constant_is_as_good) == (constant, as_good)


def test_a_constant_answer_may_be_off_by_the_papers_own_spread(claim: Any) -> None:
    one = measured(accuracy(claim, spread=0.1))
    control, _ = judged(one, runs_with(ran(0.91, passes=seen(0.91, 0.82))))
    assert control.constant_is_as_good


@pytest.mark.parametrize(
    ("no_updates", "status"), [(0.759, ControlStatus.PASSED), (0.761, ControlStatus.SAME)]
)
def test_the_untrained_number_is_compared_with_the_trained_one_of_its_scale(
    claim: Any, no_updates: float, status: ControlStatus
) -> None:
    """5 % below 0.8, which the dry run gives: no difference there is looked at once more in full."""
    full = {(NO_UPDATES, FULL): ran(0.9)}
    control, asked = judged(measured(accuracy(claim)), runs_with(no_updates=no_updates, more=full))
    assert control.status is status
    passed = status is ControlStatus.PASSED
    assert (control.at, control.trained) == ((DRY, 0.8) if passed else (FULL, 0.91))
    assert ((NO_UPDATES, FULL) in asked) is not passed
    assert ((PERMUTED, DRY) in asked) is passed


def test_a_difference_that_shows_in_full_alone_passes(claim: Any) -> None:
    full = {(NO_UPDATES, FULL): ran(0.6)}
    control, _ = judged(measured(accuracy(claim)), runs_with(no_updates=0.8, more=full))
    assert (control.status, control.at) == (ControlStatus.PASSED, FULL)
    assert (control.trained, control.untrained) == (0.91, 0.6)
    assert control.why == "0.5 with labels permuted, 0.8 trained (dry run)", (
        "another scale than that of the updates is stated"
    )


@pytest.mark.parametrize("lost", ["no updates", "plain"])
def test_what_the_dry_run_does_not_leave_is_looked_for_in_full(claim: Any, lost: str) -> None:
    made = runs_with(more={(NO_UPDATES, FULL): ran(0.6), (PERMUTED, FULL): ran(0.55)})
    made[(NO_UPDATES if lost == "no updates" else PLAIN, DRY)] = ran(None)
    control, _ = judged(measured(accuracy(claim)), made)
    assert (control.status, control.at, control.untrained) == (ControlStatus.PASSED, FULL, 0.6)
    assert control.permuted == (0.5 if lost == "no updates" else 0.55)


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (failed("it broke"), "it broke"),
        (ran(None), "did not leave this metric"),
        (ControlRun({"accuracy": 0.5}, None, "unseen"), "unseen"),
    ],
)
def test_where_no_run_without_updates_ends_there_is_no_control(
    claim: Any, run: ControlRun, why: str
) -> None:
    made = runs_with(more={(NO_UPDATES, DRY): run, (NO_UPDATES, FULL): run})
    control, asked = judged(measured(accuracy(claim)), made)
    assert control.status is ControlStatus.IMPOSSIBLE
    assert why in control.why
    assert (PERMUTED, DRY) not in asked


def test_a_run_without_updates_need_permute_nothing(claim: Any) -> None:
    made = runs_with(more={(NO_UPDATES, DRY): ran(0.5, permuted=0)})
    assert judged(measured(accuracy(claim)), made)[0].status is ControlStatus.PASSED


@pytest.mark.parametrize(
    ("metric", "permuted", "status"),
    [
        ("test accuracy", 0.759, ControlStatus.PASSED),
        ("test accuracy", 0.761, ControlStatus.PERMUTED),
        ("something new", 0.761, ControlStatus.PASSED),
    ],
)
def test_a_metric_of_a_known_family_must_fall_with_permuted_labels(
    claim: Any, metric: str, permuted: float, status: ControlStatus
) -> None:
    others: Runs = {(PERMUTED, FULL): ran(0.9), (OTHER_SEEDS[0], FULL): ran(0.91)}
    made = runs_with(permuted=permuted, more=others)
    control, _ = judged(measured(accuracy(claim, metric=metric)), made)
    assert control.status is status
    as_good = permuted > 0.76
    assert control.permuted == (0.9 if as_good else permuted)
    tolerated = as_good and status is ControlStatus.PASSED
    assert ("which a metric of this kind may be" in control.why) is tolerated


def test_labels_that_differ_in_full_alone_pass(claim: Any) -> None:
    made = runs_with(permuted=0.8, more={(PERMUTED, FULL): ran(0.6)})
    control, _ = judged(measured(accuracy(claim)), made)
    assert (control.status, control.permuted) == (ControlStatus.PASSED, 0.6)
    assert control.why == "0.6 with labels permuted, 0.91 trained (full run)"


@pytest.mark.parametrize(
    ("not_permuted", "why"),
    [("no labels were found", "no labels were found"), ("", "no rows of predictions were seen")],
)
def test_labels_that_could_not_be_permuted_refuse_nothing(
    claim: Any, not_permuted: str, why: str
) -> None:
    unseen = ran(0.8, permuted=0, not_permuted=not_permuted)
    made = runs_with(more={(PERMUTED, DRY): unseen, (PERMUTED, FULL): unseen})
    control, _ = judged(measured(accuracy(claim)), made)
    assert control.status is ControlStatus.PASSED
    assert control.why == f"labels were not permuted: {why}"
    assert control.permuted is None


REPORTED = ran(0.91)
"""Without predictions: only the program says the number."""


@pytest.mark.parametrize(("full_runs", "others"), [(2, 3), (3, 1)])
def test_three_full_runs_need_one_other_seed_and_fewer_need_three(
    claim: Any, full_runs: int, others: int
) -> None:
    more = {(mode, FULL): ran(0.90 + 0.01 * at) for at, mode in enumerate(OTHER_SEEDS)}
    one = measured(accuracy(claim), SEEDS[:full_runs])
    control, asked = judged(one, runs_with(REPORTED, more=more))
    assert control.status is ControlStatus.PASSED
    assert control.other_seed == pytest.approx(0.90 + 0.005 * (others - 1))
    assert {mode for mode, _ in asked if mode in OTHER_SEEDS} == set(OTHER_SEEDS[:others])


def test_other_seeds_that_leave_no_metric_say_nothing(claim: Any) -> None:
    none = {(mode, FULL): ran(None) for mode in OTHER_SEEDS}
    control, _ = judged(measured(accuracy(claim)), runs_with(REPORTED, more=none))
    assert (control.status, control.other_seed) == (ControlStatus.PASSED, None)
    one = measured(accuracy(claim), SEEDS[:2])
    some = {**none, (OTHER_SEEDS[1], FULL): ran(0.2)}
    control, _ = judged(one, runs_with(REPORTED, more=some))
    assert (control.status, control.other_seed) == (ControlStatus.SEED, 0.2)


def test_what_was_refused_by_other_controls_needs_no_other_seed(claim: Any) -> None:
    made = runs_with(REPORTED, permuted=0.8, more={(PERMUTED, FULL): ran(0.9)})
    control, asked = judged(measured(accuracy(claim)), made)
    assert control.status is ControlStatus.PERMUTED
    assert not [mode for mode, _ in asked if mode in OTHER_SEEDS]


@pytest.mark.parametrize(
    ("at", "untrained", "status"),
    [
        (FULL, 0.69, ControlStatus.SEED),
        (FULL, 0.66, ControlStatus.PASSED),
        (DRY, 0.69, ControlStatus.PASSED),
    ],
)
def test_other_seeds_must_be_better_than_without_training(
    claim: Any, at: str, untrained: float, status: ControlStatus
) -> None:
    """Full runs differ so much that 0.7 is not surely worse: 0.69 is as good as that. A number of
    the dry run is not compared with one of a full run.
    """
    more: Runs = {
        (PLAIN, DRY): ran(0.95),
        (NO_UPDATES, FULL): ran(untrained),
        (OTHER_SEEDS[0], FULL): ran(0.7),
    }
    made = runs_with(REPORTED, no_updates=0.95 if at == FULL else untrained, more=more)
    control, _ = judged(measured(accuracy(claim), (0.70, 0.91, 0.99)), made)
    assert (control.at, control.status) == (at, status)
    assert control.other_seed == pytest.approx(0.7)


@pytest.mark.parametrize(("other", "status"), [(0.5, "SEED"), (0.9, "PASSED")])
def test_other_seeds_are_compared_in_the_unit_of_the_claim(
    claim: Any, other: float, status: str
) -> None:
    made = runs_with(REPORTED, more={(OTHER_SEEDS[0], FULL): ran(other)})
    control, _ = judged(measured(accuracy(claim, 91.0, "%")), made, factor=100.0)
    assert control.status is ControlStatus[status]
    assert control.other_seed == pytest.approx(100 * other)


@pytest.mark.parametrize(
    ("values", "others", "far"),
    [
        # Student's t of 2 degrees of freedom is 6.965: 0.01 * sqrt(1 / 3 + 1) times that is 0.0804.
        ((0.90, 0.91, 0.92), (0.8297,), False),
        ((0.90, 0.91, 0.92), (0.8294,), True),
        # One full run and two other seeds have one degree of freedom, and differ by nothing.
        ((0.91,), (0.5, 0.5), True),
        ((0.91,), (0.5,), False),
        # Two and two, 0.01 and 0.02 apart: squares 0.00025 over 2, times 6.965, is 0.0779.
        ((0.905, 0.915), (0.8225, 0.8425), False),
        ((0.905, 0.915), (0.8215, 0.8415), True),
    ],
)
def test_both_sides_of_surely_worse(
    claim: Any, values: tuple[float, ...], others: tuple[float, ...], far: bool
) -> None:
    one = replace(measured(accuracy(claim), values, first=0), spread=None)
    assert are_far_worse(one, others) is far


def test_what_is_within_the_spread_over_seeds_is_not_worse(claim: Any) -> None:
    one = measured(accuracy(claim), (0.91, 0.91, 0.91))
    assert are_far_worse(one, [0.85])
    assert not are_far_worse(replace(one, spread=0.07), [0.85])


def test_a_refused_number_is_no_measurement(claim: Any) -> None:
    one = replace(measured(accuracy(claim)), note="As every seed.")
    passed = NumberControl(ControlStatus.PASSED, Source.RECOMPUTED)
    assert judged_by(one, passed) == replace(one, control=passed)
    refused = judged_by(one, NumberControl(ControlStatus.SAME, Source.RECOMPUTED))
    assert (refused.measured, refused.note) == (
        None,
        "Not measured: as good without updates. As every seed.",
    )
    unconfirmed = judged_by(one, NumberControl(ControlStatus.PASSED, Source.NOT_CONFIRMED))
    assert unconfirmed.measured is None
    assert "not confirmed by the predictions of the run" in unconfirmed.note


def test_only_numbers_that_were_measured_get_a_control(claim: Any, context: Any) -> None:
    counted = measured(accuracy(claim, metric="number of parameters"))
    missing = replace(counted, measured=None)
    options = context(scale=0.5)
    run = FullRun(0, True, {"accuracy": 0.9}, "", 1.0, 1.0, 1.0, "", scale=0.5)
    found = controlled([missing, counted], [run], PROJECT, options, None)  # type: ignore[arg-type]
    not_needed = NumberControl(ControlStatus.NOT_NEEDED, Source.AS_REPORTED)
    assert found == (missing, replace(counted, control=not_needed))


@pytest.mark.parametrize(
    "run",
    [
        FullRun(0, False, {}, "it failed", 1.0, 1.0, 1.0, ""),
        FullRun(0, True, {"accuracy": 0.9}, "", 1.0, 1.0, 1.0, "", scale=0.5),
    ],
    ids=["failed", "another scale"],
)
def test_without_a_full_run_that_counts_nothing_is_controlled(
    claim: Any, context: Any, run: FullRun
) -> None:
    counted = measured(accuracy(claim, metric="number of parameters"))
    assert controlled([counted], [run], PROJECT, context(), None) == (counted,)  # type: ignore[arg-type]


def test_other_seeds_are_always_the_same_for_a_project_and_nobody_lists_them() -> None:
    changed = Project({"train.py": "print(2)\n"})
    drawn = {other_seed(one, mode) for one in (PROJECT, changed) for mode in OTHER_SEEDS}
    assert len(drawn) == 6
    assert all(1000 <= seed < 1_001_000 for seed in drawn)
    # As they were drawn at first: else a run that is continued starts its controls afresh.
    assert [other_seed(PROJECT, mode) for mode in OTHER_SEEDS] == [339065, 703694, 459633]
    assert [other_seed(changed, mode) for mode in OTHER_SEEDS] == [566264, 561708, 938870]


@pytest.mark.parametrize(
    ("no_updates", "status"),
    [
        (0.30, ControlStatus.PASSED),
        (0.22, ControlStatus.PASSED),
        (0.205, ControlStatus.SAME),
        (0.10, ControlStatus.SAME),
    ],
)
def test_of_an_error_the_smaller_is_better(
    claim: Any, no_updates: float, status: ControlStatus
) -> None:
    stated = accuracy(claim, 0.2, metric="something lost", higher_is_better=False)
    made: Runs = {
        (PLAIN, FULL): ran(0.2),
        (PLAIN, DRY): ran(0.2),
        (NO_UPDATES, DRY): ran(no_updates),
        (NO_UPDATES, FULL): ran(no_updates),
        (PERMUTED, DRY): ran(0.5),
        (OTHER_SEEDS[0], FULL): ran(0.2),
    }
    control, _ = judged(measured(stated, (0.2, 0.2, 0.2)), made)
    assert control.status is status
