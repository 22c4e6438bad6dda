"""Arithmetic over a trace that several rules share: losses, epochs, accuracy, what guessing would score."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from reenact.faults import Evidence, LossFamily, TaskType

ACCURACIES = (
    "accuracy",
    "acc",
    "sparse_categorical_accuracy",
    "categorical_accuracy",
    "binary_accuracy",
)
WINDOWS = 12
ABSURD = 1e12
"""No loss of a working training is this far from zero, whatever plays against what."""
TOO_LARGE = 1e150
"""From here on a square is infinite, also in double precision."""
TIMES = 1e6
"""How much farther from zero than at the start a loss of one optimizer has run away."""
FEWEST_LOSSES = 10
CLIMBED = 3.0
"""How many times the loss of a constant answer, and the first loss, a training ends at that has
diverged.
"""
FEW_STEPS = 30
"""Below this one epoch shows nothing."""


def losses(evidence: Evidence) -> list[float]:
    """The loss of every step in order, with NaN and infinity; empty when several optimisers
    take turns.
    """
    return [loss for _, loss in _steps_with_loss(evidence)]


def _steps_with_loss(evidence: Evidence) -> list[tuple[float, float]]:
    """Epoch and loss of every step whose loss was seen."""
    trace = evidence.trace
    if trace is None or evidence.optimizers > 1:
        return []
    # A loss that was not seen is NaN in the trace as well: that of a step without a backward pass.
    unseen = trace.steps["backward_calls"] == 0
    epochs = trace.steps["epoch"].tolist()
    return [
        (epoch, float(loss))
        for epoch, loss, without in zip(epochs, trace.losses.values, unseen, strict=True)
        if not (without and math.isnan(loss))
    ]


def finite(values: list[float]) -> list[float]:
    """What a mean and a spread can be computed of."""
    return [value for value in values if abs(value) < TOO_LARGE]


def windows(values: list[float], count: int = WINDOWS) -> list[float]:
    """Medians of so many equal parts, in order; fewer when there are not enough values for two
    a part.
    """
    known = finite(values)
    parts = min(count, len(known) // 2)
    if parts < 2:
        return known
    size = len(known) / parts
    bounds = [round(size * part) for part in range(parts + 1)]
    return [median(known[begin:end]) for begin, end in pairwise(bounds)]


def clip_factors(evidence: Evidence) -> list[tuple[float, float]]:
    """The norm of each gradient that was clipped, and how many times it is its limit. One that is
    infinite or NaN is beyond every limit, whatever that is.
    """
    steps = evidence.watched.steps
    norms = steps["clip_norm"].tolist()
    limits = steps["clip_limit"].tolist()
    factors: list[tuple[float, float]] = []
    for norm, limit in zip(norms, limits, strict=True):
        if math.isfinite(norm) and limit > 0:
            factors.append((norm, norm / limit))
    return factors


def reached(values: Sequence[float]) -> float:
    """What a short training came to: the median of its last quarter, infinity where it broke."""
    if all(map(math.isfinite, values)):
        return median(values[-max(1, len(values) // 4) :])
    return math.inf


def epoch_losses(evidence: Evidence) -> list[float]:
    """Mean loss of every epoch; parts of the run where there is no sign of epochs."""
    by_epoch: dict[float, list[float]] = {}
    for epoch, loss in _steps_with_loss(evidence):
        if epoch >= 0 and math.isfinite(loss):
            by_epoch.setdefault(epoch, []).append(loss)
    if len(by_epoch) < 2:
        return windows(losses(evidence))
    return [sum(found) / len(found) for _, found in sorted(by_epoch.items())]


def hardly_begun(evidence: Evidence) -> bool:
    """Whether each row was seen once at most, in so few steps that nothing need have happened."""
    steps = evidence.trace.steps if evidence.trace is not None else None
    epochs = (
        {float(epoch) for epoch in steps["epoch"]} if steps is not None and len(steps) else set()
    )
    return epochs == {0.0} and steps is not None and len(steps) < FEW_STEPS


def metric(evidence: Evidence, *names: str) -> list[float]:
    """The values of the first of these metrics that there is."""
    reported = (
        [evidence.trace.metric(name).values for name in names] if evidence.trace is not None else []
    )
    return next(
        filter(
            None,
            (finite([float(value) for value in values]) for values in reported),
        ),
        [],
    )


def validation_accuracy(evidence: Evidence) -> list[float]:
    return metric(
        evidence,
        *(f"val_{name}" for name in ACCURACIES),
    )


def accuracy(evidence: Evidence) -> float | None:
    """Accuracy on the training data near the end: as reported, else of the last batches."""
    reported = metric(evidence, *ACCURACIES)
    if reported:
        return reported[-1]
    if evidence.trace is None or evidence.task is TaskType.REGRESSION:
        return None
    seen = finite([float(value) for value in evidence.trace.steps["accuracy"]])
    if not seen:
        return None
    last = seen[-10:]
    return sum(last) / len(last)


def guessing(evidence: Evidence) -> float | None:
    """The loss of the best answer that never looks at the inputs: class shares, or the mean
    target.
    """
    labels = evidence.labels
    loss = evidence.loss
    if (
        labels is None
        or loss is None
        or loss.settings.get("reduction") == "sum"
        or evidence.several_outputs
    ):
        return None
    fits = (event.facts.get("weighted") for event in evidence.happened("fit"))
    if loss.settings.get("weight") or loss.settings.get("pos_weight") or any(fits):
        # Where classes or rows count differently, what guessing scores is not known.
        return None
    counts = labels.class_counts or ()
    shares = [count / sum(counts) for count in counts if count] if sum(counts) else []
    smooth = loss.settings.get("label_smoothing")
    if isinstance(smooth, float) and shares:
        shares = [(1 - smooth) * share + smooth / len(shares) for share in shares]
    family = evidence.loss_family
    binary = evidence.task is TaskType.BINARY
    classes = binary or evidence.task is TaskType.MULTI_CLASS
    one_of = family is LossFamily.CATEGORICAL and classes and len(shares) > 1
    if one_of or (family is LossFamily.BINARY and binary and len(shares) == 2):
        return -sum(share * math.log(share) for share in shares)
    if loss.name in ("mse", "mean_squared_error"):
        if labels.one_hot and shares:
            return sum(share * (1 - share) for share in shares) / len(shares)
        return labels.std * labels.std if labels.std else None
    return None


def climbed(evidence: Evidence) -> bool:
    """Whether the loss ends far above where it began and above a constant answer, whatever the
    accuracy is: steps that are too large still find the side of a boundary that most rows lie on.
    """
    known = finite(losses(evidence))
    guess = guessing(evidence)
    if guess is None or len(known) < FEWEST_LOSSES:
        return False
    return windows(known)[-1] > CLIMBED * max(guess, known[0])


def learned(evidence: Evidence) -> bool:
    """Whether training clearly worked: accuracy far above guessing, or most of the loss gone."""
    if climbed(evidence):
        return False
    score = accuracy(evidence)
    guess = evidence.majority
    if score is not None and guess is not None:
        return score > guess + 0.6 * (1 - guess)
    known = windows(losses(evidence))
    spread = guessing(evidence) if evidence.task is TaskType.REGRESSION else None
    return len(known) > 1 and known[-1] < 0.3 * min(known[0], spread or known[0])


def runaway(evidence: Evidence) -> tuple[float, float] | None:
    """First and last finite loss, when the last is farther from zero than any sensible bound;
    else none.
    """
    if evidence.trace is None:
        return None
    seen = finite([float(loss) for loss in evidence.trace.losses.values])
    known = seen or metric(evidence, "loss", "train_loss")
    if len(known) < FEWEST_LOSSES:
        return None
    # Two optimizers play against each other, and their losses are of different sizes.
    far = ABSURD if evidence.optimizers > 1 else min(ABSURD, TIMES * max(1.0, abs(known[0])))
    if abs(known[-1]) > far:
        return (known[0], known[-1])
    return None
