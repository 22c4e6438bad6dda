"""The score card of `python -m benchmarks hypotheses`: wrong claims that count as findings, true
ones that do, and what stopped the others.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from statistics import median

from benchmarks.hypotheses.case import ClaimCase, Effect, TrueClaim, Truth
from benchmarks.hypotheses.case_run import ERROR, UNKNOWN, ClaimResult
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.share import Share
from reenact.claims.verdict import ClaimStatus

MOST_WRONG = 0.1
LEAST_TRUE = 0.75
WRONG = ("case", "domain", "about, expects", "status", "stopped by", "metric", "before", "after")
TRUE = ("case", "fault", "effect", "status", "stopped by", "metric", "before", "after")
NOWHERE = "nothing"
STRICT = (ClaimStatus.REFUTED, ClaimStatus.NOT_TESTED, ERROR)
"""What a true claim must not become: a gate is too strict."""

Pair = tuple[ClaimCase, ClaimResult]


def scorecard(
    cases: Sequence[ClaimCase], results: Sequence[ClaimResult], *, effect: bool, whole: bool
) -> Scorecard:
    """`whole`: every case was asked for. A part of them meets no goal, but may miss one."""
    pairs = list(zip(cases, results, strict=True))
    wrong = [pair for pair in pairs if pair[0].truth is Truth.WRONG]
    true = [pair for pair in pairs if pair[0].truth is Truth.TRUE]
    measured = _measured(*(list(filter(_executed, some)) for some in (wrong, true)))
    whole = whole and all(map(_executed, pairs))
    return Scorecard(
        name="hypotheses" if effect else "hypotheses-gates",
        figures=f"{measured['wrong']:count} wrong claims proven or likely, "
        f"{measured['true']:count} true ones, {measured['strict']:count} true ones refuted or "
        "not tested",
        goals=_goals(measured, effect=effect, whole=whole),
        measured=measured,
        tables=(
            Table("Wrong claims about sound programs", WRONG, tuple(map(_wrong_row, wrong))),
            Table("True claims", TRUE, tuple(map(_true_row, true))),
            Table(
                "What stopped them", ("what", "wrong claims", "true claims"), _stops(wrong, true)
            ),
            Table("Why", ("case", "saw", "seconds"), tuple(map(_reason, pairs))),
        ),
        facts={"results": [asdict(result) for result in results]},
        cases=_digest(cases),
    )


def _executed(pair: Pair) -> bool:
    return pair[1].status != UNKNOWN


def _measured(wrong: Sequence[Pair], true: Sequence[Pair]) -> dict[str, Figure]:
    costly = [pair for pair in true if _costs(pair[0])]
    shares = {
        "wrong": ("wrong claims that are proven or likely", _counted(wrong)),
        "passed": (
            "wrong claims that pass every gate but the effect",
            Share(sum(not result.gate for _, result in wrong), len(wrong)),
        ),
        "true": ("true claims that are proven or likely", _counted(true)),
        "costly": (
            "true claims that are proven or likely, of those with an effect",
            _counted(costly),
        ),
        "strict": (
            "true claims that are refuted or not tested",
            Share(sum(result.status in STRICT for _, result in true), len(true)),
        ),
    }
    return {name: share.figure(words) for name, (words, share) in shares.items()}


def _counted(pairs: Sequence[Pair]) -> Share:
    return Share(sum(result.counts for _, result in pairs), len(pairs))


def _costs(case: ClaimCase) -> bool:
    """Whether the fault of a true claim moves the metric."""
    return isinstance(case, TrueClaim) and case.effect is not Effect.NONE


def _goals(measured: dict[str, Figure], *, effect: bool, whole: bool) -> tuple[Goal, ...]:
    """Without the effect nothing can be proven or likely: then gates that are too strict are all
    that can be judged.
    """
    wrong, costly, strict = measured["wrong"], measured["costly"], measured["strict"]
    return (
        Goal(
            "wrong claims proven or likely",
            f"<= {MOST_WRONG:.0%}",
            f"{wrong:count}",
            _met((wrong.value or 0.0) <= MOST_WRONG, wrong, effect and whole),
        ),
        Goal(
            "true claims with an effect proven or likely",
            f">= {LEAST_TRUE:.0%}",
            f"{costly:count}",
            _met((costly.value or 0.0) >= LEAST_TRUE, costly, effect and whole) if effect else None,
        ),
        Goal(
            "true claims refuted or not tested",
            "0",
            f"{strict:count}",
            _met(not strict.part, strict, whole),
        ),
    )


def _met(held: bool, figure: Figure, judged: bool) -> bool | None:
    if not figure.whole:
        return None
    if not held:
        return False
    return True if judged else None


def _wrong_row(pair: Pair) -> tuple[str, ...]:
    case, result = pair
    said = f"{case.about.value}, {case.expects.value}"
    return (case.folder.name, case.domain, said, *_outcome(result))


def _true_row(pair: Pair) -> tuple[str, ...]:
    case, result = pair
    assert isinstance(case, TrueClaim)
    return (case.folder.name, case.fault, case.effect.value, *_outcome(result))


def _outcome(result: ClaimResult) -> tuple[str, ...]:
    """Status, what stopped it, and the metric before and after."""
    status = result.status.upper() if result.counts else result.status
    return (
        status,
        _stop(result),
        result.metric,
        _middle(result.before),
        _middle(result.after),
    )


def _stop(result: ClaimResult) -> str:
    """A gate by its name; the effect by what the metric did."""
    if result.counts:
        return NOWHERE
    if result.status in (ERROR, UNKNOWN):
        return result.status
    if result.gate:
        return result.gate
    return f"effect: {result.moved}" if result.moved else "nothing was trained"


def _middle(values: Sequence[float]) -> str:
    return f"{median(values):.4g}" if values else ""


def _stops(wrong: Sequence[Pair], true: Sequence[Pair]) -> tuple[tuple[str, str, str], ...]:
    counts = [Counter(_stop(result) for _, result in pairs) for pairs in (wrong, true)]
    names = sorted({*counts[0], *counts[1]}, key=lambda name: (-counts[0][name], name))
    return tuple((name, str(counts[0][name]), str(counts[1][name])) for name in names)


def _reason(pair: Pair) -> tuple[str, str, str]:
    case, result = pair
    return case.id, result.saw, f"{result.seconds:.0f}"


def _digest(cases: Sequence[ClaimCase]) -> str:
    mark = hashlib.sha256()
    for case in cases:
        mark.update(f"{case.id} {case.identity}\n".encode())
    return mark.hexdigest()
