"""How much a step changes each weight tensor, as TheDeepChecker measures it."""

import math
from statistics import median

from reenact.rules import Evidence


def ratios(evidence: Evidence) -> dict[str, float]:
    """log10 of mean update over mean weight of every matrix that moves: median of the first half."""
    found: dict[str, float] = {}
    for name, moved, size in _tensors(evidence):
        known = [
            math.log10(update / weight)
            for update, weight in zip(moved, size, strict=True)
            if update > 0 and weight > 0 and math.isfinite(update) and math.isfinite(weight)
        ]
        if len(known) > 2:
            found[name] = median(known[: max(3, len(known) // 2)])
    return found


def unmoved(evidence: Evidence) -> list[str]:
    """Weight matrices that can learn and whose every update was exactly zero."""
    found = [
        name
        for name, moved, _ in _tensors(evidence)
        if len(moved) > 2 and all(update == 0 or math.isnan(update) for update in moved) and 0 in moved
    ]
    moving = {name for name, moved, _ in _tensors(evidence) if any(update > 0 for update in moved)}
    return [name for name in dict.fromkeys(found) if name not in moving]


def _tensors(evidence: Evidence) -> list[tuple[str, list[float], list[float]]]:
    found = []
    tables = {
        weight.path for layer in evidence.layers if layer.family == "embedding" for weight in layer.weights
    }
    for number, facts in enumerate(evidence.watched.parameter_facts):
        # Only the rows of a table that occur in a batch move: its mean says nothing.
        if facts.trainable and len(facts.shape) > 1 and facts.name not in tables:
            rows = evidence.watched.parameters.where(parameter=number)
            moved, size = rows["update_mean_abs"].tolist(), rows["weight_mean_abs"].tolist()
            found.append((facts.name, moved, size))
    return found
