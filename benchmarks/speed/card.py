"""Judges the speed of the process pool from what was measured, and shows it: goals, tables,
facts.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from statistics import geometric_mean

from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.speed.ways import Timed

POOL, LOOP, TUNE_WARM = "pool", "plain loop", "Ray Tune, reused"
TIMES_LOOP, TIMES_TUNE = 3.0, 1.0
"""Against the loop where a training takes a second; against warm Ray Tune on all lengths."""
SHORT = ", 1 s"

Found = Mapping[str, Mapping[str, Timed]]
"""By case and way."""


def scorecard(found: Found, workers: int, ways: Sequence[str] = ()) -> Scorecard:
    """Goals, tables and facts from what was measured; of `ways`, those that were not are named."""
    measured = {way for row in found.values() for way in row}
    ways = ways or list(dict.fromkeys(way for row in found.values() for way in row))
    absent = [way for way in ways if way not in measured]
    short = {name: row for name, row in found.items() if name.endswith(SHORT)}
    loop, tune = _times(short, LOOP), _times(found, TUNE_WARM)
    return Scorecard(
        name="trials",
        figures=(
            f"pool: {_shown(loop)} the plain loop at 1 s, {_shown(tune)} Ray Tune with reused "
            f"actors"
        )
        + (
            f"; not measured (not installed, or stopped before): {', '.join(absent)}"
            if absent
            else ""
        ),
        goals=(
            _goal("pool against the plain loop, trainings of 1 s", TIMES_LOOP, loop),
            _goal(
                "pool against Ray Tune with reused actors, all lengths",
                TIMES_TUNE,
                tune,
            ),
        ),
        tables=(
            _table(
                "Seconds a training, start not counted",
                found,
                ways,
                lambda one: f"{one.each:.2f}",
            ),
            _table(
                "Seconds a training, start counted",
                found,
                ways,
                lambda one: f"{one.cold:.2f}",
            ),
            _table("Start, s", found, ways, lambda one: f"{one.start_s:.1f}"),
            _contributions(found),
        ),
        facts={
            "workers": workers,
            "cores": os.cpu_count(),
            "load_after": list(os.getloadavg()),
            "python": platform.python_version(),
            "cases": {
                name: {way: [one.trials, one.start_s, one.seconds] for way, one in row.items()}
                for name, row in found.items()
            },
        },
        measured={
            "loop": Figure("pool against the plain loop, trainings of 1 s, times", loop, digits=1),
            "tune": Figure("pool against Ray Tune with reused actors, times", tune, digits=1),
        },
    )


def _times(found: Found, other: str) -> float | None:
    """How many times as fast the pool is, as a geometric mean over the cases that have both."""
    both = [row[other].each / row[POOL].each for row in found.values() if {POOL, other} <= set(row)]
    return geometric_mean(both) if both else None


def _goal(name: str, wanted: float, reached: float | None) -> Goal:
    return Goal(
        name,
        f">= {wanted:g}x",
        _shown(reached),
        None if reached is None else reached >= wanted,
    )


def _shown(times: float | None) -> str:
    return "-" if times is None else f"{times:.1f}x"


def _table(title: str, found: Found, ways: Sequence[str], show: Callable[[Timed], str]) -> Table:
    rows = tuple(
        (name, *(show(row[way]) if way in row else "-" for way in ways))
        for name, row in found.items()
    )
    return Table(title, ("training", *ways), rows)


def _contributions(found: Found) -> Table:
    """What the pool saves against the loop, and how much of it is the warm start."""
    rows = []
    for name, row in found.items():
        if {POOL, LOOP} <= set(row):
            loop, pool = row[LOOP], row[POOL]
            rows.append(
                (
                    name,
                    f"{loop.each - pool.each:.2f}",
                    f"{loop.each / pool.each:.1f}x",
                    f"{loop.cold / pool.cold:.1f}x",
                )
            )
    heads = (
        "training",
        "saved by the warm start, s a training",
        "warm",
        "start counted",
    )
    return Table("The pool against the plain loop", heads, tuple(rows))
