"""Which of the changes that help are worth more seeds, and which of them comes first."""

import math
from collections.abc import Sequence

from reenact.program.patch import Patch
from reenact.repairs.search_context import SearchContext
from reenact.repairs.strategies.strategy import Scoreboard

NEARLY = 0.05
"""Share of the gain that a smaller change may miss; the minimiser, with its test, allows more."""
OF_AN_ERROR = 0.25
"""Share of an error that counts as nearly the same error."""
LESS = 0.25
"""Share of the gain that a change may miss which trains in half the time: longer training helps nearly every
program a little, and one look tells little."""
EXPENSIVE = 2.0
"""Times what another training costs from which on a change is expensive; never less than a training as is."""
FINALISTS = 3
MATCH = 2
"""One that helps gets a rival: one look tells little."""

Scored = tuple[Patch, float]


def choose_finalists(
    context: SearchContext, good: Sequence[Scored], base: float, scored: Scoreboard
) -> list[Patch]:
    """The best of every size, the largest gain first; of nearly equal ones what was most promising, for a
    cause that a finding names is a better repair than a cure of its symptoms. The best that is much cheaper
    to train stands beside one that is expensive, and the next best beside one that would be alone."""
    found: list[Scored] = []
    cheap: list[Patch] = []
    for size in sorted({patch.complexity for patch, _ in good}):
        same = [pair for pair in good if pair[0].complexity == size]
        near = _near(context, same, base, NEARLY)
        found.append(min(near, key=lambda pair: scored.rank(pair[0])))
        cost = context.cost(found[-1][0])
        close = _near(context, same, base, LESS) if cost >= EXPENSIVE else []
        cheap += [patch for patch, _ in close if EXPENSIVE * context.cost(patch) <= cost][:1]
    rising = [pair for at, pair in enumerate(found) if all(pair[1] > one[1] for one in found[:at])]
    best = [patch for patch, _ in sorted(rising, key=lambda pair: -pair[1])][:FINALISTS]
    chosen = [*best, *cheap[:1]]
    rivals = [patch for patch, _ in good if patch not in chosen]
    return [*chosen, *rivals[: max(0, MATCH - len(chosen))]]


def affordable_on_seeds(context: SearchContext, patches: Sequence[Patch], seeds: int) -> list[Patch]:
    """As many as can be trained over so many more seeds, beside the program as it stands; what is much more
    expensive than another goes first, then the last."""
    chosen = list(patches)
    while len(chosen) > 1 and not context.within_budget(
        sum(context.cost(one, seeds) for one in chosen) + seeds
    ):
        costs = [context.cost(one) for one in chosen]
        expensive = max(costs) >= EXPENSIVE * max(1.0, min(costs))
        chosen.pop(costs.index(max(costs)) if expensive else -1)
    return chosen


def _near(context: SearchContext, found: Sequence[Scored], base: float, nearly: float) -> list[Scored]:
    """Those whose gain is nearly that of the first, which is the largest."""
    floor = _floor(context, found[0][1], base, nearly)
    return [pair for pair in found if pair[1] >= floor]


def smallest_near(
    context: SearchContext, found: Sequence[Scored], base: float, nearly: float = NEARLY
) -> list[Patch]:
    """Those whose gain is nearly the largest first, the smallest of them before the others."""
    if not found:
        return []
    floor = _floor(context, max(score for _, score in found), base, nearly)

    def order(pair: Scored) -> tuple[bool, int, float]:
        patch, score = pair
        near = score >= floor
        return (not near, patch.complexity if near else 0, -score)

    return [patch for patch, _ in sorted(found, key=order)]


def _floor(context: SearchContext, top: float, base: float, nearly: float) -> float:
    """From here on a gain is nearly the largest. An error is measured by its own size too: beside one that
    exploded all others are alike."""
    gain = top - base
    if context.trainer.bounded:
        return top - nearly * gain if math.isfinite(gain) else top
    return top - min(nearly * gain, OF_AN_ERROR * abs(top))
