"""A paper: verdict and claims first, its text next to the code, lineage, rounds, full runs."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from statistics import fmean, stdev

from reenact.paper.criterion import Value
from reenact.paper.develop.development import Round, in_short
from reenact.paper.measure.curves import NOTHING
from reenact.paper.measure.gap import Comparison, Grade
from reenact.paper.measure.gap_repair import GapRepair
from reenact.paper.measure.runs import FullRun, metric_names, values
from reenact.paper.measure.verdict import Ordering, OrderingStatus
from reenact.paper.options import share
from reenact.paper.reproduction import Reproduction
from reenact.paper.review.claims import PLACE
from reenact.report import document as doc
from reenact.report.charts import Dot, graph_plot
from reenact.report.render import render
from reenact.report.svg import COLOURS, number
from reenact.report.views.paper_parts import first_place, side_by_side, training_plots
from reenact.types import Place, Table

RESULT = Reproduction
CODE = "PR001"
NAME = "criterion-not-met"
TONES = {
    Value.PASS: "good",
    Value.FAIL: "error",
    Value.CONTRADICTED: "warning",
}
GRADES = {Grade.A: "good", Grade.D: "error"}
BLUE, ORANGE, GREEN = COLOURS[:3]
GREY = "#8f8f8f"
MEANING = {
    ORANGE: "this paper",
    GREEN: "cited, with code",
    BLUE: "cited",
    GREY: "a file of its code",
}
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
ORDERING_COLUMNS = ("", "claim", "paper", "measured", "seeds", "")
STATUSES = {
    OrderingStatus.HOLDS: "good",
    OrderingStatus.SMALLER: "warning",
    OrderingStatus.FAILS: "error",
}
CLAIM_COLUMNS = (
    "",
    "claim",
    "paper",
    "measured",
    "runs",
    "gap",
    "grade",
    "what differs",
)
METRIC_COLUMNS = ("metric", "mean", "spread", "runs", "claim")
MOST_METRICS = 80
"""Rows of a report; all of them are in its data."""
CRITERION_COLUMNS = (
    "",
    "what must hold",
    "found",
    "in the paper",
    "in the code",
    "why",
)


def paper_document(found: Reproduction) -> doc.Document:
    """The whole answer."""
    title = f"Paper: {found.paper.title}"
    blocks = tuple(_sections(found))
    code = found.verdict.exit_code
    notices = tuple(_diagnostics(found))
    data = found.to_dict()
    return doc.Document(
        "paper",
        title=title,
        verdict=found.sentence,
        blocks=blocks,
        diagnostics=notices,
        data=data,
        reused=found.reused_line,
        exit_code=code,
    )


def paper_report(found: Reproduction) -> dict[str, str]:
    """The report as text and as a page, by the names of their files."""
    document = paper_document(found)
    return {
        "REPORT.md": render(document, "markdown"),
        "report.html": render(document, "html"),
    }


def _sections(found: Reproduction) -> Iterator[doc.Section]:
    """As a report of a reproduction is read: what holds, how it trained, what differs, then the
    evidence.
    """
    yield doc.Section(
        "Claims",
        list(_claims(found)),
        "claims",
    )
    if metrics := _metric_rows(found):
        yield doc.Section(
            "Measured",
            [Table("", METRIC_COLUMNS, tuple(metrics))],
            "measured",
        )
    if found.runs:
        whole = [one for one in found.runs if one.scale == found.scale]
        drawn, rest = training_plots(whole, found.comparisons)
        more = []
        if rest or not drawn:
            more = [doc.Text(rest or NOTHING)]
        yield doc.Section(
            "Training",
            [*drawn, *more],
            "training",
        )
        yield doc.Section(
            "Full runs",
            list(_runs(found.runs)),
            "runs",
            page_only=True,
        )
    yield doc.Section(
        "Deviations and assumptions",
        list(_notes(found)),
        "notes",
    )
    if found.gap_repair is not None:
        yield doc.Section(
            "What the paper may not say",
            list(_gap_repair(found.gap_repair)),
            "gap-repair",
        )
    yield doc.Section(
        "Criteria",
        list(_criteria(found)),
        "criteria",
    )
    if found.fingerprint.criteria or found.paper.sections:
        yield doc.Section(
            "Paper and code",
            [side_by_side(found)],
            "text",
            page_only=True,
        )
    else:
        files = found.development.project.files
        yield doc.Section(
            "Code", [doc.Source(*one) for one in files.items()], "code", page_only=True
        )
    if rounds := found.development.rounds:
        table = doc.Board(
            "",
            ("round", "what happened"),
            list(map(_round, rounds)),
        )
        wrong = {f"Problems of round {one.number}": one.problems for one in rounds if one.problems}
        folds = [doc.Fold(title, doc.listed(lines)) for title, lines in wrong.items()]
        yield doc.Section("Rounds", [table, *folds], "rounds")
    if found.exemplars:
        yield doc.Section(
            "Lineage",
            list(_lineage(found)),
            "lineage",
        )


def _notes(found: Reproduction) -> Iterator[doc.Text]:
    """How the experiment is not the paper's, then the notes by kind, each in a list of its own."""
    differs = dict.fromkeys(text for one in found.comparisons for text in one.differs)
    lists: dict[str, list[str]] = {"Deviations from the paper": list(differs)}
    for title in NOTES.values():
        lists[title] = []
    for note in found.every_note():
        start = next(
            (start for start in NOTES if note.startswith(start)),
            "",
        )
        lists.setdefault(NOTES.get(start, "Other notes"), []).append(note.removeprefix(start))
    for title, lines in lists.items():
        if lines:
            yield doc.Text(
                "\n".join(" ".join(line.split()) for line in lines),
                title,
                is_list=True,
            )


def _claims(found: Reproduction) -> Iterator[doc.Block]:
    if found.orderings:
        yield doc.Board(
            "Orderings",
            ORDERING_COLUMNS,
            [_ordering(one) for one in found.orderings],
        )
    if found.comparisons:
        rows = [
            _claim(
                one,
                linked=bool(found.paper.sections),
            )
            for one in found.comparisons
        ]
        yield doc.Board(
            "Numbers" if found.orderings else "",
            CLAIM_COLUMNS,
            rows,
        )
    else:
        yield doc.Text("The paper states no number that could be compared.")
    yield doc.Facts(
        "",
        tuple(_facts(found).items()),
    )


def _facts(found: Reproduction) -> dict[str, str]:
    """What it took."""
    development = found.development
    lost = f"{len(found.paper.lost)} things lost in reading"
    cost = "price unknown"
    if found.money is not None:
        cost = f"${found.money}"
    facts = {
        "asked for": found.goal.text(),
        "paper": f"{PurePosixPath(found.paper.source).name} ({found.paper.form}; {lost})",
        "gap": _gap_over_claims(found),
        "criteria": _criteria_counts(found),
    }
    if found.judges is not None:
        facts["judges"] = found.judges.sentence
    facts["code"] = f"{len(development.project.files)} files, {len(development.rounds)} rounds"
    facts["runs"] = f"{sum(run.ok for run in found.runs)} of {len(found.runs)} counted"
    if found.scale < 1:
        facts["scale"] = f"{share(found.scale)} of the paper's training"
    if development.stand_in:
        facts["data"] = f"a synthetic stand-in: {development.stand_in}"
    facts["model"] = f"{found.tokens} tokens, {cost}; time: {found.seconds:.0f} s"
    if found.estimate is not None:
        facts["estimated"] = found.estimate.sentence
    if found.reused:
        facts["taken over"] = (
            f"{found.reused} steps of earlier runs, whose cost and time are not counted above"
        )
    if found.folder is not None:
        facts["written"] = f"{found.folder}/"
    return facts


def _gap_over_claims(found: Reproduction) -> str:
    gap = found.judgement.gap
    measured = sum(comparison.measured is not None for comparison in found.comparisons)
    shown = "unknown" if gap is None else f"{gap:.1%}"
    return f"{shown} over {len(found.comparisons)} claims, {measured} of them measured"


def _criteria_counts(found: Reproduction) -> str:
    """How many criteria have which verdict, and how many were never judged."""
    counts = (
        f"{found.count(Value.PASS)} pass, {found.count(Value.FAIL)} fail, "
        f"{found.count(Value.UNKNOWN)} cannot be judged"
    )
    contradicted = found.count(Value.CONTRADICTED)
    if contradicted:
        counts += f", {contradicted} where the paper contradicts itself"
    return f"{counts}; {len(found.fingerprint.dropped)} proposals dropped"


def _ordering(one: Ordering) -> doc.Row:
    """A claimed difference next to the measured one, with its 95 % limits."""
    unit = one.better.unit
    limits = "" if one.low is None or one.high is None else f" [{one.low:.3g}, {one.high:.3g}]"
    got = "-"
    if one.measured is not None:
        got = f"{one.measured:+.3g}{unit}{limits}"
    cells = (
        one.ids,
        str(one),
        f"{one.claimed:+.3g}{unit}",
        got,
        str(one.n),
        one.status.value,
    )
    return doc.Row(
        cells,
        tone=STATUSES.get(one.status, ""),
    )


def _claim(one: Comparison, *, linked: bool) -> doc.Row:
    """A claim next to its measure."""
    claim = one.claim
    spread = "" if one.spread is None else f" ± {one.spread:.3g}"
    got = "-" if one.measured is None else f"{one.measured:.4g}{claim.unit}{spread}"
    stated = f"{claim.bound}{claim.value:g}{claim.unit}"
    stated += "" if claim.spread is None else f" ± {claim.spread:g}"
    what = ", ".join(
        part for part in (claim.metric, claim.method, claim.dataset, claim.setting) if part
    )
    if claim.read_off:
        what += " (read off a figure)"
    count = (
        f"{len(one.differs)} settings, see below." if len(one.differs) > 1 else "".join(one.differs)
    )
    control = "" if one.control is None else one.control.sentence(one.metric)
    differs = " ".join(
        part for part in (count, one.note, f"[{control}]" if control else "") if part
    )
    measured = (
        stated,
        got,
        str(one.n),
        f"{one.gap:.1%}",
        one.grade.value,
        differs,
    )
    anchor = f"claim-{claim.id}" if linked else ""
    hrefs = {0: f"#p-{claim.place}"} if linked and claim.place != PLACE else {}
    return doc.Row(
        (
            claim.id,
            f"{what} [{claim.place}]",
            *measured,
        ),
        GRADES.get(one.grade, ""),
        anchor,
        hrefs,
    )


def _metric_rows(found: Reproduction) -> list[tuple[str, ...]]:
    """Every metric that the full runs left, whether or not the paper has a number for it."""
    claims = {one.metric: one.claim.id for one in found.comparisons if one.measured is not None}
    rows: list[tuple[str, ...]] = []
    for name in metric_names(found.runs):
        got = list(values(found.runs, name).values())
        spread = "-"
        if len(got) > 1:
            spread = f"{stdev(got):.3g}"
        rows.append(
            (
                name,
                f"{fmean(got):.4g}",
                spread,
                str(len(got)),
                claims.get(name, ""),
            )
        )
    left = len(rows) - MOST_METRICS
    if left <= 0:
        return rows
    return [
        *rows[:MOST_METRICS],
        (f"and {left} more", "", "", "", ""),
    ]


def _criteria(found: Reproduction) -> Iterator[doc.Board]:
    """A criterion, which leads to its sentence, and to the first line of the code that it is about:
    first those that do not hold.
    """
    judged = {one.criterion: one for one in found.judged}
    files = list(found.development.project.files)
    rows: dict[bool, list[doc.Row]] = {
        False: [],
        True: [],
    }
    for one in found.fingerprint.criteria:
        known = judged.get(one.id)
        hrefs = {0: f"#p-{first_place(one)}"}
        lines = known.lines if known is not None else ()
        line = next(
            (line for line in lines if line.file in files),
            None,
        )
        if line is not None:
            hrefs[4] = f"#code-{files.index(line.file)}-L{line.line}"
        places = ", ".join(one.places)
        where = ", ".join(map(str, lines[:6]))
        verdict = "not verified"
        why = ""
        tone = ""
        if known is not None:
            verdict = f"{known.value.value} ({known.by})"
            why = known.reason
            tone = TONES.get(known.value, "")
        cells = (one.id, one.fact, verdict, places, where, why)
        met = known is not None and known.value is Value.PASS
        rows[met].append(
            doc.Row(
                cells,
                tone,
                f"criterion-{one.id}",
                hrefs,
            )
        )
    for met, title in ((False, "Not met, or not known"), (True, "Met by the code")):
        if rows[met]:
            yield doc.Board(
                title,
                CRITERION_COLUMNS,
                rows[met],
                formulas=True,
                folded=met,
            )


def _lineage(found: Reproduction) -> Iterator[doc.Block]:
    dots = [
        Dot(
            -1,
            0,
            ORANGE,
            found.paper.title,
            large=True,
        )
    ]
    for one in found.exemplars:
        dots.append(
            Dot(
                0,
                1,
                GREEN if one.repository else BLUE,
                f"{one.title} [{one.key}]: {one.why}",
            )
        )
        parent = len(dots) - 1
        dots += [
            Dot(
                parent,
                2,
                GREY,
                f"{file.path}: {file.why}",
            )
            for file in one.files
        ]
    yield graph_plot("", dots, MEANING)
    rows = []
    folds = []
    for one in found.exemplars:
        code = "none found"
        if one.repository:
            code = f"{one.repository} ({one.licence or 'no licence stated'})"
        files = f"{code}: {', '.join(file.path for file in one.files) or 'no file'}"
        rows.append(
            (
                one.key,
                one.title,
                one.why,
                files,
                " ".join(one.notes),
            )
        )
        inner: list[doc.Block] = [
            *doc.listed(
                [one.summary] if one.summary else [],
                "Summary",
            )
        ]
        for file in one.files:
            inner.append(
                doc.Fold(
                    f"{file.path}: {file.why}",
                    [doc.Source(file.path, file.text)],
                )
            )
        if inner:
            folds.append(
                doc.Fold(
                    f"{one.title} [{one.key}]",
                    inner,
                )
            )
    yield Table(
        "",
        ("key", "paper", "why", "code", "to know"),
        tuple(rows),
    )
    yield from folds


def _round(one: Round) -> doc.Row:
    counts = (
        f"{len(one.passed)} criteria pass, {len(one.failed)} fail, {len(one.unknown)} cannot be "
        f"judged"
    )
    parts = [
        "runs" if one.runs else "does not run",
        f"{one.edits} lines changed",
    ]
    if one.tries:
        parts.append(f"{one.tries} attempts to fix it")
    if one.passed or one.failed or one.unknown:
        parts.append(counts)
    if one.turned:
        parts.append(f"turned: {in_short(one.turned)}")
    if not one.runs:
        tone = "error"
    elif one.failed:
        tone = "warning"
    else:
        tone = "good"
    return doc.Row(
        (
            f"{one.number}. {one.stage.value}",
            "; ".join(parts),
        ),
        tone,
    )


def _runs(runs: Sequence[FullRun]) -> Iterator[doc.Block]:
    names = list(dict.fromkeys(name for one in runs for name in (*one.metrics, *one.partial)))
    rows = []
    for one in runs:
        if one.ok:
            how = "counts"
        elif one.partial:
            how = "partial: out of time"
        else:
            how = one.why or "no measure"
        known = one.metrics if one.ok else one.partial
        shown = {
            name: number(value) if one.ok else f"({number(value)})" for name, value in known.items()
        }
        measured = (shown.get(name, "-") for name in names)
        rows.append(
            (
                str(one.seed),
                f"{one.scale:.4g}",
                how,
                *measured,
                f"{one.cpu_s:.0f} s",
            )
        )
    yield Table(
        "",
        ("seed", "scale", "", *names, "CPU time"),
        tuple(rows),
    )
    for one in runs:
        if one.output:
            yield doc.Fold(
                f"What the run with seed {one.seed} printed",
                [doc.Text(one.output)],
            )


def _gap_repair(found: GapRepair) -> Iterator[doc.Block]:
    yield doc.Text(
        "\n".join(
            [
                found.sentence,
                *(f"- {one}" for one in found.hypotheses),
            ]
        )
    )
    if found.diff:
        yield doc.Text(
            found.diff.rstrip("\n"),
            "The change",
            is_diff=True,
        )
    if rows := [_claim(one, linked=False) for one in found.comparisons]:
        yield doc.Board("With the change", CLAIM_COLUMNS, rows)
    yield from doc.listed(found.kept_fixed, "Left alone, because the paper fixes it")


def _diagnostics(found: Reproduction) -> Iterator[doc.Diagnostic]:
    """One a criterion that the code fails, at the line that shows it."""
    failed = {one.criterion: one for one in found.judged if one.value is Value.FAIL}
    for criterion in (each for each in found.fingerprint.criteria if each.id in failed):
        one = failed[criterion.id]
        place = None
        if one.lines:
            place = Place(
                PurePosixPath(one.lines[0].file),
                one.lines[0].line,
            )
        says = f"{criterion.id}: {criterion.fact} {one.reason}"
        aside = f"the paper, {', '.join(criterion.places)}: {criterion.quote[:120]}"
        yield doc.Diagnostic(
            CODE,
            name=NAME,
            level=doc.Level.WARNING,
            message=says,
            place=place,
            aside=aside,
        )
