"""RE031 no-better-than-a-constant

What
    At the end of a finished training the accuracy on held-out data is that of always naming the most
    frequent class, or the squared error is the variance of the targets.
Why
    Whatever the loss did, what was learned does not help on the data that counts: labels that do not
    belong to their rows, a target that is compared in the wrong shape, an evaluation that prepares its
    inputs differently.
Symptom
    Validation accuracy stays at one in so many classes, or the regression predicts the mean.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(spread=2.0))
    x = x[torch.randperm(300)]
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(8):
        for rows in torch.randperm(200).split(16):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
        with torch.no_grad():
            print("val_accuracy", (model(x[200:]).argmax(1) == y[200:]).float().mean().item())
Instead
    - x = x[torch.randperm(300)]
Fix safety
    There is nothing to change here: look for what separates inputs from their labels.
Sources
    Karpathy, "A Recipe for Training Neural Networks", 2019 (input-independent baseline); Wilson,
    "Probable Inference, the Law of Succession, and Statistical Inference", 1927 (intervals of a share).
"""

import math
from statistics import fmean

from reenact.probe.outcome import OutcomeKind
from reenact.rules import Evidence, Findings, Needs, Rule, Severity, TaskType
from reenact.rules.own._series import ACCURACIES, finite, guessing, losses, metric

FEWEST_STEPS = 100
"""A shorter run may be a smoke test, or not have begun to learn."""
FEWEST_ROWS = 50
"""Fewer evaluated rows tell chance from skill too seldom."""
LARGEST_SHARE = 0.8
"""Beyond this the accuracy of a good model is close to that of a constant, too."""
INTERVAL = 1.64
"""Standard errors, one-sided 95 %."""
SLACK = 0.08
"""Share of the way from the constant to perfection that still counts as none, however few rows there are."""
NO_GAIN = 0.97


class NoBetterThanAConstant(Rule):
    code, name, family, fault = "RE031", "no-better-than-a-constant", "reenact", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.8
    why = "A model that uses its inputs does better than one constant answer."

    def check(self, evidence: Evidence) -> Findings:
        saw = no_better_than_a_constant(evidence)
        if saw:
            yield self.finding(evidence, saw)


def no_better_than_a_constant(evidence: Evidence) -> str:
    """What a finished training came to, when that is no better than one constant answer; else empty."""
    ended = evidence.outcome
    finished = evidence.watched.complete if ended is None else ended.kind is OutcomeKind.FINISHED
    if evidence.watched.step_count < FEWEST_STEPS or not finished or evidence.optimizers > 1:
        return ""
    return _at_chance(evidence) or (_at_the_mean(evidence) if evidence.compares else "")


def _at_chance(evidence: Evidence) -> str:
    """What the held-out accuracy was, when it is that of naming one class; else empty."""
    if evidence.task not in (TaskType.BINARY, TaskType.MULTI_CLASS) or evidence.several_outputs:
        return ""
    for split, prefix in (("test", "test_"), ("validation", "val_")):
        scores = metric(evidence, *(f"{prefix}{name}" for name in ACCURACIES))
        labels = evidence.data("label", split)
        counted = [one.class_counts or () for one in (labels, evidence.labels) if one is not None]
        # Of the most frequent class: in this split, else in the training data.
        share = next((max(counts) / sum(counts) for counts in counted if len(counts) > 1), None)
        # Of a row with several labels nobody knows whether its accuracy is that of rows or of labels.
        several = labels is not None and labels.shape[1:2] not in ((), (1,)) and "int" in labels.dtype
        if not scores or share is None or share > LARGEST_SHARE or several:
            continue
        rows = _evaluated_rows(evidence, split)
        score = max(scores[-1], fmean(scores[len(scores) // 2 :]))
        # The best accuracy that chance explains, and that is no more than a little better than a constant.
        error = math.sqrt(share * (1 - share) / max(1, rows))
        if rows >= FEWEST_ROWS and score <= share + min(INTERVAL * error, SLACK * (1 - share)):
            seen = f"{prefix}accuracy {scores[-1]:.2f} on about {rows} rows"
            return f"{seen}; always naming the most frequent class gives {share:.2f}"
    return ""


def _evaluated_rows(evidence: Evidence, split: str) -> int:
    """Rows of one evaluation, at least: the probe looks at a few batches of each, and sees them again each
    time; where there are several loaders, the shortest is not longer than the one that evaluates."""
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
    # Squared errors are skewed: their mean is the figure to compare with a variance, not their median.
    late = fmean(finite(known)[-len(known) // 3 :])
    saw = f"squared error {late:.3g} at the end; predicting the mean of the targets gives {variance:.3g}"
    return saw if late >= NO_GAIN * variance else ""
