"""Judges the speed of the process pool from what was measured, and shows it: goals, tables, facts."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from statistics import geometric_mean
from typing import TypeAlias

from benchmarks.scorecard import Goal, Scorecard, Table
from benchmarks.speed.programs import Case
from benchmarks.speed.ways import LOOP, POOL, TUNED, WAYS, Rates
from reenact.types import JsonValue

TIMES_TUNE, TIMES_LOOP = 10.0, 3.0
LEAST_TRIALS = 64
"""Of Ray Tune, over all programs; fewer judge nothing."""

Load: TypeAlias = "tuple[tuple[float, ...], tuple[float, ...]]"
"""Load averages of the machine before and after."""


def scorecard(
    cases: Sequence[Case], found: Mapping[str, Rates], *, workers: int, whole: bool, load: Load
) -> Scorecard:
    """Goals, tables and facts from what was measured."""
    keras = [case for case in cases if case.keras]
    against_loop, against_tune = _times(found, POOL, LOOP, keras), _times(found, POOL, TUNED, cases)
    tuned = found.get(TUNED)
    enough = whole and tuned is not None and tuned.trials * len(cases) >= LEAST_TRIALS
    goals = (
        _goal(f"{POOL} against {TUNED}, all programs", TIMES_TUNE, against_tune, enough),
        _goal(f"{POOL} against the {LOOP}, Keras programs", TIMES_LOOP, against_loop, whole),
    )
    shown = "not installed" if tuned is None else _shown(against_tune)
    return Scorecard(
        name="trials",
        figures=f"{POOL}: {shown} {TUNED}, {_shown(against_loop)} the plain loop (geometric means)",
        goals=goals,
        tables=(
            _rates_table(cases, found),
            _ratio_table(cases, found),
            _cpu_table(cases, found),
            _start_table(found, workers),
        ),
        facts=_facts(found, workers, load),
    )


def _times(found: Mapping[str, Rates], way: str, other: str, cases: Sequence[Case]) -> float | None:
    """How many times as many trainings a second, as a geometric mean over programs."""
    if way not in found or other not in found or not cases:
        return None
    ours, theirs = found[way].per_second, found[other].per_second
    return geometric_mean(ours[case.name] / theirs[case.name] for case in cases)


def _goal(name: str, wanted: float, reached: float | None, whole: bool) -> Goal:
    if reached is None:
        return Goal(name, f">= {wanted:g}x", "not measured", None)
    met = False if reached < wanted else True if whole else None
    return Goal(name, f">= {wanted:g}x", _shown(reached), met)


def _shown(times: float | None) -> str:
    return "-" if times is None else f"{times:.1f}x"


def _rates_table(cases: Sequence[Case], found: Mapping[str, Rates]) -> Table:
    rows = tuple(
        (case.name, *(f"{found[way].per_second[case.name]:.2f}" if way in found else "-" for way in WAYS))
        for case in cases
    )
    return Table("Trainings a second", ("program", *WAYS), rows)


def _ratio_table(cases: Sequence[Case], found: Mapping[str, Rates]) -> Table:
    rows = []
    for name, chosen in [*((case.name, [case]) for case in cases), ("geometric mean", list(cases))]:
        rows.append((name, *(_shown(_times(found, POOL, other, chosen)) for other in (LOOP, TUNED))))
    return Table("Ratios", ("program", "pool / loop", "pool / Tune"), tuple(rows))


def _cpu_table(cases: Sequence[Case], found: Mapping[str, Rates]) -> Table:
    ways = [way for way in WAYS if way in found and found[way].cpu_s]
    rows = tuple((case.name, *(f"{found[way].cpu_s[case.name]:.2f}" for way in ways)) for case in cases)
    return Table("Processor time a training, s, start of the interpreter included", ("program", *ways), rows)


def _start_table(found: Mapping[str, Rates], workers: int) -> Table:
    rows = []
    for way in WAYS:
        rates = found.get(way)
        if rates is None:
            rows.append((way, "-", "not installed, or not asked for"))
            continue
        start = "in every trial" if way == LOOP else f"{rates.start_s:.1f}"
        rows.append((way, str(rates.trials), start))
    title = f"Paid once, no part of the rates ({workers} workers, one thread each)"
    return Table(title, ("way", "trials a program", "start, s"), tuple(rows))


def _facts(found: Mapping[str, Rates], workers: int, load: Load) -> JsonValue:
    return {
        "workers": workers,
        "machine": {
            "cores": os.cpu_count(),
            "load_before": list(load[0]),
            "load_after": list(load[1]),
            "python": platform.python_version(),
        },
        "ways": {
            way: {
                "trials": rates.trials,
                "start_s": rates.start_s,
                "per_second": dict(rates.per_second),
                "cpu_s": dict(rates.cpu_s),
            }
            for way, rates in found.items()
        },
    }
