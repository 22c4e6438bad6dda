"""The score card of `python -m benchmarks bugs`: goals, variants side by side, one row a case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from decimal import Decimal
from statistics import median
from typing import Any

from benchmarks.bugs.case_result import CaseResult
from benchmarks.bugs.cases import BugCase
from benchmarks.bugs.foreign import FOLDER as FOREIGN
from benchmarks.bugs.variant import WHOLE, Variant
from benchmarks.results import files_identity
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.share import Share
from reenact.bug.reproduction import Verdict
from reenact.llm.recording import read_recording

NOT_RECORDED = "not recorded"
OVERALL = (
    "way",
    "cases",
    "true verdict",
    "bugs shown",
    "false claims",
    "median s",
    "own",
    "requests",
    "tokens a bug",
    "$ a bug",
    "published",
)
"""bugs shown: scripts that fail where the bug is and pass on the fix; published: of the paper's
own bugs.
"""
EACH = (
    "case",
    "true verdict",
    "reached",
    "",
    "on buggy, fixed",
    "in its suite",
    "scripts",
    "requests",
    "seeds",
    "s",
    "own s",
    "tokens",
    "$",
    "other words",
)
CODES = {None: "-", 0: "passes", 1: "shows"}


def scorecard(
    cases: Sequence[BugCase], variants: Sequence[Variant], results: Sequence[CaseResult]
) -> Scorecard:
    """Everything that was measured; a case that nobody answers is named and not counted."""
    found = {
        variant: {one.case: one for one in results if one.variant == variant.name}
        for variant in variants
    }
    reasons = tuple(_reasons(cases, results))
    foreign = any(case.is_foreign for case in cases)
    return Scorecard(
        name="bugs-foreign" if foreign else "bugs",
        cases=files_identity(FOREIGN.name) if foreign else "",
        figures="; ".join(
            ("" if variant == WHOLE else f"{variant.name}: ") + _closing(cases, found[variant])
            for variant in variants
        ),
        goals=tuple(_goals(cases, variants, found)),
        measured={
            key: figure
            for variant in variants
            for key, figure in _figures(variant, cases, found[variant])
        },
        tables=(
            Table(
                "Variants",
                OVERALL,
                tuple(_overall(variant, cases, found[variant]) for variant in variants),
            ),
            *(_cases(variant, cases, found[variant]) for variant in variants),
            Table(
                "Readers",
                ("way", "reader", "day", "answers"),
                tuple(_readers(cases, variants)),
            ),
            *([Table("Why not", ("case", "way", "reason"), reasons)] if reasons else []),
        ),
        facts={
            "day": date.today().isoformat(),
            "results": [
                {**_without_facts(one), "money": None if one.money is None else str(one.money)}
                for one in results
            ],
            "not_recorded": {
                variant.name: [case.id for case in cases if case.id not in found[variant]]
                for variant in variants
            },
        },
    )


def _without_facts(one: CaseResult) -> dict[str, Any]:
    """A result as it is kept: what its script is judged by follows from the rest."""
    return {name: value for name, value in asdict(one).items() if name != "facts"}


def _readers(cases: Sequence[BugCase], variants: Sequence[Variant]) -> Iterator[tuple[str, ...]]:
    """Who gave the recorded answers, when, and how many."""
    for variant in variants:
        files = (case.folder / variant.answers for case in cases)
        kept = [(file, one) for file in files if file.is_file() for one in read_recording(file)]
        records = {
            (file, one["step"], one["sample"], one["hash"]): one for file, one in kept
        }.values()
        names = Counter(
            (
                str(one.get("answer", {}).get("model", "unknown")),
                str(one.get("day", "unknown")),
            )
            for one in records
        )
        yield from ((variant.name, *who, f"{count}") for who, count in names.items())


def _cases(variant: Variant, cases: Sequence[BugCase], results: dict[str, CaseResult]) -> Table:
    return Table(
        f"Cases, {variant.name}",
        EACH,
        tuple(_row(case, results.get(case.id)) for case in cases),
    )


def _closing(cases: Sequence[BugCase], results: dict[str, CaseResult]) -> str:
    there = [case for case in cases if case.id in results]
    right = sum(results[case.id].true_verdict(case) for case in there)
    false = sum(results[case.id].false_claim(case) for case in there)
    missing = f", {len(cases) - len(there)} {NOT_RECORDED}" if len(there) < len(cases) else ""
    return f"{right} of {len(there)} cases with their true verdict, {false} false claims{missing}"


def _goals(
    cases: Sequence[BugCase],
    variants: Sequence[Variant],
    found: dict[Variant, dict[str, CaseResult]],
) -> Iterator[Goal]:
    """Goals are those of the whole method; what parts and baselines reach is only results."""
    if WHOLE not in variants:
        return
    results = found[WHOLE]
    there = [case for case in cases if case.id in results]
    complete = None if len(there) < len(cases) or not there else True
    right = sum(results[case.id].true_verdict(case) for case in there)
    false = sum(results[case.id].false_claim(case) for case in there)
    yield Goal(
        "cases with their true verdict",
        f"{len(cases)}",
        f"{right} of {len(there)} results",
        complete if right == len(there) else False,
    )
    shown = shown_bugs(there, results)
    yield Goal(
        "bugs shown by a script that fails on the buggy revision and passes on the fixed one",
        "all",
        f"{shown.part} of {shown.whole}",
        None if not shown.whole else complete if shown.part == shown.whole else False,
    )
    # Where every bug is there, no claim can be false.
    absent = any(case.expected is not Verdict.REPRODUCED for case in there)
    yield Goal(
        "false claims",
        "0",
        f"{false}",
        False if false else complete if absent else None,
    )
    other = sum(one.other_words for one in results.values())
    yield Goal(
        "recorded answers to other words than were asked",
        "0",
        f"{other}",
        False if other else complete,
    )


def shown_bugs(cases: Sequence[BugCase], results: Mapping[str, CaseResult]) -> Share:
    """Bugs that are there and are shown by what was handed over."""
    bugs = [case for case in cases if case.expected is Verdict.REPRODUCED]
    return Share(sum(results[case.id].works for case in bugs), len(bugs))


def _figures(
    variant: Variant, cases: Sequence[BugCase], results: Mapping[str, CaseResult]
) -> Iterator[tuple[str, Figure]]:
    """Those of the whole method by their bare names; of parts and baselines with the way before
    them.
    """
    there = [case for case in cases if case.id in results]
    right = sum(results[case.id].true_verdict(case) for case in there)
    absent = [case for case in there if case.expected is not Verdict.REPRODUCED]
    claims = sum(results[case.id].false_claim(case) for case in absent)
    key, name = ("", "") if variant == WHOLE else (f"{variant.key}-", f"{variant.name}: ")
    yield (
        f"{key}verdicts",
        Share(right, len(there)).figure(f"{name}cases with their true verdict"),
    )
    yield (
        f"{key}shown",
        shown_bugs(there, results).figure(f"{name}bugs shown by a script that runs"),
    )
    yield (
        f"{key}claims",
        Share(claims, len(absent)).figure(f"{name}false claims of bugs that are not there"),
    )


def _overall(
    variant: Variant, cases: Sequence[BugCase], results: dict[str, CaseResult]
) -> tuple[str, ...]:
    published = f"{variant.published:.1f} %" if variant.published is not None else "-"
    there = [case for case in cases if case.id in results]
    if not there:
        return (variant.name, NOT_RECORDED, *("-",) * (len(OVERALL) - 3), published)
    ones = [results[case.id] for case in there]
    shown = shown_bugs(there, results)
    return (
        variant.name,
        f"{len(there)} of {len(cases)}",
        f"{sum(results[case.id].true_verdict(case) for case in there)}",
        f"{shown.part} of {shown.whole} ({100 * shown.value:.0f} %)" if shown.whole else "-",
        f"{sum(results[case.id].false_claim(case) for case in there)}",
        f"{median(one.seconds for one in ones):.0f}",
        f"{median(one.own_s for one in ones):.0f}",
        f"{median(one.requests for one in ones):g}",
        f"{sum(one.tokens for one in ones) / len(ones):.0f}",
        _mean_money([one.money for one in ones]),
        published,
    )


def _mean_money(spent: Sequence[Decimal | None]) -> str:
    known = [one for one in spent if one is not None]
    return f"{sum(known) / len(known):.3f}" if len(known) == len(spent) else "unknown"


def _row(case: BugCase, one: CaseResult | None) -> tuple[str, ...]:
    if one is None:
        return (case.id, case.expected.value, NOT_RECORDED, *("-",) * (len(EACH) - 3))
    mark = (
        "FALSE CLAIM" if one.false_claim(case) else "true" if one.true_verdict(case) else "missed"
    )
    return (
        case.id,
        case.expected.value,
        one.verdict.value,
        mark,
        f"{CODES.get(one.on_buggy, 'fails')}, {CODES.get(one.on_fixed, 'fails')}",
        one.in_suite or "-",
        f"{one.attempts}",
        f"{one.requests}",
        f"{one.shown} of {one.seeds}" if one.seeds else "-",
        f"{one.seconds:.0f}",
        f"{one.own_s:.0f}",
        f"{one.tokens}",
        "unknown" if one.money is None else f"{one.money:.3f}",
        f"{one.other_words or '-'}",
    )


def _reasons(cases: Sequence[BugCase], results: Sequence[CaseResult]) -> Iterator[tuple[str, ...]]:
    by_id = {case.id: case for case in cases}
    for one in results:
        if not one.true_verdict(by_id[one.case]):
            yield one.case, one.variant, one.reason
