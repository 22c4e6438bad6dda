"""A paper: verdict and claims first, its text beside the code, lineage, rounds, full runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reenact.paper.measure.curves.course import NOTHING
from reenact.report.plots import GraphPlot
from reenact.report.sheet import Facts, Text
from reenact.report.svg import COLOURS, number
from reenact.report.svg_graph import Dot
from reenact.report.training_plots import training_plots
from reenact.types import Table
from reenact.web.page import Block, Board, Chart, Fold, Moment, Row, Section, Source, Timeline
from reenact.web.stored import Stored
from reenact.web.views.paper_text import Criterion, Judged, side_by_side
from reenact.web.views.paper_told import Comparison, FullRun, Mending, Round, Told

LEAST_NODES = 2
TONES = {"pass": "good", "fail": "error"}
BLUE, ORANGE, GREEN = COLOURS[:3]


def sections(stored: Stored) -> Iterator[Section]:
    """The whole result."""
    told = Told.model_validate(stored.result())
    yield Section("Claims", list(_claims(told)), "claims")
    if told.fingerprint.criteria:
        yield Section("Criteria", [_criteria(told)], "criteria")
    if told.fingerprint.criteria or told.sections:
        both = side_by_side(told.sections, told.fingerprint.criteria, told.judged, told.files)
        yield Section("Paper and code", [both], "text")
    elif told.files:
        yield Section("Code", [Source(name, text) for name, text in told.files.items()], "code")
    if told.exemplars:
        yield Section("Lineage", list(_lineage(told)), "lineage")
    if told.rounds:
        yield Section("Rounds", [_rounds(told.rounds)], "rounds")
    if told.runs:
        yield Section("Training", list(_training(told)), "training")
        yield Section("Full runs", list(_runs(told.runs)), "runs")
    if told.mending is not None:
        yield Section("Closing the gap", list(_mending(told.mending)), "mending")
    if told.notes:
        yield Section("Notes", [Text("\n".join(told.notes))], "notes")


def _claims(told: Told) -> Iterator[Block]:
    facts = {"paper": told.source, "asked for": told.goal or "all of it", "scale": f"{told.scale:.0%}"}
    if told.gap is not None:
        facts["gap"] = f"{told.gap:.1%} on average, a missing measure counting in full"
    yield Facts("", tuple(facts.items()))
    if told.comparisons:
        yield _compared(told.comparisons, linked=bool(told.sections))
    else:
        yield Text("The paper states no number that could be compared.")


def _compared(comparisons: Sequence[Comparison], *, linked: bool = False) -> Board:
    rows = [
        Row(
            (
                one.claim.id,
                f"{one.claim.metric} of {one.claim.method} on {one.claim.dataset}",
                one.claim.words,
                one.words,
                str(one.n),
                f"{one.gap:.1%}",
                one.grade,
                "; ".join([*one.differs, one.note]).strip("; ") or one.claim.quote,
            ),
            tone={"A": "good", "D": "error"}.get(one.grade, ""),
            anchor=f"claim-{one.claim.id}" if linked else "",
            hrefs={0: f"#p-{one.claim.place}"} if linked else {},
        )
        for one in comparisons
    ]
    columns = ("claim", "what", "paper", "measured", "runs", "gap", "grade", "to know")
    return Board("", columns, rows)


def _mending(told: Mending) -> Iterator[Block]:
    yield Text(told.sentence)
    if told.hypotheses:
        yield Text("\n".join(told.hypotheses), "What the paper may not say")
    if told.diff:
        yield Text(told.diff.rstrip("\n"), "The change", is_diff=True)
    if told.comparisons:
        yield _compared(told.comparisons)
    if told.kept_fixed:
        yield Fold("What the paper fixes was left alone", [Text("\n".join(told.kept_fixed))])


def _criteria(told: Told) -> Board:
    found: Mapping[str, Judged] = {one.criterion: one for one in told.judged}
    rows = [_criterion(one, found.get(one.id), list(told.files)) for one in told.fingerprint.criteria]
    return Board("", ("criterion", "verdict", "fact", "the paper's words", "lines", "why"), rows)


def _criterion(one: Criterion, judged: Judged | None, files: Sequence[str]) -> Row:
    if judged is None:
        return Row((one.id, "not judged", one.fact, one.quote, "-", ""), anchor=f"criterion-{one.id}")
    where = ", ".join(f"{line.file}:{line.line}" for line in judged.lines)
    cells = (one.id, judged.value, one.fact, one.quote, where or "-", f"{judged.reason} ({judged.by})")
    hrefs = {0: f"#p-{one.first_place}"}
    line = next((line for line in judged.lines if line.file in files), None)
    if line is not None:
        hrefs[4] = f"#code-{files.index(line.file)}-L{line.line}"
    return Row(cells, TONES.get(judged.value, ""), f"criterion-{one.id}", hrefs)


def _lineage(told: Told) -> Iterator[Block]:
    dots = [Dot(-1, 0, ORANGE, told.title, large=True)]
    for one in told.exemplars:
        dots.append(Dot(0, 1, GREEN if one.repository else BLUE, f"{one.title} [{one.key}]: {one.why}"))
        parent = len(dots) - 1
        dots += [Dot(parent, 2, "#8f8f8f", f"{file.path}: {file.why}") for file in one.files]
    meaning = {
        ORANGE: "this paper",
        GREEN: "cited, with code",
        BLUE: "cited",
        "#8f8f8f": "a file of its code",
    }
    used = {dot.colour for dot in dots}
    key = {colour: words for colour, words in meaning.items() if colour in used}
    if len(dots) >= LEAST_NODES:
        words = "\n".join(dot.words for dot in dots)
        yield Chart(GraphPlot("Lineage", dots, key), words)
    for one in told.exemplars:
        home = " ".join(part for part in (one.repository, one.licence) if part) or "no code was found"
        inner: list[Block] = [Facts("", (("why", one.why), ("code", home)))]
        inner += [Text(one.summary, "Summary")] if one.summary else []
        inner += [Text("\n".join(one.notes), "Notes")] if one.notes else []
        inner += [Fold(f"{file.path}: {file.why}", [Source(file.path, file.text)]) for file in one.files]
        yield Fold(f"{one.title} [{one.key}]", inner)


def _rounds(rounds: Sequence[Round]) -> Timeline:
    return Timeline([_moment(one) for one in rounds])


def _moment(one: Round) -> Moment:
    counts = f"{len(one.passed)} criteria pass, {len(one.failed)} fail, {len(one.unknown)} cannot be judged"
    parts = ["runs" if one.runs else "does not run", f"{one.edits} lines changed"]
    parts += [f"{one.tries} attempts to mend it"] if one.tries else []
    parts += [counts] if one.passed or one.failed or one.unknown else []
    parts += [f"turned: {', '.join(one.turned)}"] if one.turned else []
    inner: list[Block] = [Text("\n".join(one.problems), "Problems")] if one.problems else []
    tone = "error" if not one.runs else "warning" if one.failed else "good"
    return Moment(f"{one.number}. {one.stage}", "; ".join(parts), tone, inner)


def _training(told: Told) -> Iterator[Block]:
    drawn, said = training_plots(told.runs, told.comparisons)
    yield from (Chart(one.plot, one.words) for one in drawn)
    if said or not drawn:
        yield Text(said or NOTHING)


def _runs(runs: Sequence[FullRun]) -> Iterator[Block]:
    names = list(dict.fromkeys(name for one in runs for name in one.metrics))
    rows = tuple(
        (
            str(one.seed),
            "counts" if one.ok else one.why or "no measure",
            *(number(one.metrics[name]) if name in one.metrics else "-" for name in names),
            f"{one.wall_s:.0f} s",
        )
        for one in runs
    )
    yield Table("", ("seed", "", *names, "time"), rows)
    for one in runs:
        if one.output:
            yield Fold(f"What the run with seed {one.seed} printed", [Text(one.output)])
