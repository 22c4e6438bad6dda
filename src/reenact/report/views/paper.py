"""A paper: verdict and claims first, its text beside the code, lineage, rounds, full runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from reenact.paper.criterion import Criterion, Judged, Value
from reenact.paper.develop.development import Round
from reenact.paper.exemplar import Exemplar
from reenact.paper.measure.curves.course import NOTHING
from reenact.paper.measure.gap import Comparison, Grade
from reenact.paper.measure.gap_repair import GapRepair
from reenact.paper.reproduction import Reproduction
from reenact.paper.write.report_file import (
    CLAIM_COLUMNS,
    CRITERION_COLUMNS,
    METRIC_COLUMNS,
    claim_cells,
    criterion_rows,
    facts_lines,
    metric_rows,
)
from reenact.report.document import (
    Block,
    Board,
    Diagnostic,
    Document,
    Facts,
    Fold,
    Level,
    Moment,
    Row,
    Section,
    Source,
    Text,
    Timeline,
)
from reenact.report.plots import graph_plot
from reenact.report.stored import Stored
from reenact.report.svg import COLOURS, number
from reenact.report.svg_graph import Dot
from reenact.report.training_plots import training_plots
from reenact.report.views.paper_text import first_place, side_by_side
from reenact.types import Place, Table

RESULT = Reproduction
CODE, NAME = "PR001", "criterion-not-met"
TONES = {Value.PASS: "good", Value.FAIL: "error"}
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


def from_run(stored: Stored) -> Document:
    """The same of a recorded run."""
    return paper_document(stored.result(Reproduction))


def _sections(found: Reproduction) -> Iterator[Section]:
    yield Section("Claims", list(_claims(found)), "claims")
    if metrics := metric_rows(found):
        yield Section("Measured", [Table("", METRIC_COLUMNS, tuple(metrics))], "measured")
    if found.fingerprint.criteria:
        yield Section("Criteria", [_criteria(found)], "criteria")
    if found.fingerprint.criteria or found.paper.sections:
        yield Section("Paper and code", [side_by_side(found)], "text", page_only=True)
    else:
        files = found.development.project.files
        yield Section("Code", [Source(*one) for one in files.items()], "code", page_only=True)
    if found.exemplars:
        yield Section("Lineage", list(_lineage(found)), "lineage")
    if found.development.rounds:
        yield Section("Rounds", [Timeline([_moment(one) for one in found.development.rounds])], "rounds")
    if found.runs:
        yield Section("Training", list(_training(found)), "training")
        yield Section("Full runs", list(_runs(found)), "runs", page_only=True)
    if found.mending is not None:
        yield Section("What the paper may not say", list(_mending(found.mending)), "mending")
    if notes := found.every_note():
        yield Section("Notes", [Text("\n".join(notes))], "notes")


def _claims(found: Reproduction) -> Iterator[Block]:
    if found.comparisons:
        linked = bool(found.paper.sections)
        yield Board("", CLAIM_COLUMNS, [_claim(one, linked=linked) for one in found.comparisons])
    else:
        yield Text("The paper states no number that could be compared.")
    lines = [line.removeprefix("- ").partition(": ") for line in facts_lines(found)]
    facts = {"asked for": found.goal.text() or "all of it", **{name: value for name, _, value in lines}}
    if found.folder is not None:
        facts["written"] = f"{found.folder}/"
    yield Facts("", tuple(facts.items()))


def _claim(one: Comparison, *, linked: bool) -> Row:
    return Row(
        claim_cells(one),
        tone=GRADES.get(one.grade, ""),
        anchor=f"claim-{one.claim.id}" if linked else "",
        hrefs={0: f"#p-{one.claim.place}"} if linked else {},
    )


def _criteria(found: Reproduction) -> Board:
    judged = {one.criterion: one for one in found.judged}
    files = list(found.development.project.files)
    rows = [
        _criterion(one, cells, judged.get(one.id), files)
        for one, cells in zip(found.fingerprint.criteria, criterion_rows(found), strict=True)
    ]
    return Board("", CRITERION_COLUMNS, rows)


def _criterion(one: Criterion, cells: Sequence[str], judged: Judged | None, files: Sequence[str]) -> Row:
    """Leads to the sentence and to the first line of the code that it is about."""
    lines = judged.lines if judged is not None else ()
    hrefs = {0: f"#p-{first_place(one)}"}
    line = next((line for line in lines if line.file in files), None)
    if line is not None:
        hrefs[4] = f"#code-{files.index(line.file)}-L{line.line}"
    tone = TONES.get(judged.value, "") if judged is not None else ""
    return Row(cells, tone, f"criterion-{one.id}", hrefs)


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


def _moment(one: Round) -> Moment:
    counts = f"{len(one.passed)} criteria pass, {len(one.failed)} fail, {len(one.unknown)} cannot be judged"
    parts = ["runs" if one.runs else "does not run", f"{one.edits} lines changed"]
    parts += [f"{one.tries} attempts to mend it"] if one.tries else []
    parts += [counts] if one.passed or one.failed or one.unknown else []
    parts += [f"turned: {', '.join(one.turned)}"] if one.turned else []
    inner: list[Block] = [Text("\n".join(one.problems), "Problems")] if one.problems else []
    tone = "error" if not one.runs else "warning" if one.failed else "good"
    return Moment(f"{one.number}. {one.stage.value}", "; ".join(parts), tone, inner)


def _training(found: Reproduction) -> Iterator[Block]:
    """How the full runs trained."""
    drawn, said = training_plots(found.runs, found.comparisons)
    yield from drawn
    if said or not drawn:
        yield Text(said or NOTHING)


def _runs(found: Reproduction) -> Iterator[Block]:
    names = list(dict.fromkeys(name for one in found.runs for name in one.metrics))
    rows = tuple(
        (
            str(one.seed),
            "counts" if one.ok else one.why or "no measure",
            *(number(one.metrics[name]) if name in one.metrics else "-" for name in names),
            f"{one.wall_s:.0f} s",
        )
        for one in found.runs
    )
    yield Table("", ("seed", "", *names, "time"), rows)
    for one in found.runs:
        if one.output:
            yield Fold(f"What the run with seed {one.seed} printed", [Text(one.output)])


def _mending(found: GapRepair) -> Iterator[Block]:
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
        if one is not None and one.value is Value.FAIL:
            yield _diagnostic(criterion, one)


def _diagnostic(criterion: Criterion, one: Judged) -> Diagnostic:
    line = one.lines[0] if one.lines else None
    return Diagnostic(
        CODE,
        NAME,
        Level.WARNING,
        f"{criterion.id}: {criterion.fact} {one.reason}",
        place=Place(PurePosixPath(line.file), line.line) if line is not None else None,
        aside=f"the paper, {', '.join(criterion.places)}: {criterion.quote[:120]}",
    )
