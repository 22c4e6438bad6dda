"""Which of the changes that help are worth more seeds, and which of them comes first."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reenact.program.patch import Patch
from reenact.repair.board import Board
from reenact.repair.workbench import Workbench

NEARLY = 0.05
"""Share of the gain that a smaller change may miss; the minimiser, with its test, allows more."""
OF_AN_ERROR = 0.25
"""Share of an error that counts as nearly the same error."""
FINALISTS = 3

Scored = tuple[Patch, float]


def best_of_each_size(bench: Workbench, good: Sequence[Scored], base: float, scored: Board) -> list[Patch]:
    """The best of every size, the largest gain first; of nearly equal ones what was most promising, for a
    cause that was accused is a better repair than a cure of its symptoms."""
    found: list[Scored] = []
    for size in sorted({patch.complexity for patch, _ in good}):
        same = [pair for pair in good if pair[0].complexity == size]
        near = [pair for pair in same if pair[1] >= _floor(bench, same[0][1], base, NEARLY)]
        found.append(min(near, key=lambda pair: scored.rank(pair[0])))
    rising = [pair for at, pair in enumerate(found) if all(pair[1] > one[1] for one in found[:at])]
    return [patch for patch, _ in sorted(rising, key=lambda pair: -pair[1])][:FINALISTS]


def smallest_near(
    bench: Workbench, found: Sequence[Scored], base: float, nearly: float = NEARLY
) -> list[Patch]:
    """Those whose gain is nearly the largest first, the smallest of them before the others."""
    if not found:
        return []
    floor = _floor(bench, max(score for _, score in found), base, nearly)

    def order(pair: Scored) -> tuple[bool, int, float]:
        patch, score = pair
        near = score >= floor
        return (not near, patch.complexity if near else 0, -score)

    return [patch for patch, _ in sorted(found, key=order)]


def _floor(bench: Workbench, top: float, base: float, nearly: float) -> float:
    """From here on a gain is nearly the largest. An error is measured by its own size too: beside one that
    exploded all others are alike."""
    gain = top - base
    if bench.attempts.bounded:
        return top - nearly * gain if math.isfinite(gain) else top
    return top - min(nearly * gain, OF_AN_ERROR * abs(top))
