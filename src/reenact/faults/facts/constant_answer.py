"""Whether a finished training came to more than one constant answer: the most frequent class, or the mean."""

import math
from statistics import fmean

from reenact.faults import Evidence, TaskType
from reenact.faults.facts.series import ACCURACIES, finite, guessing, losses, metric
from reenact.probe.outcome import OutcomeKind

FEWEST_STEPS = 100
"""A shorter run may be a smoke test, or not have begun to learn."""
FEWEST_ROWS = 50
"""Fewer evaluated rows tell chance from skill too seldom."""
LARGEST_SHARE = 0.8
"""Beyond this the accuracy of a good model is close to that of a constant, too."""
INTERVAL = 1.64
"""Standard errors, one-sided 95 %."""
SLACK = 0.08
"""Share of the way from the constant to perfection that still counts as none, however few rows
there are.
"""
NO_GAIN = 0.97


def no_gain_over_a_constant(evidence: Evidence) -> str:
    """What a finished training came to, when that is no better than one constant answer; else
    empty.
    """
    ended = evidence.outcome
    finished = evidence.watched.complete if ended is None else ended.kind is OutcomeKind.FINISHED
    if evidence.step_count < FEWEST_STEPS or not finished or evidence.optimizers > 1:
        return ""
    return _at_chance(evidence) or (_at_the_mean(evidence) if evidence.compares else "")


def _at_chance(evidence: Evidence) -> str:
    """What the held-out accuracy was, when it is that of naming one class; else empty."""
    if evidence.task not in (TaskType.BINARY, TaskType.MULTI_CLASS) or evidence.several_outputs:
        return ""
    for split, prefix in (("test", "test_"), ("validation", "val_")):
        scores = metric(
            evidence,
            *(f"{prefix}{name}" for name in ACCURACIES),
        )
        labels = evidence.data("label", split)
        counted = [one.class_counts or () for one in (labels, evidence.labels) if one is not None]
        # Of the most frequent class: in this split, else in the training data.
        share = next(
            (max(counts) / sum(counts) for counts in counted if len(counts) > 1),
            None,
        )
        # Of a row with several labels nobody knows whether its accuracy is that of rows or of
        # labels.
        several = (
            labels is not None and labels.shape[1:2] not in ((), (1,)) and "int" in labels.dtype
        )
        if not scores or share is None or share > LARGEST_SHARE or several:
            continue
        rows = _evaluated_rows(evidence, split)
        second_half = scores[len(scores) // 2 :]
        score = max(scores[-1], fmean(second_half))
        # The best accuracy that chance explains, and that is no more than a little better than a
        # constant.
        error = math.sqrt(share * (1 - share) / max(1, rows))
        above = min(INTERVAL * error, SLACK * (1 - share))
        if rows >= FEWEST_ROWS and score <= share + above:
            seen = f"{prefix}accuracy {scores[-1]:.2f} on about {rows} rows"
            return f"{seen}; always naming the most frequent class gives {share:.2f}"
    return ""


def _evaluated_rows(evidence: Evidence, split: str) -> int:
    """Rows of one evaluation, at least: the probe looks at a few batches of each, and sees them
    again each time; where there are several loaders, the shortest is not longer than the one that
    evaluates.
    """
    seen = [evidence.data(role, split) for role in ("label", "input")]
    rows = max((facts.rows_seen for facts in seen if facts is not None), default=0)
    times = len({event.step for event in evidence.watched.happened("evaluation")})
    loaders = [event.facts.get("rows") for event in evidence.watched.happened("loader")]
    sizes = [size for size in loaders if isinstance(size, int)]
    return max(rows // max(1, times), min(sizes) if len(sizes) > 1 else 0)


def _at_the_mean(evidence: Evidence) -> str:
    """What the squared error came to, when it is that of predicting the mean; else empty."""
    variance = guessing(evidence) if evidence.task is TaskType.REGRESSION else None
    known = losses(evidence)
    if not variance or len(finite(known)) < FEWEST_STEPS:
        return ""
    # Squared errors are skewed: their mean is the figure to compare with a variance, not their
    # median.
    late = fmean(finite(known)[-len(known) // 3 :])
    saw = (
        f"squared error {late:.3g} at the end; predicting the mean of the targets gives "
        f"{variance:.3g}"
    )
    return saw if late >= NO_GAIN * variance else ""
