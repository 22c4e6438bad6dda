"""What short looks and early ends save: training time and decisions beside those of whole
trainings.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.speed.parts import (
    INSTALLED,
    PRUNED,
    WHOLE,
    Counted,
    Repaired,
    all_whole,
    scorecard,
)
from contracts.executor import HEALTHY, program_in
from reenact.probe.outcome import OutcomeKind
from reenact.trials import verify
from reenact.trials.executor import ScriptedExecutor
from reenact.trials.trial import Outcome, Trial


def test_whole_trainings_do_not_end_early_and_all_are_counted(tmp_path: Path) -> None:
    trainer = ScriptedExecutor(lambda trial: Outcome(OutcomeKind.FINISHED, cpu_seconds=2.0))
    program = program_in(tmp_path, HEALTHY)
    asked = [Trial(program, seed=seed, while_finite=True) for seed in range(3)]
    counted, reported = Counted(trainer, whole=True), []
    counted.run(asked, on=lambda trial, _: reported.append(trial))
    assert reported == asked
    assert [one.while_finite for one in trainer.ran] == [False] * 3
    assert counted.cpu_seconds == 6.0


def test_whole_trainings_have_no_first_look() -> None:
    before = verify.FIRST_LOOK
    with all_whole():
        assert 10 * before < verify.FIRST_LOOK
    assert before == verify.FIRST_LOOK


def test_time_is_a_geometric_mean_and_decisions_are_compared() -> None:
    def row(installed: float, pruned: float, decision: str) -> dict[str, Repaired]:
        return {
            WHOLE: Repaired("repaired", "1", 100.0),
            INSTALLED: Repaired("improved", "1", installed),
            PRUNED: Repaired(decision, "1", pruned),
        }

    card = scorecard(
        {"D1": row(40.0, 20.0, "repaired"), "D2": row(90.0, 20.0, "nothing-found")},
        {"D3": "x"},
    )
    assert [(goal.reached, goal.met) for goal in card.goals] == [
        ("0.60", False),
        ("2 of 2", True),
        ("0.20", True),
        ("1 of 2", False),
    ]
    assert card.tables[1].rows == (("D3", "x"),)
