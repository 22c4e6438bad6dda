"""Seconds a training by each way: what was measured is not measured again, what is missing is
named.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.speed.card import scorecard
from benchmarks.speed.measure import LOOP, OPTUNA, POOL, TUNE_WARM, measure
from benchmarks.speed.ways import Case, Timed, other, ours, plain_loop
from reenact.errors import Inconclusive, Stopped
from reenact.trials.pool import ProcessPool
from reenact.types import ExitCode, Stop, tell_nobody


def test_ratios_are_geometric_means_of_what_has_both() -> None:
    slow, quick = Timed(16, 0.0, 64.0), Timed(16, 8.0, 16.0)
    found = {
        "torch, 1 s": {POOL: quick, LOOP: slow, TUNE_WARM: Timed(16, 9.0, 32.0)},
        "torch, 10 s": {POOL: quick, LOOP: quick, TUNE_WARM: Timed(16, 9.0, 128.0)},
    }
    card = scorecard(found, 2)
    assert [(goal.reached, goal.met) for goal in card.goals] == [
        ("4.0x", True),
        ("4.0x", True),
    ]
    assert card.exit_code is ExitCode.OK
    assert card.tables[0].rows[0] == ("torch, 1 s", "1.00", "4.00", "2.00")
    assert card.tables[1].rows[0] == ("torch, 1 s", "1.50", "4.00", "2.56")
    assert card.tables[3].rows[0] == ("torch, 1 s", "3.00", "4.0x", "2.7x")
    missing = scorecard({"torch, 1 s": {POOL: quick}}, 2)
    assert [goal.met for goal in missing.goals] == [None, None]
    assert missing.exit_code is ExitCode.INCONCLUSIVE


def test_trials_differ_in_seed_and_structure() -> None:
    lines = Case("torch", 1.0, 100).lines(15)
    assert len({tuple(line[5:]) for line in lines}) == 15
    assert {line[0] for line in lines} == {"train_torch.py"}


@pytest.mark.slow
def test_the_ways_train_and_a_stop_ends_them() -> None:
    case = Case("torch", 0.1, 25)
    for way in (plain_loop, ours(ProcessPool), other("optuna")):
        timed = way(case, 2, 2, Stop())
        assert timed is not None
        assert timed.trials == 2
        assert 0 < timed.each <= timed.cold
    stop = Stop()
    stop.ask()
    for way in (plain_loop, ours(ProcessPool)):
        with pytest.raises(Stopped):
            way(case, 1, 1, stop)


def test_what_was_measured_is_kept_by_case(tmp_path: Path) -> None:
    kept = tmp_path / "cases.json"
    known = {
        "how": {"trials": 2, "workers": 1},
        "steps": {"torch, 1 s": 10},
        f"torch, 1 s / {POOL}": {"trials": 2, "start_s": 1.0, "seconds": 2.0},
        f"torch, 1 s / {OPTUNA}": None,
    }
    kept.write_text(json.dumps(known), encoding="utf-8")
    stop = Stop()
    stop.ask()
    card = measure(
        tell=tell_nobody,
        stop=stop,
        kept=kept,
        trials=2,
        workers=1,
        lengths=(1.0,),
        frameworks=("torch",),
    )
    assert card.tables[0].rows == (("torch, 1 s", "1.00", *"-----"),)
    with pytest.raises(Inconclusive, match="other numbers"):
        measure(tell=tell_nobody, stop=stop, kept=kept, trials=3, workers=1)


def test_ways_that_are_not_installed_are_named_and_stand_as_dashes() -> None:
    card = scorecard({"torch, 1 s": {POOL: Timed(2, 1.0, 2.0)}}, 2, [POOL, "our Ray"])
    assert card.tables[0].columns == ("training", POOL, "our Ray")
    assert card.tables[0].rows[0][-1] == "-"
    assert card.figures.endswith("(not installed, or stopped before): our Ray")
