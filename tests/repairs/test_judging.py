"""Which number judges."""

from __future__ import annotations

from reenact.probe.outcome import OutcomeKind
from reenact.repairs.verdict import judging_by
from reenact.trials.metric import Measure
from reenact.trials.trial import Outcome, Part

LOSS = Measure("val_loss", "probe", larger_is_better=False, is_loss=True)


def test_a_faulty_training_that_prints_no_number_does_not_say_where_it_stands() -> None:
    """It printed `nan`, which the probe alone made something of; repaired, it prints numbers."""
    faulty = Outcome(OutcomeKind.FINISHED, 9, metrics={"loss": 3.0}, sources={"loss": "output"})
    judge = judging_by(LOSS, faulty).judge
    repaired = Outcome(
        OutcomeKind.FINISHED,
        9,
        metrics={"val_loss": 0.5},
        sources={"val_loss": "output"},
    )
    assert LOSS.read(repaired) is None
    assert judge.read(repaired) == 0.5


def test_a_number_is_read_where_it_was_logged() -> None:
    logged = Outcome(
        OutcomeKind.FINISHED,
        9,
        metrics={"val_loss": 0.5},
        sources={"val_loss": "probe"},
        halved=1,
    )
    judging = judging_by(LOSS, logged)
    assert judging.judge == LOSS
    assert (judging.search_part, judging.judge_part) == (Part.SEARCH, Part.JUDGE)
