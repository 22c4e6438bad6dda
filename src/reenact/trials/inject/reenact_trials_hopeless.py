"""The rule that ends a training which cannot become better than the program as it stands any more.

It looks at one metric on the way, larger is better, against the curves of the program as it stands over its
seeds. A training is hopeless when it could not reach what it must even if it went on to gain several times as
fast as it did of late, and it is clearly behind the worst of them at the same share of the training; late in
the training the first suffices.
`python -m benchmarks curves` replays it on whole curves; its constants were chosen there.
"""

from __future__ import annotations

from collections.abc import Sequence

Curve = Sequence[Sequence[float]]
"""Shares of the training, from 0 to 1, and values."""

HOPELESS = "hopeless beside the program as it stands"
"""How the note of a training begins that was ended so."""
EARLIEST = {"metric": 0.3, "loss": 0.5}
"""Share of a training before which nothing is ended."""
BEHIND = {"metric": 0.25, "loss": 0.5}
"""Share of all that the program as it stands gains in its training by which one must be behind."""
LATE = {"metric": 0.6, "loss": 2.0}
"""Share from which on it need not be behind; a loss alone never suffices."""
FASTER = 3.0
"""Times as fast as of late that it may gain in the rest."""
REPORTS = 3
"""Values that must be known; the best of so many last ones counts."""
NEAR = 0.1
"""Share of a training within which values count as being at the same place."""


def hopeless(
    points: Curve,
    base: Sequence[Curve],
    target: float,
    least: float,
    kind: str = "metric",
    earliest: float | None = None,
    behind: float | None = None,
    late: float | None = None,
    faster: float = FASTER,
) -> bool:
    """Whether a training with these points so far is: `base` are the curves of the program as it stands,
    `target` is what it must reach to be better, `least` the smallest difference that matters."""
    earliest = EARLIEST[kind] if earliest is None else earliest
    behind = BEHIND[kind] if behind is None else behind
    late = LATE[kind] if late is None else late
    if len(points) < REPORTS or points[-1][0] < earliest or not base:
        return False
    share = min(1.0, points[-1][0])
    reached = max(value for _, value in points[-REPORTS:])
    early = max([value for at, value in points if at <= share / 2] or [points[0][1]])
    pace = max(0.0, reached - early) / (share / 2)
    if reached + faster * pace * (1 - share) >= target:
        return False
    worst = min(_around(curve, share) for curve in base)
    values = [value for curve in base for _, value in curve]
    return share >= late or reached < worst - max(behind * (max(values) - min(values)), least)


def _around(curve: Curve, share: float) -> float:
    """The worst value near this share: curves go up and down."""
    before = [value for at, value in curve if at <= share] or [curve[0][1]]
    return min([*(value for at, value in curve if abs(at - share) <= NEAR), before[-1]])
