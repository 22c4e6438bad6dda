"""Trials are known by their content; outcomes survive the journal."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.executor import HEALTHY, patch_setting
from reenact.errors import InputError
from reenact.journal import Journal
from reenact.journal import Kind as StepKind
from reenact.probe.crash import Crash, LayerInput
from reenact.probe.outcome import OutcomeKind
from reenact.program.edit.change import Set
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.program.program import program_from_text
from reenact.program.static_graph import hyperparameters_of
from reenact.trials.trial import Outcome, Trial, TrialLimits
from reenact.types import Place

PROGRAM = program_from_text(HEALTHY)


def test_the_key_is_the_content() -> None:
    trial = Trial(PROGRAM, seed=1)
    assert trial.key == Trial(program_from_text(HEALTHY), seed=1).key
    assert trial.key == replace(trial, keep_trace=True).key
    same = Patch(
        (
            Set(
                next(k.id for k in hyperparameters_of(PROGRAM) if k.kind is Kind.EPOCHS),
                3,
            ),
        )
    )
    assert trial.key == replace(trial, patch=same).key, (
        "a patch that changes nothing is no other training"
    )
    others = [
        replace(trial, seed=2),
        replace(trial, patch=patch_setting(PROGRAM, Kind.EPOCHS, 4)),
        replace(trial, limits=TrialLimits(steps=3)),
        replace(trial, limits=TrialLimits(seconds=3)),
        replace(trial, preset="quick"),
        replace(trial, repeat=1),
        replace(trial, stdin=b"3\n"),
        replace(trial, stdin=b"4\n"),
        replace(trial, program=PROGRAM.with_arguments(["--fast"])),
        replace(trial, program=program_from_text(HEALTHY, name="other.py")),
    ]
    assert len({trial.key, *(other.key for other in others)}) == len(others) + 1


def test_a_patch_that_does_not_fit_has_a_key_too() -> None:
    unfit = patch_setting(PROGRAM, Kind.EPOCHS, 4)
    bare = program_from_text("print('nothing to set')")
    assert Trial(bare, unfit).key not in (Trial(bare).key, Trial(PROGRAM, unfit).key)


@pytest.mark.parametrize("limits", [{"seconds": 0.0}, {"steps": -1}, {"seconds": 5, "steps": 0}])
def test_a_limit_is_larger_than_nothing(limits: dict[str, float]) -> None:
    with pytest.raises(InputError, match="larger than nothing"):
        TrialLimits(**limits)  # type: ignore[arg-type]


def journalled(outcome: Outcome) -> Outcome:
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="test", request={}) as run,
    ):
        return run.step("trial", lambda: outcome, kind=StepKind.TRIAL, returns=Outcome)


@settings(deadline=None)
@given(
    st.dictionaries(st.text(max_size=5), st.floats(allow_nan=False), max_size=3),
    st.lists(st.tuples(st.integers(0, 9), st.floats(allow_nan=False)), max_size=3),
    st.sampled_from(OutcomeKind),
)
def test_outcomes_survive_the_journal(
    metrics: dict[str, float], points: list[tuple[int, float]], kind: OutcomeKind
) -> None:
    crash = Crash(
        "ValueError",
        "bad",
        Place(PurePosixPath("train.py"), 3, 1),
        "f()",
        ("train.py:3 in f",),
        ("ValueError", "Exception"),
        "x.csv",
        "Linear",
        None,
        (LayerInput((2, 3), "float32", "cpu"),),
    )
    outcome = Outcome(
        kind,
        4,
        None,
        metrics,
        {"a": "keras"},
        {"a": tuple(points)},
        1.5,
        1.0,
        crash,
        "note",
        Path("trace"),
    )
    assert journalled(outcome) == outcome


def test_a_number_that_is_none_survives_the_journal() -> None:
    outcome = Outcome(OutcomeKind.FINISHED, 1, metrics={"loss": math.nan})
    assert math.isnan(journalled(outcome).metrics["loss"])


def test_trained_means_at_least_one_step_and_no_accident() -> None:
    assert Outcome(OutcomeKind.STOPPED, 1).trained
    assert not Outcome(OutcomeKind.FINISHED, 0).trained
    assert not Outcome(OutcomeKind.TIMEOUT, 9).trained
