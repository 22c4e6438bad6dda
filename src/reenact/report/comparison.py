"""Runs side by side: facts, what was asked of each, curves in one plot, metrics, findings, and the
rest.
"""

import json
import re
from collections.abc import Iterator, Sequence

from reenact.journal import JournalReader, Run
from reenact.probe.trace import Series
from reenact.report.document import Beside, Block, Board, Document, Row, Section, mapped
from reenact.report.recorded import Stored, document_of
from reenact.report.run_words import counted, run_facts, short
from reenact.report.trace_plots import series_plot

MOST_PLOTS = 6
LONGEST = 120
FACTS = ("pipeline", "what", "verdict", "steps", "cost", "time", "started", "version")
AT = {"what": "", "verdict": "", "steps": "#steps", "cost": "#talk"}
"""Facts that lead to the run itself, and where on its page they are."""
UNSET = "-"
HASH = re.compile(r"[0-9a-f]{64}")
CLOCK = ("time", "started")
"""Facts in which any two runs differ."""


def compared(stored: Sequence[Stored]) -> list[Section]:
    """All that a page shows of several runs of one journal."""
    runs = [one.run for one in stored]
    documents = [document_of(one) for one in stored]
    leads = [(run.id, f"/runs/{run.id}") for run in runs]
    return [
        Section("", [_facts(runs, stored[0].shelf)], leads=leads),
        *_requested(runs),
        *_curves(stored),
        *_findings(runs, documents),
        *_beside(runs, documents),
    ]


def difference(stored: Sequence[Stored]) -> Document:
    """What a terminal shows of two runs: the facts, requests, metrics and findings that differ."""
    runs = [one.run for one in stored]
    documents = [document_of(one) for one in stored]
    sections = [
        Section("", [_facts(runs, stored[0].shelf)]),
        *_requested(runs),
        *_metrics(stored),
        *_findings(runs, documents),
    ]
    changed = sum(
        row.tone == "differs"
        for section in sections
        for block in section.blocks
        if isinstance(block, Board)
        for row in block.rows
    )
    verdict = "The two runs do not differ in what is compared."
    if changed:
        verdict = f"{counted(changed, 'difference')}."
    data = {
        section.title or "Facts": [
            dict(zip(("name", *(run.id for run in runs)), row.cells, strict=True))
            for block in section.blocks
            if isinstance(block, Board)
            for row in block.rows
        ]
        for section in sections
    }
    return Document(
        "diff",
        title=f"{runs[0].id} and {runs[1].id}",
        verdict=verdict,
        blocks=tuple(sections),
        data=data,
    )


def _metrics(stored: Sequence[Stored]) -> Iterator[Section]:
    """The last loss, and the last value of every metric, of each training."""
    found: list[dict[str, str]] = []
    for one in stored:
        trace = one.trace()
        last: dict[str, str] = {}
        if trace is not None:
            named = [("loss", trace.losses)]
            named += [(name, trace.metric(name)) for name in trace.metric_names()]
            last = {
                name: f"{series.values[-1]:.4g}" for name, series in named if len(series.values)
            }
        found.append(last)
    names = dict.fromkeys(name for each in found for name in each)
    rows = []
    for name in names:
        values = [each.get(name, UNSET) for each in found]
        rows.append(Row((name, *values), _tone(values)))
    if rows:
        yield Section("Metrics at the end", [_board([one.run for one in stored], rows)], "metrics")


def _facts(runs: Sequence[Run], shelf: JournalReader) -> Board:
    """A row a fact; where they differ it has a colour."""
    facts = [dict(run_facts(run, *FACTS)) | {"status": shelf.status_of(run)} for run in runs]
    rows = []
    for name in (*FACTS, "status"):
        if not any(name in own for own in facts):
            continue
        values = [own.get(name, "-") for own in facts]
        leads = {0: f"#fact-{name}"}
        for at, (run, value) in enumerate(
            zip(runs, values, strict=True),
            start=1,
        ):
            if name in AT and value not in ("", "-"):
                leads[at] = f"/runs/{run.id}{AT[name]}"
        rows.append(
            Row(
                (name, *values),
                _tone(values, name),
                f"fact-{name}",
                leads,
            )
        )
    return _board(runs, rows)


def _tone(values: Sequence[str], name: str = "") -> str:
    if len(set(values)) > 1 and name not in CLOCK:
        return "differs"
    return ""


def _board(runs: Sequence[Run], rows: Sequence[Row]) -> Board:
    return Board(
        "",
        ("", *(run.id for run in runs)),
        rows,
    )


def _requested(runs: Sequence[Run]) -> Iterator[Section]:
    """What was asked of one and not of another."""
    requests = [run.request_data() for run in runs]
    asked = [request if isinstance(request, dict) else {"": request} for request in requests]
    rows = []
    for name in sorted(set().union(*asked)):
        values = [_value(each.get(name)) for each in asked]
        if _tone(values):
            rows.append(Row((name, *values), "differs"))
    if rows:
        yield Section("What was asked", [_board(runs, rows)], "asked")


def _value(value: object) -> str:
    """What was asked for, in short: of a hash the first letters, nothing for what was left as
    it is.
    """
    if value is False or value in (None, "", [], {}):
        return UNSET
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if HASH.fullmatch(text):
        return text[:12]
    return short(text, LONGEST)


def _curves(stored: Sequence[Stored]) -> Iterator[Section]:
    """The loss of each training in one plot, and every metric that two of them have."""
    traces = [
        (
            f"{one.run.id} {one.run.what}".strip(),
            one.trace(),
        )
        for one in stored
    ]
    known = [(name, trace) for name, trace in traces if trace is not None]
    drawn = list(
        series_plot(
            "Loss",
            [(name, trace.losses) for name, trace in known],
            (),
        )
    )
    metrics: dict[str, list[tuple[str, Series]]] = {}
    for name, trace in known:
        for metric in trace.metric_names():
            metrics.setdefault(metric, []).append((name, trace.metric(metric)))
    for metric, curves in metrics.items():
        if len(curves) > 1:
            drawn += series_plot(metric, curves, ())
    if len(known) > 1 and drawn:
        yield Section("Trainings", drawn[:MOST_PLOTS], "trainings")


def _findings(
    runs: Sequence[Run],
    shown: Sequence[Document],
) -> Iterator[Section]:
    """Which run has which finding, and how sure."""
    found = [
        {f"{one.code} {one.name} {one.where}": one.aside or "yes" for one in each.diagnostics}
        for each in shown
    ]
    if sum(map(bool, found)) < 2:
        return
    names = dict.fromkeys(name for each in found for name in each)
    cells = [
        (
            name,
            *(each.get(name, "-") for each in found),
        )
        for name in names
    ]
    rows = [
        Row(
            each,
            "differs" if "-" in each else "",
        )
        for each in cells
    ]
    yield Section("Findings of each", [_board(runs, rows)], "found")


def _beside(
    runs: Sequence[Run],
    shown: Sequence[Document],
) -> Iterator[Section]:
    """Sections of the same name next to one another, each leading to where it stands in its run."""
    by_title: dict[str, list[tuple[int, Run, Section]]] = {}
    for at, (run, document) in enumerate(
        zip(runs, shown, strict=True),
        start=1,
    ):
        for section in document.sections:
            by_title.setdefault(section.title, []).append((at, run, section))
    for title, having in by_title.items():
        only = "only in " if len(having) == 1 else ""
        leads = [
            (
                f"{only}{run.id}",
                f"/runs/{run.id}#{section.anchor}",
            )
            for _, run, section in having
        ]
        columns = [within(section.blocks, at) for at, _, section in having]
        first, _, section = having[0]
        if only:
            yield Section(
                title,
                columns[0],
                f"run-{first}-{section.anchor}",
                leads,
            )
        else:
            yield Section(
                title,
                [Beside(columns)],
                section.anchor,
                leads,
            )


def within(blocks: Sequence[Block], at: int) -> list[Block]:
    """The blocks of one column: places that several runs have are named apart, and lead to
    their own.
    """

    def moved(name: str, text: str) -> str:
        if name == "anchor" and text:
            return f"run-{at}-{text}"
        if name in ("href", "hrefs") and text.startswith("#"):
            return f"#run-{at}-{text[1:]}"
        return text

    return [mapped(block, moved) for block in blocks]
