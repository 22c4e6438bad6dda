"""The labels of a training as its loss takes them: without those that it skips; none of another data set."""

import math
from dataclasses import replace

from reenact.program.graph import LossFacts, TensorFacts

IGNORED = -100
"""The label that PyTorch's losses skip by default."""


def without_skipped(labels: TensorFacts, loss: LossFacts | None) -> TensorFacts:
    """Labels without those that the loss skips."""
    skipped = (loss.settings if loss is not None else {}).get("ignore_index", IGNORED)
    values = labels.class_values or ()
    if skipped not in values or "int" not in labels.dtype:
        return labels
    counted = zip(values, labels.class_counts or (), strict=False)
    left = {value: count for value, count in counted if value != skipped}
    return replace(
        labels,
        class_values=tuple(left),
        class_counts=tuple(left.values()),
        classes=len(left),
        minimum=float(min(left, default=0)),
        maximum=float(max(left, default=0)),
    )


def compares_others(labels: TensorFacts, loss: LossFacts | None) -> bool:
    """Whether the loss is seen to compare with something else than the classes of the data set:
    with a target of many numbers a row, as wide as the output and no one-hot form of them (an
    image), or of one number where the data set has columns of classes (which are inputs).
    """
    compared = loss.compared if loss is not None else None
    if compared is None or compared[0] != compared[1] or not labels.integral:
        return False
    numbers = math.prod(compared[1][1:])
    classes = max(2, labels.classes or 0, (labels.maximum or 0) + 1)
    if len(labels.shape) > 1:
        columns = math.prod(size or 1 for size in labels.shape[1:])
        return numbers == 1 and columns > 1 and classes > 2
    return numbers > classes
