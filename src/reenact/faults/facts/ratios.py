"""How much a step changes each weight tensor, as TheDeepChecker measures it."""

import math
from collections.abc import Iterator
from statistics import median

from reenact.faults import Evidence


def ratios(evidence: Evidence) -> dict[str, float]:
    """log10 of mean update over mean weight of every matrix that moves: median of the first
    half.
    """
    found: dict[str, float] = {}
    for name, moved, size in _tensors(evidence):
        pairs = [
            (u, w)
            for u, w in zip(moved, size, strict=True)
            if 0 < u < math.inf and 0 < w < math.inf
        ]
        # The quotient itself may be too small or too large for a number.
        known = [math.log10(update) - math.log10(weight) for update, weight in pairs]
        if len(known) > 2:
            found[name] = median(known[: max(3, len(known) // 2)])
    return found


def unmoved(evidence: Evidence) -> list[str]:
    """Weight matrices that can learn and whose every update was exactly zero."""
    tensors = list(_tensors(evidence))
    moving = {name for name, moved, _ in tensors if any(update > 0 for update in moved)}
    still = [
        name for name, moved, _ in tensors if len(moved) > 2 and 0 in moved and name not in moving
    ]
    return list(dict.fromkeys(still))


def _tensors(evidence: Evidence) -> Iterator[tuple[str, list[float], list[float]]]:
    embeddings = [layer for layer in evidence.layers if layer.family == "embedding"]
    tables = {weight.path for layer in embeddings for weight in layer.weights}
    for number, facts in enumerate(evidence.watched.parameter_facts):
        # Only the rows of a table that occur in a batch move: its mean says nothing.
        if facts.trainable and len(facts.shape) > 1 and facts.name not in tables:
            rows = evidence.watched.parameters.where(parameter=number)
            yield (
                facts.name,
                rows["update_mean_abs"].tolist(),
                rows["weight_mean_abs"].tolist(),
            )
