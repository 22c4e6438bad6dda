"""The features of AutoTrainer's monitor, with the thresholds it publishes; and its order of judgement.

A regression has no accuracy. There the share of the first loss that is gone stands for it: 0 at the start, 1
when nothing is left, so that all thresholds keep their place between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reenact.faults import (
    Detector,
    Evidence,
    FaultType,
    Finding,
    Kind,
    LossFamily,
    Suggestion,
    TaskType,
)
from reenact.faults.facts.measured import (
    accuracies,
    among,
    epochs_of,
    first_invalid_loss,
    kernel_rows,
    parameter_rows,
)
from reenact.program.patch import Patch, change_for

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SMALLEST_RATIO = 1e-3
SMALLEST_NORM = 1e-4
LARGEST_RATIO = 70.0
"""Beta 1, 2 and 3: gradient of the first kernel beside that of the last."""
DEAD_SHARE = 0.7
SWING = 0.03
SWINGS = 0.2
GAIN = 0.01
TARGET = 0.6
"""Gamma, zeta, eta, delta and Theta."""
GOOD = 0.8
"""An accuracy from which on small gains are all that is left; ours."""
LARGEST_LOSS = 1e3
CLASSES = (TaskType.BINARY, TaskType.MULTI_CLASS, TaskType.MULTI_LABEL)
UNSURE = 0.4
"""Confidence in the first of two repairs."""
GAP = 3
"""Epochs between two checks: fewer are not judged."""
EVEN = ("adam", "adamw", "nadam", "adamax", "radam")
"""Optimisers that the first repair of slow or restless training would bring."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Accuracy by epoch, or what stands for it."""

    train: NDArray[np.float64]
    held_out: NDArray[np.float64]
    name: str

    @property
    def reached(self) -> bool:
        """It came to the target, or too few epochs were seen to say."""
        return len(self.train) < GAP or max(self.train.max(), *self.held_out, -1.0) >= TARGET

    @property
    def slow(self) -> bool:
        """No epoch brought a gain that is worth the name, and none was good."""
        if len(self.train) < GAP or self.train.max() >= GOOD:
            return False
        return not any(
            (series[1:] - series[:-1] >= GAIN).any() for series in (self.train, self.held_out)
        )

    @property
    def drops(self) -> int:
        """How often it fell from a peak to the valley behind by a swing or more."""
        count = 0
        peak = float("-inf")
        low = float("inf")
        for value in (*self.train.tolist(), float("inf")):
            if value > low:
                count += peak - low >= SWING
                peak = value
            peak = max(peak, value)
            low = value
        return count

    @property
    def restless(self) -> bool:
        return len(self.train) >= GAP and self.drops >= max(2.0, SWINGS * len(self.train))


def progress(evidence: Evidence) -> Progress:
    """How far the training came, epoch by epoch; empty when nothing tells."""
    import numpy as np

    train = accuracies(evidence)
    unknown = (
        evidence.task is TaskType.UNKNOWN and evidence.loss_family is not LossFamily.REGRESSION
    )
    if len(train) and (unknown or evidence.task in CLASSES):
        return Progress(train, accuracies(evidence, "val_"), "accuracy")
    known = evidence.trace.losses.known.values if evidence.trace is not None else np.empty(0)
    first = float(known[0]) if len(known) else 0.0
    if not np.isfinite(first) or first <= 0:
        return Progress(np.empty(0), np.empty(0), "loss")
    gone = 1 - epochs_of(evidence, "loss") / first
    return Progress(gone, np.empty(0), "share of the first loss gone")


def lost(evidence: Evidence) -> tuple[str, int] | None:
    """What is NaN, infinite or beyond all bounds, and since when."""
    trace = evidence.watched
    step = first_invalid_loss(evidence)
    if step is not None:
        return "the loss is NaN or infinite", step
    for what, column in (
        ("weights", "weight_bad_share"),
        ("gradients", "grad_bad_share"),
    ):
        bad = trace.parameters[column] > 0
        if bad.any():
            return f"{what} are NaN or infinite", int(trace.parameters["step"][bad.argmax()])
    classes = evidence.loss_family in (LossFamily.CATEGORICAL, LossFamily.BINARY)
    huge = trace.losses.values >= LARGEST_LOSS
    if classes and huge.any():
        return f"the loss reaches {trace.losses.values[huge][0]:.4g}", int(
            trace.losses.steps[huge.argmax()]
        )
    return None


def gradient_ends(evidence: Evidence) -> tuple[float, float] | None:
    """Norms of the gradients of the first and the last kernel: medians over the later half of
    the steps.
    """
    import numpy as np

    layers = [layer for layer in evidence.weighted if layer.family != "embedding"]
    rows = [kernel_rows(evidence, layer) for layer in layers]
    norms = [one["grad_norm"][len(one) // 2 :] for one in rows if len(one)]
    if len(norms) < 2:
        return None
    first = norms[0]
    last = norms[-1]
    if not (np.isfinite(first).all() and np.isfinite(last).all()):
        return None
    return float(np.median(first)), float(np.median(last))


def zero_gradients(evidence: Evidence) -> float | None:
    """The share of weights whose gradient is exactly zero, over the later half of the steps;
    embeddings, whose gradient is mostly zero by nature, do not count.
    """
    import numpy as np

    zero = weights = 0.0
    for layer in evidence.weighted:
        for facts in layer.weights if layer.family != "embedding" else ():
            rows = parameter_rows(evidence.watched, facts.path or facts.name)
            share = (
                float(np.median(rows["grad_zero_share"][len(rows) // 2 :])) if len(rows) else np.nan
            )
            if share == share:
                size = float(np.prod(facts.shape))
                zero = zero + share * size
                weights = weights + size
    return zero / weights if weights else None


def gradient_trouble(evidence: Evidence) -> str | None:
    """The one of the three gradient problems that comes first in the order of judgement: dying,
    exploding or vanishing; none for a training that gets on.
    """
    so_far = progress(evidence)
    if lost(evidence) is not None or (so_far.reached and not so_far.slow):
        return None
    share = zero_gradients(evidence)
    ends = gradient_ends(evidence)
    relu = any(one.activation == "relu" for one in evidence.weighted)
    if relu and share is not None and share >= DEAD_SHARE:
        return "dying"
    if ends is not None and ends[0] > LARGEST_RATIO * ends[1]:
        return "exploding"
    if ends is not None and ends[0] < SMALLEST_RATIO * ends[1] and ends[0] < SMALLEST_NORM:
        return "vanishing"
    return None


def is_hopeless(evidence: Evidence) -> bool:
    """Whether a training has lost its numbers or its gradients: then nothing else is judged."""
    return lost(evidence) is not None or gradient_trouble(evidence) is not None


def has_even_steps(evidence: Evidence) -> bool:
    """Whether the optimizer is the one that the first repair would bring."""
    return evidence.optimizer is not None and evidence.optimizer.name.lower() in EVEN


def other_optimizer_first(
    detector: Detector,
    evidence: Evidence,
    saw: str,
    names: tuple[str, ...],
) -> Finding:
    """The first repair of slow or restless training: another optimizer."""
    values = among(evidence, Kind.OPTIMIZER, names)
    return detector.finding(
        evidence,
        saw,
        kind=Kind.OPTIMIZER,
        values=values,
        study=FaultType.OCH,
        confidence=UNSURE,
    )


def everywhere(evidence: Evidence, *wanted: str) -> tuple[Suggestion, ...]:
    """One activation for all hidden layers, for each one wanted, as the tool's repairs do it."""
    kind = Kind.ACTIVATION
    hidden = [layer for layer in evidence.weighted if layer.role == "hidden"]
    written = [(layer, evidence.hyperparameter(kind, layer)) for layer in hidden]
    params = [(layer, param) for layer, param in written if param is not None and param.changeable]
    found = []
    for name in wanted:
        changes = dict.fromkeys(
            change_for(param, value)
            for layer, param in params
            for value in among(evidence, kind, (name,), layer)
        )
        if changes:
            patch = Patch(tuple(changes))
            found.append(Suggestion(patch, None, hidden[0].activation, name))
    return tuple(found)
