"""REPORT.md: verdict, claims against measured, criteria with sentences and lines, and what was not done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, stdev

from reenact.paper.criterion import Judged, Value
from reenact.paper.develop.development import Round, in_short
from reenact.paper.measure.curves.course import NOTHING, Course, courses
from reenact.paper.measure.gap import Comparison
from reenact.paper.measure.gap_repair import GapRepair
from reenact.paper.measure.runs import metric_names, values
from reenact.paper.reproduction import Reproduction


def report_text(found: Reproduction) -> str:
    """The whole report."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Reproduction) -> Iterator[str]:
    yield f"# {found.paper.title}"
    yield ""
    yield f"**{found.verdict.value[:1].upper()}{found.verdict.value[1:]}.** {found.judgement.reason}"
    yield ""
    yield from facts_lines(found)
    yield from _table("Claims", CLAIM_COLUMNS, [claim_cells(one) for one in found.comparisons])
    yield from _table("Measured", METRIC_COLUMNS, metric_rows(found))
    yield from _training(found)
    yield from _table("Criteria", CRITERION_COLUMNS, criterion_rows(found))
    yield from _table("Rounds", ROUND_COLUMNS, [round_cells(one) for one in found.development.rounds])
    yield from _lineage(found)
    if found.mending is not None:
        yield from ("", "## What the paper may not say", "", *mending_lines(found.mending))
    yield from _listed("Notes", found.every_note())


def facts_lines(found: Reproduction) -> Iterator[str]:
    """What it took, a line each."""
    gap = found.judgement.gap
    passed, failed, unknown = (found.count(value) for value in Value)
    counted = f"{passed} pass, {failed} fail, {unknown} cannot be judged"
    lost = len(found.paper.lost)
    yield f"- paper: {found.paper.source} ({found.paper.form}; {lost} things lost in reading)"
    measured = sum(one.measured is not None for one in found.comparisons)
    claims = f"{len(found.comparisons)} claims, {measured} of them measured"
    yield f"- gap: {'unknown' if gap is None else f'{gap:.1%}'} over {claims}"
    yield f"- criteria: {counted}; {len(found.fingerprint.dropped)} proposals dropped"
    yield f"- code: {len(found.development.project.files)} files, {len(found.development.rounds)} rounds"
    yield f"- runs: {sum(run.ok for run in found.runs)} of {len(found.runs)} counted"
    if found.scale < 1:
        yield f"- scale: {found.scale:.0%} of the paper's training"
    if found.development.stand_in:
        yield f"- data: a synthetic stand-in: {found.development.stand_in}"
    cost = "price unknown" if found.money is None else f"${found.money}"
    yield f"- model: {found.tokens} tokens, {cost}; time: {found.seconds:.0f} s"
    if found.reused:
        yield f"- taken over: {found.reused} steps of earlier runs, whose cost and time are not counted above"


def mending_lines(found: GapRepair) -> Iterator[str]:
    """What a repair found within what the paper leaves open."""
    yield found.sentence
    yield from (f"- {hypothesis}" for hypothesis in found.hypotheses)
    for one in found.comparisons:
        yield f"- {one.claim.id} with it: {' '.join(claim_cells(one)[2:7])}"
    if found.kept_fixed:
        yield f"- left alone, because the paper fixes it: {', '.join(found.kept_fixed)}"


CLAIM_COLUMNS = ("", "claim", "paper", "measured", "runs", "gap", "grade", "what differs")


def claim_cells(one: Comparison) -> tuple[str, ...]:
    """A claim beside its measure."""
    claim = one.claim
    spread = "" if one.spread is None else f" ± {one.spread:.3g}"
    got = "-" if one.measured is None else f"{one.measured:.4g}{claim.unit}{spread}"
    said = f"{claim.value:g}{claim.unit}" + ("" if claim.spread is None else f" ± {claim.spread:g}")
    what = ", ".join(part for part in (claim.metric, claim.method, claim.dataset, claim.setting) if part)
    told = " ".join(part for part in (*one.differs, one.note) if part)
    return (
        claim.id,
        f"{what} [{claim.place}]",
        said,
        got,
        str(one.n),
        f"{one.gap:.1%}",
        one.grade.value,
        told,
    )


METRIC_COLUMNS = ("metric", "mean", "spread", "runs", "claim")
MOST_METRICS = 80
"""Rows of a report; all of them are in its data."""


def metric_rows(found: Reproduction) -> list[tuple[str, ...]]:
    """Every metric that the full runs left, whether or not the paper has a number for it."""
    claims = {one.metric: one.claim.id for one in found.comparisons if one.measured is not None}
    names = metric_names(found.runs)
    rows = [_metric_cells(name, values(found.runs, name), claims.get(name, "")) for name in names]
    left = len(rows) - MOST_METRICS
    return rows if left <= 0 else [*rows[:MOST_METRICS], (f"and {left} more", "", "", "", "")]


def _metric_cells(name: str, got: Sequence[float], claim: str) -> tuple[str, ...]:
    spread = f"{stdev(got):.3g}" if len(got) > 1 else "-"
    return name, f"{fmean(got):.4g}", spread, str(len(got)), claim


TRAINING_COLUMNS = ("value", "training", "seeds", "first", "last", "until")


def _training(found: Reproduction) -> Iterator[str]:
    """What the full runs say of their training; the pictures are in the html report."""
    told = courses(found.runs)
    yield from _table("Training", TRAINING_COLUMNS, [_course_cells(one) for one in told])
    if found.runs and not told:
        yield from ("", "## Training", "", NOTHING)


def _course_cells(one: Course) -> tuple[str, ...]:
    first, last = (f"{end:.4g}" for end in one.ends) if one.ends is not None else ("-", "-")
    odd = f"; {one.broken} with values that are no numbers" if one.broken else ""
    return one.metric, one.label, ", ".join(map(str, one.seeds)), first, last, f"{one.until}{odd}"


CRITERION_COLUMNS = ("", "what must hold", "found", "in the paper", "in the code", "why")


def criterion_rows(found: Reproduction) -> list[tuple[str, ...]]:
    """A criterion, its sentence, its lines."""
    by_id = {one.criterion: one for one in found.judged}
    return [
        (one.id, one.fact, _value(by_id.get(one.id)), ", ".join(one.places), *_seen(by_id.get(one.id)))
        for one in found.fingerprint.criteria
    ]


def _value(one: Judged | None) -> str:
    return "not verified" if one is None else f"{one.value.value} ({one.by})"


def _seen(one: Judged | None) -> tuple[str, str]:
    return ("", "") if one is None else (", ".join(map(str, one.lines[:6])), one.reason)


ROUND_COLUMNS = ("round", "stage", "runs", "pass", "fail", "unknown", "turned", "lines changed")


def round_cells(one: Round) -> tuple[str, ...]:
    """A version of the code."""
    counts = (str(len(ids)) for ids in (one.passed, one.failed, one.unknown))
    return (
        str(one.number), one.stage.value, "yes" if one.runs else "no", *counts, in_short(one.turned),
        str(one.edits),
    )  # fmt: skip


def _lineage(found: Reproduction) -> Iterator[str]:
    if not found.exemplars:
        return
    yield from ("", "## Lineage", "")
    for one in found.exemplars:
        code = (
            f"; code from {one.repository} ({one.licence or 'no licence stated'})" if one.repository else ""
        )
        yield f"- **{one.title}** [{one.key}]: {one.why}{code}"
        yield from (f"  - {note}" for note in one.notes)


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        return
    yield from ("", f"## {title}", "", _row(columns), _row(["---"] * len(columns)))
    yield from (_row(row) for row in rows)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"


def _listed(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from ("", f"## {title}", "", *(f"- {' '.join(line.split())}" for line in lines))
