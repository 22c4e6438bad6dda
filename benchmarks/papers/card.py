"""The score card of `python -m benchmarks papers`: goals, variants side by side, a row per case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.papers.case_result import CaseResult
from benchmarks.papers.cases import PaperCase
from benchmarks.papers.facts import entries_table, peers_table
from benchmarks.papers.goals import (
    NOT_RECORDED,
    goals,
    mean,
    number,
    percent,
    results_of,
)
from benchmarks.papers.variant import WHOLE, Variant
from benchmarks.scorecard import Figure, Scorecard, Table
from benchmarks.share import Share
from reenact.paper.measure.verdict import Verdict

HOLDS = Verdict.REPRODUCED
OVERALL = (
    "way",
    "cases",
    "executed",
    "gap",
    "if executed",
    "true",
    "false",
    "recall",
    "precision",
)
"""if executed: the gap of runs that did. true: verdicts that are so; false: `reproduced` where
it is not.
"""
EACH = (
    "case",
    "true verdict",
    "reached",
    "",
    "measured",
    "reference",
    "gap",
    "passed",
    "s",
)
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


def scorecard(
    cases: Sequence[PaperCase],
    variants: Sequence[Variant],
    results: Sequence[CaseResult],
) -> Scorecard:
    """Everything that was measured; a case that nobody answers is named and not counted."""
    found = {
        variant: [one for one in results if one.variant == variant.name] for variant in variants
    }
    # Without the whole method its first variant is what the card is about, on a page of its own.
    about = WHOLE if WHOLE in found else variants[0]
    whole = found.get(WHOLE, [])
    unrecorded = {
        variant.name: [case.id for case in cases if not results_of(case, found[variant])]
        for variant in variants
    }
    return Scorecard(
        name="papers" if about == WHOLE else f"papers-{about.key}",
        figures=_closing(cases, found[about], about),
        goals=tuple(goals(cases, whole)) if WHOLE in found else (),
        measured=_figures(cases, found[about], about),
        tables=(
            Table(
                "Variants",
                OVERALL,
                tuple(_overall(variant, cases, found[variant]) for variant in variants),
            ),
            *(
                table
                for variant in variants
                if found[variant]
                for table in _of_way(variant, cases, found[variant])
            ),
            *_confusion(cases, whole),
            *_twins(cases),
            *_why_not(cases, variants, results),
            *((entries_table(), peers_table()) if about == WHOLE else ()),
        ),
        facts={
            "results": [_plain(one) for one in results],
            "not_recorded": unrecorded,
            "derived": {case.id: case.twin.derived for case in cases if case.twin is not None},
        },
    )


def _figures(
    cases: Sequence[PaperCase], results: Sequence[CaseResult], variant: Variant
) -> dict[str, Figure]:
    pairs = [(case, one) for case in cases for one in results_of(case, results)]
    kinds = {
        "verdicts": ("papers with their true verdict", pairs),
        "true": (
            "of them papers that hold",
            [pair for pair in pairs if pair[0].expected is HOLDS],
        ),
        "false": (
            "of them papers that do not",
            [pair for pair in pairs if pair[0].expected is not HOLDS],
        ),
    }
    shares = {
        key: Share(sum(one.true_verdict(case, variant) for case, one in kind), len(kind)).figure(
            name
        )
        for key, (name, kind) in kinds.items()
    }
    return {
        **shares,
        "gap": Figure("gap to the reference", mean(results, lambda one: one.gap), digits=3),
    }


def _confusion(cases: Sequence[PaperCase], results: Sequence[CaseResult]) -> Iterator[Table]:
    """True verdicts down, those that were reached across."""
    pairs = [(case.expected, one.verdict) for case in cases for one in results_of(case, results)]
    if pairs:
        rows = [(true, [pairs.count((true, reached)) for reached in Verdict]) for true in Verdict]
        counted = tuple((true.value, *map(str, counts)) for true, counts in rows if sum(counts))
        yield Table(
            "Verdicts, the whole method",
            ("true verdict", *(one.value for one in Verdict)),
            counted,
        )


def _twins(cases: Sequence[PaperCase]) -> Iterator[Table]:
    """Where papers that were not recorded themselves come from."""
    made = [(case.id, case.twin.kind, case.twin.derived) for case in cases if case.twin is not None]
    if made:
        yield Table("Derived papers", ("case", "kind", "how"), tuple(made))


def _closing(cases: Sequence[PaperCase], results: Sequence[CaseResult], variant: Variant) -> str:
    if not results:
        return NOT_RECORDED
    there = [case for case in cases if results_of(case, results)]
    right = sum(
        one.true_verdict(case, variant) for case in there for one in results_of(case, results)
    )
    missing = f", {len(cases) - len(there)} {NOT_RECORDED}" if len(there) < len(cases) else ""
    gap = percent(mean(results, lambda one: one.gap))
    return f"{right} of {len(results)} tellings with their true verdict, gap {gap}{missing}"


def _overall(
    variant: Variant, cases: Sequence[PaperCase], results: Sequence[CaseResult]
) -> tuple[str, ...]:
    there = [case for case in cases if results_of(case, results)]
    if not there:
        return (variant.name, NOT_RECORDED, *("-",) * (len(OVERALL) - 2))
    pairs = [(case, one) for case in there for one in results_of(case, results)]
    return (
        variant.name,
        f"{len(there)} of {len(cases)}",
        percent(mean(results, lambda one: float(one.executed))),
        percent(mean(results, lambda one: one.gap)),
        percent(mean(results, lambda one: one.gap if one.executed else None)),
        f"{sum(one.true_verdict(case, variant) for case, one in pairs)} of {len(pairs)}",
        f"{sum(one.false_claim(case, variant) for case, one in pairs)}",
        number(mean(results, lambda one: one.recalled.recall if one.recalled else None)),
        number(mean(results, lambda one: one.recalled.precision if one.recalled else None)),
    )


def _of_way(
    variant: Variant, cases: Sequence[PaperCase], results: Sequence[CaseResult]
) -> Iterator[Table]:
    rows = [row for case in cases for row in _rows(case, variant, results_of(case, results))]
    yield Table(f"Cases, {variant.name}", EACH, tuple(rows))
    taken = tuple(_taken(one) for case in cases for one in results_of(case, results))
    yield Table(f"Fingerprints and cost, {variant.name}", FINGERPRINTS, taken)


def _rows(
    case: PaperCase, variant: Variant, results: Sequence[CaseResult]
) -> Iterator[tuple[str, ...]]:
    if not results:
        yield (case.id, case.expected.value, NOT_RECORDED, *("-",) * (len(EACH) - 3))
    for one in results:
        judged = one.passed + one.failed + one.unknown
        right = "true" if one.true_verdict(case, variant) else "missed"
        yield (
            _name(one),
            one.expected(case, variant).value,
            one.verdict.value,
            "FALSE CLAIM" if one.false_claim(case, variant) else right,
            "-" if one.measured is None else f"{one.measured:.4g}{case.metric.unit}",
            f"{case.reference.value:.4g}{case.metric.unit} +- {case.reference.spread:.2g}",
            percent(one.gap),
            f"{one.passed} of {judged}" if judged else "-",
            f"{one.seconds:.0f}",
        )


def _taken(one: CaseResult) -> tuple[str, ...]:
    fits = one.recalled
    cost = (
        f"{one.tokens_in + one.tokens_out}",
        number(None if one.at_o3 is None else float(one.at_o3)),
    )
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


def _why_not(
    cases: Sequence[PaperCase],
    variants: Sequence[Variant],
    results: Sequence[CaseResult],
) -> Iterator[Table]:
    """Why verdicts are not the true ones."""
    by_id = {case.id: case for case in cases}
    by_name = {variant.name: variant for variant in variants}
    wrong = tuple(
        (_name(one), one.variant, one.reason)
        for one in results
        if not one.true_verdict(by_id[one.case], by_name[one.variant])
    )
    if wrong:
        yield Table("Why not", ("case", "way", "reason"), wrong)


def _plain(one: CaseResult) -> dict[str, Any]:
    values = asdict(one)
    for name in ("money", "at_o3"):
        values[name] = None if values[name] is None else str(values[name])
    return values
