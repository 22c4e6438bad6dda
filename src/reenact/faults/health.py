"""Whether a training works, as far as a watched run shows: what a suspicion is worth depends on it.

A program that demonstrably learns is rarely at fault in what would keep it from learning, and one that fails
is at fault in something: what is merely unusual counts there, and not elsewhere."""

from __future__ import annotations

from reenact.faults.confidence import Health
from reenact.faults.evidence import Evidence
from reenact.faults.facts import series
from reenact.faults.facts.measured import first_invalid_loss
from reenact.program.training.loss_families import LossFamily

FAR = 0.6
"""Share of the way from guessing to perfection that nobody comes without learning."""
CLEAR = 0.75
"""The same of the accuracy on validation rows, which are few."""
SOME = 0.4
"""The same, where a training does not fail yet."""
WORSE = -0.05
"""So far behind guessing no loss is by chance."""
LITTLE = 0.1
"""Share of the loss below which it has hardly fallen, where a loss of zero can be reached."""
NOTHING = 0.01
"""The same where nobody knows how far a loss can fall."""


def health_of(evidence: Evidence) -> Health:
    """What is known of the training as a whole."""
    if evidence.trace is None or not (evidence.trace.step_count or evidence.trace.metrics):
        return Health.UNSEEN
    seen = [float(loss) for loss in evidence.trace.losses.values]
    # The loss ran away, or is no number in the end, whoever learns from it.
    last_quarter = seen[-len(seen) // 4 :]
    lost = first_invalid_loss(evidence) is not None and not series.finite(last_quarter)
    if lost or series.runaway(evidence) is not None or series.climbed(evidence):
        return Health.FAILS
    course = series.finite(series.losses(evidence)) or series.metric(evidence, "loss", "train_loss")
    scores = (
        series.accuracy(evidence),
        *series.validation_accuracy(evidence)[-1:],
    )
    known = [score for score in scores if score is not None]
    most = evidence.majority
    # The way from the majority class (0) to perfection (1), on training or validation rows.
    by_accuracy = (
        (max(known) - most) / (1 - most) if known and most is not None and most < 1 else None
    )
    guess = series.guessing(evidence)
    ends = series.windows(course)
    # The share of the loss of a constant answer that is gone in the end.
    by_loss = 1 - ends[-1] / guess if guess and ends else None
    behind = by_loss is not None and by_loss < WORSE and (by_accuracy or 0.0) <= SOME
    if not behind and (
        series.learned(evidence) or (by_accuracy or 0.0) > CLEAR or (by_loss or 0.0) > FAR
    ):
        return Health.WORKS
    silent = (
        series.hardly_begun(evidence) or evidence.optimizers > 1 or evidence.acts or evidence.copies
    )
    if silent or (by_accuracy or 0.0) > SOME:
        return Health.UNCLEAR
    if _stands_still(evidence, course, by_loss):
        return Health.FAILS
    return Health.UNCLEAR


def _stands_still(
    evidence: Evidence,
    course: list[float],
    by_loss: float | None,
) -> bool:
    """Whether the loss is no better than that of a constant answer, or hardly fell."""
    ends = series.windows(course)
    if len(course) < series.FEW_STEPS:
        spread = max(ends, default=0.0) - min(ends, default=0.0)
        return len(ends) > 1 and spread <= 1e-6 * abs(ends[0])
    if not ends or not ends[0]:
        return False
    fell = (ends[0] - ends[-1]) / abs(ends[0])
    if by_loss is not None:
        return by_loss < WORSE or max(by_loss, fell) < LITTLE
    loss = evidence.loss
    tried = evidence.experiments.one_batch
    by_hand = (
        loss is None or loss.settings.get("by_hand") or loss.settings.get("reduction") == "sum"
    )
    # A loss of zero can be reached, as far as its name says; or the loss does not fall on one batch
    # over and over either, which every loss of a target can.
    to_zero = not by_hand and evidence.loss_family not in (None, LossFamily.OTHER)
    alone: list[float] = []
    if tried is not None and evidence.compares:
        alone = series.windows(list(tried.losses))
    fallen = alone[0] - min(alone) if alone else 0.0
    kept = bool(alone) and alone[0] > 0 and fallen < LITTLE * alone[0]
    return fell < (LITTLE if to_zero or kept else NOTHING)
