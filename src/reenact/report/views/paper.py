"""A paper: verdict and claims first, its text beside the code, lineage, rounds, full runs."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from statistics import fmean, stdev

from reenact.paper.criterion import Value
from reenact.paper.develop.development import Round, in_short
from reenact.paper.lineage.trace import Exemplar
from reenact.paper.measure.curves import NOTHING
from reenact.paper.measure.gap import Comparison, Grade
from reenact.paper.measure.gap_repair import GapRepair
from reenact.paper.measure.runs import FullRun, metric_names, values
from reenact.paper.measure.verdict import Ordering, OrderingStatus
from reenact.paper.options import share
from reenact.paper.reproduction import Reproduction
from reenact.paper.review.claims import PLACE
from reenact.report.charts import Dot, graph_plot
from reenact.report.document import (
    Block,
    Board,
    Diagnostic,
    Document,
    Facts,
    Fold,
    Level,
    Row,
    Section,
    Source,
    Text,
)
from reenact.report.render import render
from reenact.report.svg import COLOURS, number
from reenact.report.views.paper_parts import first_place, side_by_side, training_plots
from reenact.types import Place, Table

RESULT = Reproduction
CODE, NAME = "PR001", "criterion-not-met"
TONES = {Value.PASS: "good", Value.FAIL: "error", Value.CONTRADICTED: "warning"}
GRADES = {Grade.A: "good", Grade.D: "error"}
BLUE, ORANGE, GREEN = COLOURS[:3]
GREY = "#8f8f8f"
MEANING = {ORANGE: "this paper", GREEN: "cited, with code", BLUE: "cited", GREY: "a file of its code"}


def paper_document(found: Reproduction) -> Document:
    """The whole answer."""
    return Document(
        kind="paper",
        title=f"Paper: {found.paper.title}",
        verdict=found.sentence,
        blocks=tuple(_sections(found)),
        diagnostics=tuple(_diagnostics(found)),
        data=found.to_dict(),
        reused=found.reused_line,
        exit_code=found.verdict.exit_code,
    )


def paper_report(found: Reproduction) -> dict[str, str]:
    """The report as text and as a page, by the names of their files."""
    document = paper_document(found)
    return {"REPORT.md": render(document, "markdown"), "report.html": render(document, "html")}


def _sections(found: Reproduction) -> Iterator[Section]:
    """As a report of a reproduction is read: what holds, how it trained, what differs, then the evidence."""
    yield Section("Claims", list(_claims(found)), "claims")
    if metrics := _metric_rows(found):
        yield Section("Measured", [Table("", METRIC_COLUMNS, tuple(metrics))], "measured")
    if found.runs:
        yield Section("Training", list(_training(found)), "training")
        yield Section("Full runs", list(_runs(found)), "runs", page_only=True)
    if notes := list(_notes(found)):
        yield Section("Deviations and assumptions", notes, "notes")
    if found.gap_repair is not None:
        yield Section("What the paper may not say", list(_gap_repair(found.gap_repair)), "gap-repair")
    if found.fingerprint.criteria:
        yield Section("Criteria", list(_criteria(found)), "criteria")
    if found.fingerprint.criteria or found.paper.sections:
        yield Section("Paper and code", [side_by_side(found)], "text", page_only=True)
    else:
        files = found.development.project.files
        yield Section("Code", [Source(*one) for one in files.items()], "code", page_only=True)
    if found.development.rounds:
        yield Section("Rounds", list(_rounds(found.development.rounds)), "rounds")
    if found.exemplars:
        yield Section("Lineage", list(_lineage(found)), "lineage")


NOTES = {
    "Decided: ": "Decided where the paper is silent",
    "Assumed: ": "Assumed by the code",
    "Open: ": "Open questions",
    "Lost in reading: ": "Lost in reading",
    "Not taken for a claim: ": "Not taken for a claim",
    "Not asked for, and not compared: ": "Not asked for, and not compared",
    "Left out of the review: ": "Left out of the review",
}
"""How a note begins, and the list that it stands in."""


def _notes(found: Reproduction) -> Iterator[Text]:
    """How the experiment is not the paper's, then the notes by kind, each in a list of its own."""
    differs = dict.fromkeys(text for one in found.comparisons for text in one.differs)
    lists: dict[str, list[str]] = {"Deviations from the paper": list(differs)}
    lists |= {title: [] for title in NOTES.values()}
    for note in found.every_note():
        start = next((start for start in NOTES if note.startswith(start)), "")
        lists.setdefault(NOTES.get(start, "Other notes"), []).append(note.removeprefix(start))
    for title, lines in lists.items():
        if lines:
            yield Text("\n".join(" ".join(line.split()) for line in lines), title, is_list=True)


def _claims(found: Reproduction) -> Iterator[Block]:
    if found.orderings:
        yield Board("Orderings", ORDERING_COLUMNS, [_ordering(one) for one in found.orderings])
    if found.comparisons:
        linked = bool(found.paper.sections)
        rows = [_claim(one, linked=linked) for one in found.comparisons]
        yield Board("Numbers" if found.orderings else "", CLAIM_COLUMNS, rows)
    else:
        yield Text("The paper states no number that could be compared.")
    yield Facts("", tuple(_facts(found)))


def _facts(found: Reproduction) -> Iterator[tuple[str, str]]:
    """What it took."""
    gap, made = found.judgement.gap, found.development
    measured = sum(one.measured is not None for one in found.comparisons)
    claims = f"{len(found.comparisons)} claims, {measured} of them measured"
    passed, failed, unknown, contradicted = (found.count(value) for value in Value)
    counted = f"{passed} pass, {failed} fail, {unknown} cannot be judged"
    counted += f", {contradicted} where the paper contradicts itself" if contradicted else ""
    yield "asked for", found.goal.text()
    lost = f"{len(found.paper.lost)} things lost in reading"
    yield "paper", f"{PurePosixPath(found.paper.source).name} ({found.paper.form}; {lost})"
    yield "gap", f"{'unknown' if gap is None else f'{gap:.1%}'} over {claims}"
    yield "criteria", f"{counted}; {len(found.fingerprint.dropped)} proposals dropped"
    if found.judges is not None:
        yield "judges", found.judges.sentence
    yield "code", f"{len(made.project.files)} files, {len(made.rounds)} rounds"
    yield "runs", f"{sum(run.ok for run in found.runs)} of {len(found.runs)} counted"
    if found.scale < 1:
        yield "scale", f"{share(found.scale)} of the paper's training"
    if made.stand_in:
        yield "data", f"a synthetic stand-in: {made.stand_in}"
    cost = "price unknown" if found.money is None else f"${found.money}"
    yield "model", f"{found.tokens} tokens, {cost}; time: {found.seconds:.0f} s"
    if found.estimate is not None:
        yield "estimated", found.estimate.sentence
    if found.reused:
        yield "taken over", f"{found.reused} steps of earlier runs, whose cost and time are not counted above"
    if found.folder is not None:
        yield "written", f"{found.folder}/"


ORDERING_COLUMNS = ("", "claim", "paper", "measured", "seeds", "")
STATUS_TONES = {
    OrderingStatus.HOLDS: "good",
    OrderingStatus.SMALLER: "warning",
    OrderingStatus.FAILS: "error",
}


def _ordering(one: Ordering) -> Row:
    """A claimed difference beside the measured one, with its 95 % limits."""
    unit = one.better.unit
    limits = "" if one.low is None or one.high is None else f" [{one.low:.3g}, {one.high:.3g}]"
    got = "-" if one.measured is None else f"{one.measured:+.3g}{unit}{limits}"
    cells = (one.ids, str(one), f"{one.claimed:+.3g}{unit}", got, str(one.n), one.status.value)
    return Row(cells, tone=STATUS_TONES.get(one.status, ""))


CLAIM_COLUMNS = ("", "claim", "paper", "measured", "runs", "gap", "grade", "what differs")


def _claim(one: Comparison, *, linked: bool) -> Row:
    """A claim beside its measure."""
    claim = one.claim
    spread = "" if one.spread is None else f" ± {one.spread:.3g}"
    got = "-" if one.measured is None else f"{one.measured:.4g}{claim.unit}{spread}"
    stated = f"{claim.bound}{claim.value:g}{claim.unit}" + (
        "" if claim.spread is None else f" ± {claim.spread:g}"
    )
    what = ", ".join(part for part in (claim.metric, claim.method, claim.dataset, claim.setting) if part)
    what += " (read off a figure)" if claim.read_off else ""
    count = f"{len(one.differs)} settings, see below." if len(one.differs) > 1 else "".join(one.differs)
    differs = " ".join(part for part in (count, one.note) if part)
    gap, grade = f"{one.gap:.1%}", one.grade.value
    return Row(
        (claim.id, f"{what} [{claim.place}]", stated, got, str(one.n), gap, grade, differs),
        tone=GRADES.get(one.grade, ""),
        anchor=f"claim-{claim.id}" if linked else "",
        hrefs={0: f"#p-{claim.place}"} if linked and claim.place != PLACE else {},
    )


METRIC_COLUMNS = ("metric", "mean", "spread", "runs", "claim")
MOST_METRICS = 80
"""Rows of a report; all of them are in its data."""


def _metric_rows(found: Reproduction) -> list[tuple[str, ...]]:
    """Every metric that the full runs left, whether or not the paper has a number for it."""
    claims = {one.metric: one.claim.id for one in found.comparisons if one.measured is not None}
    rows: list[tuple[str, ...]] = []
    for name in metric_names(found.runs):
        got = list(values(found.runs, name).values())
        spread = f"{stdev(got):.3g}" if len(got) > 1 else "-"
        rows.append((name, f"{fmean(got):.4g}", spread, str(len(got)), claims.get(name, "")))
    left = len(rows) - MOST_METRICS
    return rows if left <= 0 else [*rows[:MOST_METRICS], (f"and {left} more", "", "", "", "")]


CRITERION_COLUMNS = ("", "what must hold", "found", "in the paper", "in the code", "why")


def _criteria(found: Reproduction) -> Iterator[Board]:
    """A criterion, which leads to its sentence, and to the first line of the code that it is about: first
    those that do not hold."""
    judged = {one.criterion: one for one in found.judged}
    files = list(found.development.project.files)
    rows: dict[bool, list[Row]] = {False: [], True: []}
    for one in found.fingerprint.criteria:
        known, hrefs = judged.get(one.id), {0: f"#p-{first_place(one)}"}
        lines = known.lines if known is not None else ()
        line = next((line for line in lines if line.file in files), None)
        if line is not None:
            hrefs[4] = f"#code-{files.index(line.file)}-L{line.line}"
        places, where = ", ".join(one.places), ", ".join(map(str, lines[:6]))
        verdict, why, tone = "not verified", "", ""
        if known is not None:
            verdict, why = f"{known.value.value} ({known.by})", known.reason
            tone = TONES.get(known.value, "")
        cells = (one.id, one.fact, verdict, places, where, why)
        met = known is not None and known.value is Value.PASS
        rows[met].append(Row(cells, tone, f"criterion-{one.id}", hrefs))
    if rows[False]:
        yield Board("Not met, or not known", CRITERION_COLUMNS, rows[False], formulas=True)
    if rows[True]:
        yield Board("Met by the code", CRITERION_COLUMNS, rows[True], formulas=True, folded=True)


def _lineage(found: Reproduction) -> Iterator[Block]:
    dots = [Dot(-1, 0, ORANGE, found.paper.title, large=True)]
    for one in found.exemplars:
        dots.append(Dot(0, 1, GREEN if one.repository else BLUE, f"{one.title} [{one.key}]: {one.why}"))
        parent = len(dots) - 1
        dots += [Dot(parent, 2, GREY, f"{file.path}: {file.why}") for file in one.files]
    yield graph_plot("", dots, MEANING)
    columns = ("key", "paper", "why", "code", "to know")
    yield Table("", columns, tuple(_exemplar(one) for one in found.exemplars))
    for one in found.exemplars:
        inner: list[Block] = [Text(one.summary, "Summary")] if one.summary else []
        inner += [Fold(f"{file.path}: {file.why}", [Source(file.path, file.text)]) for file in one.files]
        if inner:
            yield Fold(f"{one.title} [{one.key}]", inner)


def _exemplar(one: Exemplar) -> tuple[str, ...]:
    code = f"{one.repository} ({one.licence or 'no licence stated'})" if one.repository else "none found"
    files = f"{code}: {', '.join(file.path for file in one.files) or 'no file'}"
    return one.key, one.title, one.why, files, " ".join(one.notes)


def _rounds(rounds: Sequence[Round]) -> Iterator[Block]:
    yield Board("", ("round", "what happened"), [_round(one) for one in rounds])
    for one in rounds:
        if one.problems:
            yield Fold(f"Problems of round {one.number}", [Text("\n".join(one.problems))])


def _round(one: Round) -> Row:
    counts = f"{len(one.passed)} criteria pass, {len(one.failed)} fail, {len(one.unknown)} cannot be judged"
    parts = ["runs" if one.runs else "does not run", f"{one.edits} lines changed"]
    parts += [f"{one.tries} attempts to fix it"] if one.tries else []
    parts += [counts] if one.passed or one.failed or one.unknown else []
    parts += [f"turned: {in_short(one.turned)}"] if one.turned else []
    tone = "error" if not one.runs else "warning" if one.failed else "good"
    return Row((f"{one.number}. {one.stage.value}", "; ".join(parts)), tone)


def _training(found: Reproduction) -> Iterator[Block]:
    """How the full runs trained."""
    drawn, rest = training_plots([one for one in found.runs if one.scale == found.scale], found.comparisons)
    yield from drawn
    if rest or not drawn:
        yield Text(rest or NOTHING)


def _runs(found: Reproduction) -> Iterator[Block]:
    runs = found.runs
    names = list(dict.fromkeys(name for one in runs for name in (*one.metrics, *one.partial)))
    rows = tuple(
        (
            str(one.seed),
            f"{one.scale:.4g}",
            "counts" if one.ok else "partial: out of time" if one.partial else one.why or "no measure",
            *(_measure(one, name) for name in names),
            f"{one.cpu_s:.0f} s",
        )
        for one in runs
    )
    yield Table("", ("seed", "scale", "", *names, "CPU time"), rows)
    for one in runs:
        if one.output:
            yield Fold(f"What the run with seed {one.seed} printed", [Text(one.output)])


def _measure(one: FullRun, name: str) -> str:
    known = one.metrics if one.ok else one.partial
    shown = number(known[name]) if name in known else "-"
    return shown if one.ok or name not in known else f"({shown})"


def _gap_repair(found: GapRepair) -> Iterator[Block]:
    yield Text("\n".join([found.sentence, *(f"- {one}" for one in found.hypotheses)]))
    if found.diff:
        yield Text(found.diff.rstrip("\n"), "The change", is_diff=True)
    if found.comparisons:
        yield Board(
            "With the change", CLAIM_COLUMNS, [_claim(one, linked=False) for one in found.comparisons]
        )
    if found.kept_fixed:
        yield Text("\n".join(found.kept_fixed), "Left alone, because the paper fixes it")


def _diagnostics(found: Reproduction) -> Iterator[Diagnostic]:
    """One a criterion that the code fails, at the line that shows it."""
    judged = {one.criterion: one for one in found.judged}
    for criterion in found.fingerprint.criteria:
        one = judged.get(criterion.id)
        if one is None or one.value is not Value.FAIL:
            continue
        line = one.lines[0] if one.lines else None
        yield Diagnostic(
            CODE,
            NAME,
            Level.WARNING,
            f"{criterion.id}: {criterion.fact} {one.reason}",
            place=Place(PurePosixPath(line.file), line.line) if line is not None else None,
            aside=f"the paper, {', '.join(criterion.places)}: {criterion.quote[:120]}",
        )
