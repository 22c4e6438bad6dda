"""Figures that are not a mean over rows: F1, precision, recall, perplexity and R2, from counts and sums of
the batches of an evaluation; over all rows, and as the mean of those of the batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from reenact_probe.types import Facts

Counts = dict[str, float]
"""What was counted, by name."""
Figures = dict[str, float]
COUNTED = ("count", "hits", "named", "label-", "yes", "found-", "claimed-")
"""How the names of counts begin that are read here alone."""
_LARGEST = 700.0
"""Of a loss whose perplexity is a number."""


def ratios(names: Sequence[str], table: Sequence[Sequence[float]]) -> list[Facts]:
    """Each figure over all rows and as a mean over batches."""
    totals = map(sum, zip(*table))
    whole = dict(_figures(dict(zip(names, totals))))
    each = [dict(_figures(dict(zip(names, batch)))) for batch in table]
    found: list[Facts] = []
    for name, value in whole.items():
        if not math.isfinite(value):
            continue
        by_batch = None
        if all(name in batch for batch in each):
            by_batch = sum(batch[name] for batch in each) / len(each)
        found.append({"name": name, "whole": value, "by_batch": by_batch})
    return found


def _figures(counts: Counts) -> Iterator[tuple[str, float]]:
    for figures in (_of_classes, _of_yes, _of_losses, _of_numbers):
        yield from figures(counts).items()


def _of_classes(counts: Counts) -> Figures:
    numbers = [name[len("named") :] for name in counts if name.startswith("named")]
    known = [
        (counts["hits" + number], counts["named" + number], counts["count" + number])
        for number in numbers
        if counts["named" + number] or counts["count" + number]
    ]
    rows = sum(count for _, _, count in known)
    if len(known) < 2 or not rows:
        return {}
    figures = {}
    for name, figure in _FIGURES.items():
        values = [figure(*one) for one in known]
        shares = [value * count for value, (_, _, count) in zip(values, known)]
        figures[f"{name}, the mean over classes"] = sum(values) / len(values)
        figures[f"{name}, the mean over classes by their rows"] = sum(shares) / rows
        if numbers[2:] == [] or not any(counts["count" + one] for one in numbers[2:]):
            figures[f"{name} of class 1"] = figure(
                counts["hits" + numbers[1]],
                counts["named" + numbers[1]],
                counts["count" + numbers[1]],
            )
    return figures


def _of_yes(counts: Counts) -> Figures:
    figures: Figures = {}
    if "yes" not in counts:
        return figures
    for limit in ("0", "0.5"):
        found = counts["found-above-" + limit]
        claimed = counts["claimed-above-" + limit]
        for name, figure in _FIGURES.items():
            figures[f"{name} of yes above {limit}"] = figure(found, claimed, counts["yes"])
    return figures


def _of_losses(counts: Counts) -> Figures:
    figures = {}
    for name in ("cross-entropy", "nll"):
        mean = counts[name] / counts["rows"] if counts.get(name) and counts["rows"] else 0.0
        if 0 < mean < _LARGEST:
            figures[f"perplexity by {name}"] = math.exp(mean)
    return figures


def _of_numbers(counts: Counts) -> Figures:
    if "label-squares" not in counts or not counts["rows"]:
        return {}
    spread = counts["label-squares"] - counts["label-sum"] ** 2 / counts["rows"]
    if not spread > 1e-9 * counts["label-squares"]:
        return {}
    return {"r2": 1 - counts["mse"] / spread}


def _precision(hits: float, named: float, count: float) -> float:  # noqa: ARG001
    return hits / named if named else 0.0


def _recall(hits: float, named: float, count: float) -> float:  # noqa: ARG001
    return hits / count if count else 0.0


def _f1(hits: float, named: float, count: float) -> float:
    return 2 * hits / (named + count) if named + count else 0.0


_FIGURES: dict[str, Callable[[float, float, float], float]] = {
    "f1": _f1,
    "precision": _precision,
    "recall": _recall,
}
