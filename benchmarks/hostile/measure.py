"""`python -m benchmarks sandbox`: every hostile program and every benign twin on every tier that
works here.

Goals hold for the tier that is used when none is named, or for the one asked for: all attacks
contained and named correctly, their boxes gone within 2 s of the deadline, the host unchanged, the
supervisor small, all twins alive. What a machine lacks (torch, a kind of processor) is listed apart
and counts neither way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.hostile.case import Case, benign_cases, hostile_cases
from benchmarks.hostile.judge import Judgement, judge, lacking
from benchmarks.hostile.start_cost import StartCost, start_cost
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.share import Share
from reenact.errors import Stopped
from reenact.sandbox.box import MIB
from reenact.sandbox.choose import TierReport, choose, describe
from reenact.types import JsonValue, Progress, Stop, Tell

_CHECKS = ("contained", "named", "gone", "unchanged", "small")


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of all programs on one tier."""

    tier: str
    hostile: tuple[Judgement, ...]
    benign: tuple[Judgement, ...]
    cost: StartCost | None

    def count(self, check: str) -> str:
        """How many hostile programs pass a check, of how many."""
        return _share(bool(getattr(judgement, check)) for judgement in self.hostile)

    def all(self, check: str) -> bool | None:
        """Whether every hostile program passes a check; none when none was run."""
        return (
            all(getattr(judgement, check) for judgement in self.hostile) if self.hostile else None
        )

    @property
    def alive(self) -> str:
        """How many benign twins ran as on a plain machine."""
        return _share(judgement.passed for judgement in self.benign)


def measure(*, tier: str | None, tell: Tell, stop: Stop) -> Scorecard:
    """Run the suite on one named tier, or on every one that protects and works here."""
    reports = describe()
    names = [tier] if tier is not None else [report.name for report in reports if _protects(report)]
    judged = tier or next((report.name for report in reports if report.chosen), "")
    if tier is not None:
        choose(tier, trust_code=True)
    measured = [_measure_tier(name, tell, stop) for name in names]
    return score(
        measured,
        judged,
        {report.name: report.missing for report in reports if not report.works},
    )


def score(measured: Sequence[Measured], judged: str, not_working: Mapping[str, str]) -> Scorecard:
    """The scorecard of what was measured; goals are those of the tier `judged`."""
    main = next((one for one in measured if one.tier == judged), None)
    return Scorecard(
        name="sandbox",
        figures=_figures(main),
        goals=_goals(main),
        tables=(
            _overview(measured),
            _lacking_table(),
            *(_failures(one) for one in measured if _failed(one)),
        ),
        facts={
            "tiers": [_facts(one) for one in measured],
            "not_working": dict(not_working),
        },
        measured=_measured(main) if main is not None else {},
    )


def _measured(main: Measured) -> dict[str, Figure]:
    shares = {
        check: [bool(getattr(judgement, check)) for judgement in main.hostile] for check in _CHECKS
    } | {"alive": [judgement.passed for judgement in main.benign]}
    return {name: Share(sum(held), len(held)).figure(name) for name, held in shares.items()}


def _protects(report: TierReport) -> bool:
    return report.works and report.name != "none"


def _measure_tier(tier: str, tell: Tell, stop: Stop) -> Measured:
    cases = [case for case in (*hostile_cases(), *benign_cases()) if _runs_on(case, tier)]
    done: list[Judgement] = []
    for number, case in enumerate(cases):
        if stop.asked:
            raise Stopped("The benchmark was stopped.")
        tell(Progress(f"sandbox {tier}", number, len(cases), f"{case.id} {case.title}"))
        done.append(judge(case, tier))
    tell(Progress(f"sandbox {tier}", len(cases), len(cases), "start cost"))
    return Measured(
        tier,
        tuple(judgement for judgement in done if judgement.case.hostile),
        tuple(judgement for judgement in done if not judgement.case.hostile),
        start_cost(tier),
    )


def _runs_on(case: Case, tier: str) -> bool:
    """Without a sandbox only those run that do no lasting harm."""
    harmless = not case.hostile or case.unconfined == "escapes"
    return not lacking(case) and (tier != "none" or harmless)


def _goals(main: Measured | None) -> tuple[Goal, ...]:
    if main is None:
        return (Goal("a sandbox works here", "yes", "no", None),)
    wanted = {
        "contained": "attacks contained",
        "named": "endings named correctly",
        "gone": "boxes gone within 2 s of the deadline",
        "unchanged": "host unchanged",
        "small": "supervisor below 200 MB",
    }
    goals = [Goal(wanted[check], "100 %", main.count(check), main.all(check)) for check in _CHECKS]
    alive = all(judgement.passed for judgement in main.benign) if main.benign else None
    return (*goals, Goal("benign twins alive", "100 %", main.alive, alive))


def _figures(main: Measured | None) -> str:
    if main is None:
        return "no sandbox works here"
    shares = ", ".join(f"{main.count(check)} {check}" for check in _CHECKS)
    cost = f", start {main.cost}" if main.cost else ""
    return f"{main.tier}: {shares}, {main.alive} benign alive{cost}"


def _overview(measured: Sequence[Measured]) -> Table:
    rows = [
        (
            one.tier,
            *(one.count(check) for check in _CHECKS),
            one.alive,
            str(one.cost or "not measured"),
        )
        for one in measured
    ]
    columns = (
        "tier",
        "contained",
        "named",
        "gone",
        "host unchanged",
        "small",
        "benign",
        "start cost",
    )
    return Table("Hostile programs and benign twins, by tier", columns, tuple(rows))


def _lacking_table() -> Table:
    apart = [case for case in (*hostile_cases(), *benign_cases()) if lacking(case)]
    rows = tuple((case.id, case.title, f"needs {lacking(case)}") for case in apart)
    return Table("Not run on this machine", ("program", "title", "why"), rows)


def _failures(one: Measured) -> Table:
    rows = tuple(
        (judgement.case.id, judgement.case.title, "; ".join(judgement.complaints))
        for judgement in _failed(one)
    )
    return Table(f"Not passed on {one.tier}", ("program", "title", "what was seen"), rows)


def _failed(one: Measured) -> list[Judgement]:
    return [judgement for judgement in (*one.hostile, *one.benign) if not judgement.passed]


def _facts(one: Measured) -> JsonValue:
    return {
        "tier": one.tier,
        "start_cost": one.cost.facts() if one.cost else None,
        "programs": [_fact(judgement) for judgement in (*one.hostile, *one.benign)],
    }


def _fact(judgement: Judgement) -> JsonValue:
    checks = {check: bool(getattr(judgement, check)) for check in _CHECKS}
    return {
        "id": judgement.case.id,
        "title": judgement.case.title,
        "ending": judgement.ending,
        "passed": judgement.passed,
        **checks,
        "late_s": round(judgement.late_s, 3),
        "supervisor_mib": judgement.supervisor_bytes // MIB,
        "complaints": list(judgement.complaints),
    }


def _share(passed: Iterable[bool]) -> str:
    found = list(passed)
    return f"{sum(found)}/{len(found)}"
