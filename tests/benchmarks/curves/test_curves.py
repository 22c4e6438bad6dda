"""Kept learning curves, and the rule replayed on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.curves.card import scorecard
from benchmarks.curves.kept import (
    POINTS,
    KeptChange,
    KeptStart,
    KeptTraining,
    append,
    pack_curves,
    read_kept,
    thinned,
)
from benchmarks.curves.plan import groups, half_of, starts_of
from benchmarks.curves.replay import Rule, is_winner, replay

pytestmark = pytest.mark.release


def training(values: list[float], seed: int = 11) -> KeptTraining:
    """One whose metric took these values, once in ten steps."""
    curve = tuple((10 * number, value) for number, value in enumerate(values, start=1))
    return KeptTraining(seed, 10 * len(values), 2.0, values[-1], curve, ())


def change(name: str, *curves: list[float]) -> KeptChange:
    return KeptChange(name, 1.0, False, tuple(training(values) for values in curves))


BASE = [0.3, 0.4, 0.5, 0.55, 0.6, 0.62, 0.64, 0.65, 0.66, 0.66]
BETTER = [0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.9, 0.9]
STUCK = [0.1] * 10
START = KeptStart(
    "p/learning-rate",
    "p",
    "val_accuracy",
    True,
    "val_accuracy",
    True,
    (training(BASE, 11), training(BASE, 12), training(BASE, 13)),
    (
        change("better", BETTER, BETTER),
        change("stuck", STUCK, STUCK),
        change("once", BETTER, STUCK),
    ),
)


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    append(tmp_path / "curves.jsonl", [START])
    append(tmp_path / "curves.jsonl", [replace(START, name="q")])
    kept = read_kept(tmp_path / "curves.jsonl")
    assert kept == [START, replace(START, name="q")]
    pack_curves(kept, tmp_path / "curves.jsonl.gz")
    assert read_kept(tmp_path / "curves.jsonl.gz") == kept
    assert read_kept(tmp_path / "nothing.jsonl") == []


def test_a_long_curve_is_thinned_and_keeps_its_end() -> None:
    points = thinned((step, step / 7) for step in range(1, 1001))
    assert len(points) <= POINTS
    assert points[-1] == (1000, 142.9)
    assert thinned([(5, 1.0), (5, 3.0)]) == ((5, 2.0),)


def test_a_winner_is_better_with_every_seed() -> None:
    assert [is_winner(START, one) for one in START.changes] == [True, False, False]
    assert not is_winner(
        START,
        KeptChange("failed", 1.0, False, (replace(training(BETTER), score=None),)),
    )


def test_the_rule_ends_what_is_stuck_and_spares_winners() -> None:
    better, stuck, once = replay([START], Rule())
    assert (better.ended, better.lost) == ((None, None), False)
    assert all(share is not None and share < 0.5 for share in stuck.ended)
    assert stuck.saved > 0.5 * stuck.cpu_seconds
    assert once.ended[0] is None
    assert once.ended[1] is not None
    assert not once.lost


def test_a_program_that_failed_has_nothing_to_compare_with() -> None:
    failed = replace(START, base=tuple(replace(one, score=None) for one in START.base))
    assert all(share is None for one in replay([failed], Rule()) for share in one.ended)


def test_the_card_counts_winners_and_names_what_is_missing() -> None:
    card = scorecard([START])
    assert card.measured["lost"].whole == 1
    assert card.measured["lost"].part == 0
    assert card.goals[0].met is False


def test_the_programs_are_halved_by_their_groups(tmp_path: Path) -> None:
    names = groups()
    assert len(names) == len(set(names)) > 80
    assert {half_of(name) for name in names} == {"tune", "confirm"}
    (fault,) = starts_of("D1", tmp_path)
    faulty = starts_of("base-torch_moons", tmp_path)
    assert fault.changes
    assert {one.group for one in faulty} == {"base-torch_moons"}
    assert all(one.changes and one.program.files for one in faulty)
