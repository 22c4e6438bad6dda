"""The score card of `python -m benchmarks bugs`: goals, ways side by side, one row a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from decimal import Decimal
from statistics import median

from benchmarks.bugs.case_result import CaseResult
from benchmarks.bugs.cases import BugCase
from benchmarks.bugs.way import WHOLE, Way
from benchmarks.scorecard import Goal, Scorecard, Table
from reenact.bug.reproduction import Verdict

NOT_RECORDED = "not recorded"
OVERALL = (
    "way", "cases", "true verdict", "bugs shown", "false claims", "median s", "tokens a bug", "$ a bug",
    "published",
)  # fmt: skip
"""bugs shown: scripts that fail where the bug is and pass on the fix; published: of the paper's own bugs."""
EACH = ("case", "true verdict", "reached", "", "on buggy, fixed", "scripts", "seeds", "s", "tokens", "$")
CODES = {None: "-", 0: "passes", 1: "shows"}


def scorecard(cases: Sequence[BugCase], ways: Sequence[Way], told: Sequence[CaseResult]) -> Scorecard:
    """Everything that was measured; a case that nobody answers is named and not counted."""
    found = {way: {one.case: one for one in told if one.way == way.name} for way in ways}
    reasons = tuple(_reasons(cases, told))
    return Scorecard(
        name="bugs",
        figures=_closing(cases, found[WHOLE]) if WHOLE in found else NOT_RECORDED,
        goals=tuple(_goals(cases, ways, found)),
        tables=(
            Table("Ways", OVERALL, tuple(_overall(way, cases, found[way]) for way in ways)),
            *(_cases(way, cases, found[way]) for way in ways),
            *([Table("Why not", ("case", "way", "reason"), reasons)] if reasons else []),
        ),
        facts={
            "told": [{**asdict(one), "money": None if one.money is None else str(one.money)} for one in told],
            "not_recorded": {
                way.name: [case.id for case in cases if case.id not in found[way]] for way in ways
            },
        },
    )


def _cases(way: Way, cases: Sequence[BugCase], told: dict[str, CaseResult]) -> Table:
    return Table(f"Cases, {way.name}", EACH, tuple(_row(case, told.get(case.id)) for case in cases))


def _closing(cases: Sequence[BugCase], told: dict[str, CaseResult]) -> str:
    there = [case for case in cases if case.id in told]
    right = sum(told[case.id].true_verdict(case) for case in there)
    false = sum(told[case.id].false_claim(case) for case in there)
    missing = f", {len(cases) - len(there)} {NOT_RECORDED}" if len(there) < len(cases) else ""
    return f"{right} of {len(there)} cases with their true verdict, {false} false claims{missing}"


def _goals(
    cases: Sequence[BugCase], ways: Sequence[Way], found: dict[Way, dict[str, CaseResult]]
) -> Iterator[Goal]:
    """Goals are those of the whole method; what parts and baselines reach is only told."""
    if WHOLE not in ways:
        return
    told = found[WHOLE]
    there = [case for case in cases if case.id in told]
    complete = None if len(there) < len(cases) else True
    right = sum(told[case.id].true_verdict(case) for case in there)
    false = sum(told[case.id].false_claim(case) for case in there)
    yield Goal(
        "cases with their true verdict",
        f"{len(cases)}",
        f"{right} of {len(there)} told",
        complete if right == len(there) else False,
    )
    yield Goal("false claims", "0", f"{false}", False if false else (complete if there else None))


def _overall(way: Way, cases: Sequence[BugCase], told: dict[str, CaseResult]) -> tuple[str, ...]:
    published = f"{way.published:.1f} %" if way.published is not None else "-"
    there = [case for case in cases if case.id in told]
    if not there:
        return (way.name, NOT_RECORDED, *("-",) * 6, published)
    ones = [told[case.id] for case in there]
    bugs = [case for case in there if case.expected is Verdict.REPRODUCED]
    shown = sum(told[case.id].works for case in bugs)
    return (
        way.name,
        f"{len(there)} of {len(cases)}",
        f"{sum(told[case.id].true_verdict(case) for case in there)}",
        f"{shown} of {len(bugs)} ({100 * shown / len(bugs):.0f} %)" if bugs else "-",
        f"{sum(told[case.id].false_claim(case) for case in there)}",
        f"{median(one.seconds for one in ones):.0f}",
        f"{sum(one.tokens for one in ones) / len(ones):.0f}",
        _mean_money([one.money for one in ones]),
        published,
    )


def _mean_money(spent: Sequence[Decimal | None]) -> str:
    known = [one for one in spent if one is not None]
    return f"{sum(known) / len(known):.3f}" if len(known) == len(spent) else "unknown"


def _row(case: BugCase, one: CaseResult | None) -> tuple[str, ...]:
    if one is None:
        return (case.id, case.expected.value, NOT_RECORDED, *("-",) * 7)
    mark = "FALSE CLAIM" if one.false_claim(case) else "true" if one.true_verdict(case) else "missed"
    return (
        case.id,
        case.expected.value,
        one.verdict.value,
        mark,
        f"{CODES.get(one.on_buggy, 'fails')}, {CODES.get(one.on_fixed, 'fails')}",
        f"{one.attempts}",
        f"{one.shown} of {one.seeds}" if one.seeds else "-",
        f"{one.seconds:.0f}",
        f"{one.tokens}",
        "unknown" if one.money is None else f"{one.money:.3f}",
    )


def _reasons(cases: Sequence[BugCase], told: Sequence[CaseResult]) -> Iterator[tuple[str, ...]]:
    by_id = {case.id: case for case in cases}
    for one in told:
        if not one.true_verdict(by_id[one.case]):
            yield one.case, one.way, one.reason
