"""The goals of `python -m benchmarks papers`, those of the whole method alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from benchmarks.papers.case_result import CaseResult
from benchmarks.papers.cases import PaperCase
from benchmarks.papers.variant import WHOLE
from benchmarks.scorecard import Goal
from reenact.paper.measure.verdict import Verdict

NOT_RECORDED = "not recorded"
GAP, FOUND, COST = 0.05, 0.9, 1.87
"""Mean gap below; recall and precision at least; US dollars a run at most, which is
AutoReproduce's mean.
"""


def goals(cases: Sequence[PaperCase], results: Sequence[CaseResult]) -> tuple[Goal, ...]:
    """Each is met only when every case was results."""
    whole = bool(cases) and all(results_of(case, results) for case in cases)
    return tuple(
        goal if whole or goal.met is False else Goal(goal.name, goal.wanted, goal.reached, None)
        for goal in _goals(cases, results)
    )


def _goals(cases: Sequence[PaperCase], results: Sequence[CaseResult]) -> Iterator[Goal]:
    rate, gap = (
        mean(results, lambda one: float(one.executed)),
        mean(results, lambda one: one.gap),
    )
    yield Goal("runs that execute", "100 %", percent(rate), None if rate is None else rate == 1)
    yield Goal(
        "gap to the reference",
        f"< {GAP:.0%}",
        percent(gap),
        None if gap is None else gap < GAP,
    )
    fits = [one.recalled for one in results if one.recalled is not None]
    # A paper of which no fingerprint was taken has the worst one.
    none = [0.0] * (len(results) - len(fits))
    for name, shares in (
        ("recall", [*none, *(one.recall for one in fits)]),
        ("precision", [*none, *(one.precision for one in fits)]),
    ):
        worst = min((share for share in shares if share is not None), default=None)
        met = None if worst is None else worst >= FOUND
        yield Goal(f"{name} of the worst fingerprint", f">= {FOUND}", number(worst), met)
    taken, grounded = sum(one.taken for one in fits), sum(one.grounded for one in fits)
    yield Goal(
        "quotes that stand in the paper",
        "all",
        f"{grounded} of {taken}",
        grounded == taken if taken else None,
    )
    costs = [float(one.at_o3) for one in results if one.at_o3 is not None]
    dearest = max(costs, default=None)
    met = None if dearest is None else dearest <= COST and (len(costs) == len(results) or None)
    yield Goal(
        "US dollars of the dearest run at o3-mini's prices",
        f"<= {COST}",
        number(dearest),
        met,
    )
    yield from _by_truth(cases, results)
    right = sum(
        one.true_verdict(case, WHOLE) for case in cases for one in results_of(case, results)
    )
    yield Goal(
        "true verdicts",
        "all",
        f"{right} of {len(results)}",
        right == len(results) if results else None,
    )


def _by_truth(cases: Sequence[PaperCase], results: Sequence[CaseResult]) -> Iterator[Goal]:
    """A tool that always agrees misses the second goal, one that never does the first."""
    pairs = [(case, one) for case in cases for one in results_of(case, results)]
    for name, wanted in (
        ("true papers that are reproduced", True),
        ("false papers that are not", False),
    ):
        kind = [one for case, one in pairs if (case.expected is Verdict.REPRODUCED) is wanted]
        met = sum((one.verdict is Verdict.REPRODUCED) is wanted for one in kind)
        yield Goal(name, "all", f"{met} of {len(kind)}", met == len(kind) if kind else None)
    other = sum(one.other_words for one in results)
    answered = False if other else True if results else None
    yield Goal("recorded answers to other words than were asked", "0", f"{other}", answered)


def results_of(case: PaperCase, results: Sequence[CaseResult]) -> list[CaseResult]:
    """The tellings of one case."""
    return [one for one in results if one.case == case.id]


def mean(results: Sequence[CaseResult], of: Callable[[CaseResult], float | None]) -> float | None:
    """The mean over cases of the mean over their runs; what is none is left out."""
    by_case: dict[str, list[float]] = {}
    for one in results:
        if (value := of(one)) is not None:
            by_case.setdefault(one.case, []).append(value)
    return fmean(fmean(values) for values in by_case.values()) if by_case else None


def number(value: float | None) -> str:
    """Two digits, or a dash."""
    return "-" if value is None else f"{value:.2f}"


def percent(share: float | None) -> str:
    """A share in per cent, or a dash."""
    return "-" if share is None else f"{100 * share:.1f} %"
