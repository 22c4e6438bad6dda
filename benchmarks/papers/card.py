"""The score card of `python -m benchmarks papers`: goals, variants side by side, a row per case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.papers.case_result import CaseResult
from benchmarks.papers.cases import PaperCase
from benchmarks.papers.facts import entries_table, peers_table
from benchmarks.papers.goals import NOT_RECORDED, goals, mean, number, percent, told_of
from benchmarks.papers.way import WHOLE, Way
from benchmarks.scorecard import Scorecard, Table

OVERALL = ("way", "cases", "executed", "gap", "if executed", "true", "false", "recall", "precision")
"""if executed: the gap of runs that did. true: verdicts that are so; false: `reproduced` where it is not."""
EACH = ("case", "true verdict", "reached", "", "measured", "reference", "gap", "passed", "s")
FINGERPRINTS = (
    "case",
    "recall",
    "precision",
    "grounded",
    "missed",
    "not on the list",
    "tokens",
    "$ at o3-mini",
)


def scorecard(cases: Sequence[PaperCase], ways: Sequence[Way], told: Sequence[CaseResult]) -> Scorecard:
    """Everything that was measured; a case that nobody answers is named and not counted."""
    found = {way: [one for one in told if one.way == way.name] for way in ways}
    whole = found.get(WHOLE, [])
    unrecorded = {way.name: [case.id for case in cases if not told_of(case, found[way])] for way in ways}
    return Scorecard(
        name="papers",
        figures=_closing(cases, whole) if WHOLE in found else NOT_RECORDED,
        goals=tuple(goals(cases, whole)) if WHOLE in found else (),
        tables=(
            Table("Ways", OVERALL, tuple(_overall(way, cases, found[way]) for way in ways)),
            *(table for way in ways if found[way] for table in _of_way(way, cases, found[way])),
            *_why_not(cases, ways, told),
            entries_table(),
            peers_table(),
        ),
        facts={"told": [_plain(one) for one in told], "not_recorded": unrecorded},
    )


def _closing(cases: Sequence[PaperCase], told: Sequence[CaseResult]) -> str:
    if not told:
        return NOT_RECORDED
    there = [case for case in cases if told_of(case, told)]
    right = sum(one.true_verdict(case, WHOLE) for case in there for one in told_of(case, told))
    missing = f", {len(cases) - len(there)} {NOT_RECORDED}" if len(there) < len(cases) else ""
    gap = percent(mean(told, lambda one: one.gap))
    return f"{right} of {len(told)} tellings with their true verdict, gap {gap}{missing}"


def _overall(way: Way, cases: Sequence[PaperCase], told: Sequence[CaseResult]) -> tuple[str, ...]:
    there = [case for case in cases if told_of(case, told)]
    if not there:
        return (way.name, NOT_RECORDED, *("-",) * (len(OVERALL) - 2))
    pairs = [(case, one) for case in there for one in told_of(case, told)]
    return (
        way.name,
        f"{len(there)} of {len(cases)}",
        percent(mean(told, lambda one: float(one.executed))),
        percent(mean(told, lambda one: one.gap)),
        percent(mean(told, lambda one: one.gap if one.executed else None)),
        f"{sum(one.true_verdict(case, way) for case, one in pairs)} of {len(pairs)}",
        f"{sum(one.false_claim(case, way) for case, one in pairs)}",
        number(mean(told, lambda one: one.recalled.recall if one.recalled else None)),
        number(mean(told, lambda one: one.recalled.precision if one.recalled else None)),
    )


def _of_way(way: Way, cases: Sequence[PaperCase], told: Sequence[CaseResult]) -> Iterator[Table]:
    rows = [row for case in cases for row in _rows(case, way, told_of(case, told))]
    yield Table(f"Cases, {way.name}", EACH, tuple(rows))
    taken = tuple(_taken(one) for case in cases for one in told_of(case, told))
    yield Table(f"Fingerprints and cost, {way.name}", FINGERPRINTS, taken)


def _rows(case: PaperCase, way: Way, told: Sequence[CaseResult]) -> Iterator[tuple[str, ...]]:
    if not told:
        yield (case.id, case.expected.value, NOT_RECORDED, *("-",) * (len(EACH) - 3))
    for one in told:
        judged = one.passed + one.failed + one.unknown
        right = "true" if one.true_verdict(case, way) else "missed"
        yield (
            _name(one),
            one.expected(case, way).value,
            one.verdict.value,
            "FALSE CLAIM" if one.false_claim(case, way) else right,
            "-" if one.measured is None else f"{one.measured:.4g}{case.metric.unit}",
            f"{case.reference.value:.4g}{case.metric.unit} +- {case.reference.spread:.2g}",
            percent(one.gap),
            f"{one.passed} of {judged}" if judged else "-",
            f"{one.seconds:.0f}",
        )


def _taken(one: CaseResult) -> tuple[str, ...]:
    fits = one.recalled
    cost = (f"{one.tokens_in + one.tokens_out}", number(None if one.at_o3 is None else float(one.at_o3)))
    if fits is None:
        return (_name(one), *("-",) * 5, *cost)
    return (
        _name(one),
        number(fits.recall),
        number(fits.precision),
        f"{fits.grounded} of {fits.taken}",
        " ".join(fits.missed) or "-",
        " ".join(fits.extra) or "-",
        *cost,
    )


def _name(one: CaseResult) -> str:
    return one.case + (f" ({one.run + 1})" if one.run else "")


def _why_not(cases: Sequence[PaperCase], ways: Sequence[Way], told: Sequence[CaseResult]) -> Iterator[Table]:
    """Why verdicts are not the true ones."""
    by_id = {case.id: case for case in cases}
    by_name = {way.name: way for way in ways}
    wrong = tuple(
        (_name(one), one.way, one.reason)
        for one in told
        if not one.true_verdict(by_id[one.case], by_name[one.way])
    )
    if wrong:
        yield Table("Why not", ("case", "way", "reason"), wrong)


def _plain(one: CaseResult) -> dict[str, Any]:
    said = asdict(one)
    for name in ("money", "at_o3"):
        said[name] = None if said[name] is None else str(said[name])
    return said
