"""A crash behind the training and one inside it; a changed program that ends in the same way
has trained.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from reenact.probe.crash import Crash
from reenact.probe.outcome import OutcomeKind
from reenact.program.program import program_from_text
from reenact.trials.ending import as_trained, behind_training
from reenact.trials.trial import Outcome
from reenact.types import Place

TEXT = """import torch
def train(model):
    for rows in data:
        optimizer.step()
def check(model):
    return model.missing
for epoch in range(3):
    train(model)
    check(model)
for name in names:
    plot(name)
check(model)
"""
PROGRAM = program_from_text(TEXT)


def crash(*lines: int, library: str = "") -> Crash:
    """Raised at the last line, called from those before."""
    frames = [f"train.py:{line} in f" for line in lines] + (
        [f"/lib/keras.py:7 in {library}"] if library else []
    )
    source = TEXT.splitlines()[lines[-1] - 1]
    place = Place(PurePosixPath("train.py"), lines[-1], 0)
    return Crash("NameError", "no", place, source, tuple(frames), ("NameError",))


@pytest.mark.parametrize(
    ("raised", "behind"),
    [
        (crash(11), True),
        (crash(12, 6), True),
        (crash(12, library="predict"), True),
        (crash(12, library="fit"), False),
        (crash(9, 6), False),
        (crash(8, 3), False),
    ],
)
def test_a_crash_lies_behind_the_training_when_no_loop_that_trains_holds_it(
    raised: Crash, behind: bool
) -> None:
    assert (behind_training(PROGRAM, raised, 9) is raised) is behind
    assert behind_training(PROGRAM, raised, 0) is None


def test_the_same_end_counts_as_trained_and_another_does_not() -> None:
    ending = crash(11)
    outcome = Outcome(OutcomeKind.CRASHED, steps=9, crash=ending)
    assert not outcome.trained
    assert as_trained(outcome, ending).trained
    assert ending.place is not None
    moved = replace(ending, place=replace(ending.place, line=13))
    assert as_trained(replace(outcome, crash=moved), ending).trained
    others = (
        replace(outcome, crash=replace(ending, type="ValueError")),
        replace(outcome, crash=crash(12)),
        replace(outcome, steps=0),
        replace(outcome, kind=OutcomeKind.TIMEOUT),
    )
    assert not any(as_trained(other, ending).trained for other in others)
    assert as_trained(outcome, None) is outcome
