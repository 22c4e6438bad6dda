"""Families of rules together: what two of them say of a program is what either says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from benchmarks.faults.case import FaultCase, Side
from benchmarks.faults.scores import Answer
from benchmarks.faults.table import FaultTable, Reading, tabulate
from reenact.faults.families import FAMILIES

OWN = "reenact"
"""The family that no published tool has."""


def joined(readings: Sequence[Sequence[Reading]]) -> list[Reading]:
    """One reading a program: the answers of several detectors to the same repeats, as one
    detector's.
    """
    by_program: dict[tuple[str, Side], list[Reading]] = {}
    for reading in (one for of_detector in readings for one in of_detector):
        by_program.setdefault((reading.case, reading.side), []).append(reading)
    return [
        Reading(
            case,
            side,
            tuple(_either(repeat) for repeat in zip(*answers, strict=True)),
            group[0].seconds,
        )
        for (case, side), group in by_program.items()
        if (answers := [one.answers for one in group])
    ]


def combined(
    readings: Mapping[str, Sequence[Reading]], cases: Sequence[FaultCase]
) -> Iterator[tuple[str, FaultTable]]:
    """Every pair of families, the published ones together, and all, best F3 first."""
    published = tuple(name for name in FAMILIES if name != OWN)
    wanted = [*combinations(FAMILIES, 2), published, tuple(FAMILIES)]
    tables = [
        (_name(names), tabulate(joined([readings[name] for name in names]), cases))
        for names in wanted
    ]
    yield from sorted(
        (pair for pair in tables if pair[1].lines),
        key=lambda pair: pair[1].mean("after").f3,
        reverse=True,
    )


def _name(names: Sequence[str]) -> str:
    if len(names) == 2:
        return " + ".join(names)
    return "all families" if OWN in names else "all published families"


def _either(answers: Iterable[Answer]) -> Answer:
    return frozenset().union(*answers)
