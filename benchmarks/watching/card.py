"""Judges the cost of watching from what was measured, and shows it: goals, tables, facts."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from statistics import median
from typing import TypeAlias

from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.watching.measured import BOUNDS, Measured
from benchmarks.watching.promises import FIRST, LATER_SHARE
from reenact.types import JsonValue

REPEATS = 7
"""Pairs a goal is judged from; fewer are a try and meet no goal."""

Load: TypeAlias = "tuple[tuple[float, ...], tuple[float, ...]]"
"""Load averages of the machine before and after."""


def scorecard(
    results: Sequence[Measured],
    *,
    wanted: int,
    repeats: int,
    load: Load,
) -> Scorecard:
    """Goals, tables and facts from what was measured."""
    whole = len(results) == wanted and repeats >= REPEATS
    goals = [_ratio_goal(preset, results, whole) for preset in BOUNDS] if results else []
    goals += [_promise_goal(results, whole)] if results else []
    worst = (
        ", ".join(f"{preset} {_worst(preset, results)[0]:.3f}" for preset in BOUNDS)
        if results
        else "nothing"
    )
    return Scorecard(
        name="probe",
        figures=f"{worst} (worst of {len(results)} programs, median of {repeats} pairs)",
        goals=tuple(goals),
        tables=(_table(results), _cpu_table(results)),
        facts=_facts(results, repeats, load),
        measured={preset: _figure(preset, results) for preset in BOUNDS} if results else {},
    )


def _figure(preset: str, results: Sequence[Measured]) -> Figure:
    """The program that it costs most, with the spread of its pairs."""
    worst = max(results, key=lambda result: result.cost(preset))
    name = f"cost of {preset}, the worst program, times; interval: all its pairs"
    return Figure(name, worst.cost(preset), _low(worst, preset), _high(worst, preset), digits=3)


def _worst(preset: str, results: Sequence[Measured]) -> tuple[float, str]:
    return max((result.cost(preset), result.case.name) for result in results)


def _ratio_goal(preset: str, results: Sequence[Measured], whole: bool) -> Goal:
    bound = BOUNDS[preset]
    ratio, name = _worst(preset, results)
    within = sum(result.cost(preset) <= bound for result in results)
    shared = sum(result.disturbed for result in results)
    clock = f"; by CPU time in {shared}, the machine had other work" if shared else ""
    return Goal(
        f"cost of {preset}, every program",
        f"<= {bound:.2f}",
        f"{within} of {len(results)} within; worst {ratio:.3f} ({name}){clock}",
        _judged(within == len(results), whole),
    )


def _promise_goal(results: Sequence[Measured], whole: bool) -> Goal:
    broken = [sentence for result in results for sentence in result.broken]
    return Goal(
        "traces whole, training unchanged",
        f"first {FIRST} steps, {LATER_SHARE:.0%} of the later, losses, layers, parameters",
        "; ".join(broken[:3]) if broken else "kept in every run",
        _judged(not broken, whole),
    )


def _judged(reached: bool, whole: bool) -> bool | None:
    """A miss is a miss in any try; a goal is met only by the whole measurement."""
    return False if not reached else True if whole else None


def _table(results: Sequence[Measured]) -> Table:
    columns = (
        "program",
        "unobserved s",
        "quick",
        "normal",
        "naive dump",
        "sampled",
        "probe's own s",
    )
    return Table(
        "Cost of watching, as ratios of training time",
        columns,
        tuple(_row(result) for result in results),
    )


def _row(result: Measured) -> tuple[str, ...]:
    quick = result.promises["quick"]
    sampled = sum(one.sampled for one in quick) / max(1, sum(one.steps for one in quick))
    naive = result.naive_ratio
    return (
        result.case.name,
        f"{result.alone:.2f}",
        f"{result.ratio('quick'):.3f}",
        f"{result.ratio('normal'):.3f}",
        "-" if naive is None else f"{naive:.2f}",
        f"{sampled:.1%}",
        f"{median(one.probe_seconds for one in quick):.3f}",
    )


def _cpu_table(results: Sequence[Measured]) -> Table:
    rows = tuple(
        (
            result.case.name,
            *(f"{result.cpu_ratio(preset):.3f}" for preset in BOUNDS),
            *(f"{_low(result, preset):.3f} .. {_high(result, preset):.3f}" for preset in BOUNDS),
        )
        for result in results
    )
    columns = (
        "program",
        "quick, CPU",
        "normal, CPU",
        "quick, all pairs",
        "normal, all pairs",
    )
    return Table("The same by CPU time, and the spread of the pairs", columns, rows)


def _low(result: Measured, preset: str) -> float:
    return min(pair.ratio for pair in result.pairs[preset])


def _high(result: Measured, preset: str) -> float:
    return max(pair.ratio for pair in result.pairs[preset])


def _facts(results: Sequence[Measured], repeats: int, load: Load) -> JsonValue:
    return {
        "repeats": repeats,
        "machine": {
            "cores": os.cpu_count(),
            "threads": 1,
            "load_before": list(load[0]),
            "load_after": list(load[1]),
            "python": platform.python_version(),
        },
        "programs": [_program_facts(result) for result in results],
    }


def _program_facts(result: Measured) -> JsonValue:
    return {
        "program": result.case.name,
        "unobserved_s": result.alone,
        "presets": {
            preset: {
                "ratio": result.ratio(preset),
                "cpu_ratio": result.cpu_ratio(preset),
                "pairs": [[pair.alone.seconds, pair.beside.seconds] for pair in pairs],
                "cpu_pairs": [[pair.alone.cpu_seconds, pair.beside.cpu_seconds] for pair in pairs],
                "steps": [one.steps for one in result.promises[preset]],
                "sampled": [one.sampled for one in result.promises[preset]],
                "later_share": [one.later_share for one in result.promises[preset]],
                "probe_s": [one.probe_seconds for one in result.promises[preset]],
            }
            for preset, pairs in result.pairs.items()
        },
        "naive_pairs": [[pair.alone.seconds, pair.beside.seconds] for pair in result.naive],
        "broken": list(result.broken),
    }
