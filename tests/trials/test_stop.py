"""Trainings whose loss is lost are given up on request, and say why."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from contracts.executor import HEALTHY, program_in
from reenact.probe.outcome import OutcomeKind
from reenact.program.program import read_program
from reenact.trials.metric import Measure
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Trial

LOST = HEALTHY.replace("lr=0.05", "lr=1e30").replace("range(3)", "range(50)")


@pytest.mark.parametrize("launcher", [(), ("env", "SOME=1")])
def test_a_loss_that_is_no_number_any_more(
    pool: ProcessPool, tmp_path: Path, warm_interpreter: str, launcher: tuple[str, ...]
) -> None:
    program_in(tmp_path / "p", LOST)
    command = [*launcher, warm_interpreter, "train.py"] if launcher else ["train.py"]
    program = read_program(command, tmp_path / "p")
    given_up, whole = pool.run(
        [Trial(program, seed=1, while_finite=rule) for rule in (True, False)]
    )
    assert given_up.kind is OutcomeKind.STOPPED, given_up
    assert "no finite number" in given_up.stopped
    assert given_up.steps < whole.steps == 200
    assert Measure("test_loss", larger_is_better=False).score(given_up) == -math.inf


def test_a_sound_training_is_as_it_was(pool: ProcessPool, tmp_path: Path) -> None:
    program = program_in(tmp_path / "p", HEALTHY)
    guarded, alone = pool.run([Trial(program, seed=1, while_finite=rule) for rule in (True, False)])
    assert (guarded.kind, guarded.stopped) == (OutcomeKind.FINISHED, "")
    assert guarded.metrics == alone.metrics
    assert Trial(program, while_finite=True).key != Trial(program).key
