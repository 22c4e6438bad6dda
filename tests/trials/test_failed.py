"""Why a training has no value of the metric: an exception, a number that is none, a metric not logged."""

from __future__ import annotations

import math
from pathlib import PurePosixPath

import pytest

from reenact.probe.crash import Crash
from reenact.probe.outcome import OutcomeKind
from reenact.trials.failed import why_failed
from reenact.trials.metric import Measure
from reenact.trials.trial import Outcome
from reenact.types import Place

MEASURE = Measure("val_loss", "keras", larger_is_better=False)
CRASH = Crash("ValueError", "shapes differ.", Place(PurePosixPath("train.py"), 20), "", ())


def trained(**metrics: float) -> Outcome:
    return Outcome(
        OutcomeKind.FINISHED, 9, metrics=metrics, sources=dict.fromkeys(metrics, "keras")
    )


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (trained(val_loss=0.5), ""),
        (trained(val_loss=math.nan), "it trains, and its val_loss is nan"),
        (trained(val_loss=math.inf), "it trains, and its val_loss is inf"),
        (trained(loss=0.5), "it logs no val_loss (it logs loss; --metric NAME chooses)"),
        (
            Outcome(OutcomeKind.CRASHED, crash=CRASH),
            "it ends before its first step with ValueError at train.py:20",
        ),
        (Outcome(OutcomeKind.CRASHED, 30, crash=CRASH), "after 30 steps with ValueError"),
        (Outcome(OutcomeKind.TIMEOUT, 30, seconds=60), "within 60 s; --training-time"),
    ],
)
def test_the_answer_has_why_a_training_failed(outcome: Outcome, words: str) -> None:
    why = why_failed(outcome, MEASURE)
    assert words in why
    assert bool(why) is bool(words)
