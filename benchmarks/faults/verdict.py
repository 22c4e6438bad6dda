"""The score card of `python -m benchmarks faults`: goals, families, published tools, a row per fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import median

from benchmarks.faults.calibration import statements_of
from benchmarks.faults.calibration import table as calibration_table
from benchmarks.faults.case import STUDY, TOOLS, FaultCase, PublishedMeans, Scale, Side
from benchmarks.faults.case_result import PIPELINE, QUICK, CaseResult
from benchmarks.faults.neutrality import shipped
from benchmarks.faults.programs import availability
from benchmarks.faults.scores import Score, Truth, mean_score
from benchmarks.faults.table import FaultTable, Reading, tabulate
from benchmarks.faults.together import combined
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.share import Share, mean_figure
from reenact.diagnosis.options import Depth
from reenact.faults.families import FAMILIES
from reenact.types import JsonValue

LEAST_RUNNABLE = 18
SCORED = ("recall", "precision", "F3")
COLUMNS = (
    "detector",
    "recall",
    "precision",
    "F3",
    "recall+",
    "precision+",
    "F3+",
    "false alarms",
)
PEER_FAMILY = {
    "DeepDiagnosis": "deepdiagnosis",
    "NeuraLint": "neuralint",
    "UMLAUT": "umlaut",
}
"""Published tools whose rules are a family here."""


def scorecard(
    results: Sequence[CaseResult],
    cases: Sequence[FaultCase],
    missing: Mapping[str, str],
    scale: Scale,
    depth: Depth,
    published: PublishedMeans,
) -> Scorecard:
    """Everything that was results, scored."""
    readings = {name: _readings(results, name) for name in (*FAMILIES, QUICK, PIPELINE)}
    own = shipped(scale)
    tables = {name: tabulate(reading, cases, own=own or None) for name, reading in readings.items()}
    ours = tables[PIPELINE]
    ran = {line.case.id for line in ours.lines if line.case.study}
    known = ran | {case.id for case in cases if case.study and case.id in missing}
    whole = depth is Depth.NORMAL and len(ran) >= LEAST_RUNNABLE and len(known) == STUDY
    ratios = [
        one.seconds["quick"] / one.seconds["plain"] for one in results if one.side is Side.BUGGY
    ]
    goals = _goals(ours, ratios, whole) if ours.lines else ()
    mean = ours.mean() if ours.lines else Score(0, 0, 0)
    return Scorecard(
        name=f"faults-{scale}" + ("" if depth is Depth.NORMAL else f"-{depth}"),
        figures=(
            f"recall {mean.recall:.2f}, precision {mean.precision:.2f}, F3 {mean.f3:.2f} after "
            f"alternatives, {len(ours.lines)} faults, false alarms {_share(ours.false_alarm_rate)}"
        ),
        goals=goals,
        tables=(
            _families(tables, published),
            Table(
                "Families together",
                COLUMNS,
                tuple(_row(*pair) for pair in combined(readings, cases)),
            ),
            _faults(ours, results),
            *_own(ours, own),
            _twins(results),
            _calibration(results, cases),
            Table("Not run", ("fault", "why"), tuple(missing.items())),
        ),
        measured=_figures(ours),
        facts={"programs": [_facts(one) for one in results], "missing": dict(missing)},
    )


def _figures(ours: FaultTable) -> dict[str, Figure]:
    figures = {}
    for group, origin in (("", "all"), ("artificial", "artificial"), ("real", "real")):
        lines = [line for line in ours.lines if group in ("", line.case.origin)]
        for name in ("recall", "precision"):
            values = [getattr(line.after, name) for line in lines]
            key = f"{name}_{group}".rstrip("_")
            figures[key] = mean_figure(f"{name}, {origin} faults, after alternatives", values)
    f3 = mean_figure("F3, all faults, after alternatives", [line.after.f3 for line in ours.lines])
    twins = [line.false_alarm for line in ours.lines if line.false_alarm is not None]
    alarms = Share(sum(alarm > 0 for alarm in twins), len(twins)).figure(
        "fixed twins with a false finding"
    )
    return {
        **figures,
        "f3": f3,
        "alarms": alarms,
        "faults": Figure("faults", len(ours.lines), digits=0),
    }


def _readings(results: Sequence[CaseResult], detector: str) -> list[Reading]:
    grouped: dict[tuple[str, Side], list[CaseResult]] = {}
    for one in results:
        grouped.setdefault((one.case, one.side), []).append(one)
    return [
        Reading(
            case,
            side,
            tuple(one.answer(detector) for one in group),
            sum(one.seconds["pipeline"] for one in group) / len(group),
        )
        for (case, side), group in grouped.items()
    ]


def _goals(ours: FaultTable, ratios: Sequence[float], whole: bool) -> tuple[Goal, ...]:
    mean, alarms, ratio = ours.mean(), ours.false_alarm_rate, median(ratios)

    def goal(name: str, wanted: str, reached: str, held: bool) -> Goal:
        return Goal(name, wanted, reached, held if whole else None)

    return (
        goal(
            "recall, after alternatives",
            ">= 0.95 (published best 0.91)",
            f"{mean.recall:.3f}",
            mean.recall >= 0.95,
        ),
        goal("F3", ">= 0.85 (published best 0.79)", f"{mean.f3:.3f}", mean.f3 >= 0.85),
        goal(
            "precision",
            ">= 0.60 (published best 0.46)",
            f"{mean.precision:.3f}",
            mean.precision >= 0.6,
        ),
        Goal(
            "fixed twins with a false finding",
            "<= 5 %",
            _share(alarms),
            alarms <= 0.05 if whole and alarms is not None else None,
        ),
        goal(
            "cost of quick, median, against one plain training",
            "<= 1.5",
            f"{ratio:.2f}",
            ratio <= 1.5,
        ),
    )


def _families(tables: Mapping[str, FaultTable], published: PublishedMeans) -> Table:
    rows = [_row(name, table) for name, table in tables.items() if table.lines]
    for tool in TOOLS:
        before, after = published.before["all"][tool], published.after["all"][tool]
        rows.append((f"{tool} (published)", *_cells(before), *_cells(after), "-"))
    return Table(
        f"Means over the faults (+: after alternatives; published over {STUDY})",
        COLUMNS,
        tuple(rows),
    )


def _row(name: str, table: FaultTable) -> tuple[str, ...]:
    before, after = table.mean("before"), table.mean("after")
    return (name, *_cells(before), *_cells(after), _share(table.false_alarm_rate))


def _calibration(results: Sequence[CaseResult], cases: Sequence[FaultCase]) -> Table:
    by_id = {case.id: case for case in cases}
    return calibration_table(
        [
            statement
            for one in results
            for statement in statements_of(
                one.reported, by_id[one.case], fixed=one.side is Side.FIXED
            )
        ]
    )


def _own(ours: FaultTable, own: Mapping[str, Sequence[Truth]]) -> Iterator[Table]:
    """The faults that our own walks were made for, scored with what they found."""
    lines = [line for line in ours.lines if line.own is not None and own.get(line.case.id)]
    if not lines:
        return
    rows: list[tuple[str, ...]] = [
        (
            line.case.id,
            str(len(own[line.case.id])),
            *_cells(line.before),
            *_cells(line.after),
            *_cells(line.own),
        )
        for line in lines
        if line.own is not None
    ]
    means = [
        mean_score(getattr(line, column) for line in lines) for column in ("before", "after", "own")
    ]
    rows.append(("mean", "", *(cell for score in means for cell in _cells(score))))
    columns = (
        "fault",
        "found",
        *(f"{name}{mark}" for mark in ("", "+", "*") for name in SCORED),
    )
    yield Table("With alternatives of our own neutrality analysis too (*)", columns, tuple(rows))


def _faults(ours: FaultTable, results: Sequence[CaseResult]) -> Table:
    by_case = {one.case: one for one in results if one.side is Side.BUGGY}
    rows = tuple(
        (
            line.case.id,
            availability(line.case).data.label,
            ", ".join(map(str, line.case.truth)),
            _words(by_case[line.case.id].answers[PIPELINE]),
            *_cells(line.after),
            f"{line.seconds:.0f}",
            f"{line.f3_sigma:.2f}",
        )
        for line in ours.lines
    )
    columns = (
        "fault",
        "data",
        "known",
        "reported",
        "recall+",
        "precision+",
        "F3+",
        "s",
        "sigma",
    )
    return Table("Each fault", columns, rows)


def _twins(results: Sequence[CaseResult]) -> Table:
    rows = tuple(
        (
            one.case,
            "; ".join(one.findings) or "no fault found",
            f"{one.seconds['pipeline']:.0f}",
        )
        for one in results
        if one.side is Side.FIXED
    )
    return Table("Fixed twins", ("program", "reported", "s"), rows)


def _cells(score: Score) -> tuple[str, str, str]:
    return (f"{score.recall:.2f}", f"{score.precision:.2f}", f"{score.f3:.2f}")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _words(answer: Sequence[tuple[str, int | None]]) -> str:
    return (
        ", ".join(fault if layer is None else f"{fault}({layer})" for fault, layer in answer) or "-"
    )


def _facts(one: CaseResult) -> JsonValue:
    return {
        **asdict(one),
        "side": one.side.value,
        "answers": {k: list(map(list, v)) for k, v in one.answers.items()},
    }
