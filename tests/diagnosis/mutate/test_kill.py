"""Killing over seeds, with a scripted executor in place of trainings."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from reenact.diagnosis.mutate.pipeline import KillOptions, chosen, kill, killed, mutants
from reenact.diagnosis.services import DiagnoseServices
from reenact.errors import InputError
from reenact.faults.evidence import Evidence
from reenact.journal import Journal
from reenact.probe.opened import Opened, OpenedFile
from reenact.probe.outcome import OutcomeKind
from reenact.program.program import program_from_text
from reenact.trials.executor import ScriptedExecutor
from reenact.trials.trial import Outcome, Trial

PROGRAM = program_from_text("""
import keras
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01), loss="mse")
model.fit(x, y, epochs=20, batch_size=32)
""")


def outcome(value: float) -> Outcome:
    return Outcome(
        OutcomeKind.FINISHED,
        steps=10,
        metrics={"val_accuracy": value},
        sources={"val_accuracy": "keras"},
    )


def trained(trial: Trial) -> Outcome:
    """Only a changed learning rate is noticed; one mutant does not even start."""
    text = trial.patched.files[0].text
    if "learning_rate=0.01)" in text:
        return outcome(0.9 + 0.01 * (trial.seed % 3))
    if "learning_rate=10.0)" in text:
        return Outcome(OutcomeKind.CRASHED)
    return outcome(0.4 + 0.01 * (trial.seed % 3))


def test_a_clear_loss_kills_and_noise_does_not() -> None:
    before = (0.90, 0.91, 0.92, 0.90, 0.91)
    assert killed(before, (0.5, 0.52, 0.49, 0.5, 0.51)).killed
    assert not killed(before, (0.90, 0.92, 0.91, 0.91, 0.90)).killed


def test_a_mutant_that_is_better_is_not_killed() -> None:
    answer = killed((0.5, 0.51, 0.52), (0.9, 0.91, 0.92))
    assert answer.p_value < 0.05
    assert not answer.killed


def test_trainings_that_fail_count_as_worse() -> None:
    assert killed((0.9, 0.91, 0.92), (-math.inf, -math.inf, -math.inf)).killed
    assert not killed((-math.inf, -math.inf), (-math.inf, -math.inf)).killed


def test_the_mutants_that_are_noticed(tmp_path: Path) -> None:
    found = list(mutants(PROGRAM, chosen(["learning-rate", "epochs"])))
    with Journal.in_memory() as journal:
        executor = ScriptedExecutor(trained)
        services = DiagnoseServices(journal, tmp_path, executor=lambda: executor)
        killings = kill(PROGRAM, found, KillOptions(seeds=4), services, Evidence(PROGRAM))
    dead = {one.operator for one, answer in killings.by_mutant if answer.killed}
    assert dead == {"learning-rate"}
    assert killings.measure.name == "val_accuracy"
    assert 0 < killings.score < 1
    assert len(executor.ran) == 4 * (len(found) + 1)


def test_trainings_are_reused_only_while_the_files_that_the_program_opens_are_the_same(
    tmp_path: Path,
) -> None:
    found = list(mutants(PROGRAM, chosen(["epochs"])))[:1]
    ran = []
    with Journal.in_memory() as journal:
        for content in ("a", "a", "b"):
            executor = ScriptedExecutor(trained)
            services = DiagnoseServices(
                journal, tmp_path, executor=lambda executor=executor: executor
            )
            opened = Opened((OpenedFile("data.csv", 1, 0, content),), ())
            kill(
                PROGRAM,
                found,
                KillOptions(seeds=2),
                services,
                Evidence(PROGRAM, opened=opened),
            )
            ran.append(len(executor.ran))
    assert ran == [4, 0, 4]


def test_one_seed_is_no_sample(tmp_path: Path) -> None:
    with Journal.in_memory() as journal, pytest.raises(InputError, match="seeds=1"):
        kill(PROGRAM, (), KillOptions(seeds=1), DiagnoseServices(journal, tmp_path))
