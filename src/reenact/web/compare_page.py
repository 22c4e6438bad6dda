"""Runs side by side: facts, what was asked of each, curves in one plot, findings, and the rest."""

import json
import re
from collections.abc import Iterator, Sequence

from starlette.requests import Request
from starlette.responses import HTMLResponse

from reenact.errors import InputError
from reenact.journal import JournalReader, Run
from reenact.report.document import Beside, Block, Board, Document, Row, Section, mapped
from reenact.report.recorded import Stored, document_of
from reenact.report.run_words import run_facts, short
from reenact.report.trace_plots import series_plot
from reenact.web.state import state_of

MOST = 8
"""Runs that are compared at once."""
MOST_PLOTS = 6
LONGEST = 120
FACTS = ("pipeline", "what", "verdict", "steps", "cost", "time", "started", "version")
AT = {"what": "", "verdict": "", "steps": "#steps", "cost": "#talk"}
"""Facts that lead to the run itself, and where on its page they stand."""
UNSET, HASH = "-", re.compile(r"[0-9a-f]{64}")
CLOCK = ("time", "started")
"""Facts in which any two runs differ."""


def compare_page(request: Request) -> HTMLResponse:
    """The whole page."""
    state, names = state_of(request), request.query_params.getlist("run")
    if not 2 <= len(names) <= MOST:
        says = f"Two to {MOST} runs are compared. Received: {len(names)}."
        raise InputError(says, next_step="Tick them in the list of runs.")
    with state.shelf() as shelf:
        stored = [Stored(shelf, shelf.find(name), state.runs_dir) for name in names]
        runs, shown = [one.run for one in stored], [document_of(one) for one in stored]
        sections = [Section("", [_facts(runs, shelf)], leads=[(run.id, f"/runs/{run.id}") for run in runs])]
        sections += [*_asked(runs), *_curves(stored), *_findings(runs, shown)]
    sections += _beside(runs, shown)
    return state.page("compare.html", runs=runs, sections=sections)


def _facts(runs: Sequence[Run], shelf: JournalReader) -> Board:
    """A row a fact; where they differ it has a colour."""
    facts = [dict(run_facts(run, *FACTS)) | {"status": shelf.status_of(run)} for run in runs]
    rows = []
    for name in (one for one in (*FACTS, "status") if any(one in own for own in facts)):
        values = [own.get(name, "-") for own in facts]
        leads = {}
        for at, (run, value) in enumerate(zip(runs, values, strict=True), start=1):
            if name in AT and value not in ("", "-"):
                leads[at] = f"/runs/{run.id}{AT[name]}"
        rows.append(Row((name, *values), _tone(values, name), f"fact-{name}", {0: f"#fact-{name}", **leads}))
    return _board(runs, rows)


def _tone(values: Sequence[str], name: str = "") -> str:
    return "differs" if len(set(values)) > 1 and name not in CLOCK else ""


def _board(runs: Sequence[Run], rows: Sequence[Row]) -> Board:
    return Board("", ("", *(run.id for run in runs)), rows)


def _asked(runs: Sequence[Run]) -> Iterator[Section]:
    """What was asked of one and not of another."""
    asked = [request if isinstance(request := run.request_data(), dict) else {"": request} for run in runs]
    names = sorted({name for one in asked for name in one})
    values = {name: [_value(one.get(name)) for one in asked] for name in names}
    rows = [Row((name, *row), "differs") for name, row in values.items() if _tone(row)]
    if rows:
        yield Section("What was asked", [_board(runs, rows)], "asked")


def _value(value: object) -> str:
    """What was asked for, in short: of a hash the first letters, nothing for what was left as it is."""
    if value is False or value in (None, "", [], {}):
        return UNSET
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text[:12] if HASH.fullmatch(text) else short(text, LONGEST)


def _curves(stored: Sequence[Stored]) -> Iterator[Section]:
    """The loss of each training in one plot, and every metric that two of them have."""
    traces = [(f"{one.run.id} {one.run.what}".strip(), one.trace()) for one in stored]
    known = [(name, trace) for name, trace in traces if trace is not None]
    drawn = list(series_plot("Loss", [(name, trace.losses) for name, trace in known], ()))
    metrics = dict.fromkeys(metric for _, trace in known for metric in trace.metric_names())
    for metric in metrics:
        having = [(name, one.metric(metric)) for name, one in known if metric in one.metric_names()]
        drawn += series_plot(metric, having, ()) if len(having) > 1 else ()
    if len(known) > 1 and drawn:
        yield Section("Trainings", drawn[:MOST_PLOTS], "trainings")


def _findings(runs: Sequence[Run], shown: Sequence[Document]) -> Iterator[Section]:
    """Which run has which finding, and how sure."""
    found = [
        {f"{one.code} {one.name} {one.where}": one.aside or "yes" for one in each.diagnostics}
        for each in shown
    ]
    if sum(map(bool, found)) < 2:
        return
    names = dict.fromkeys(name for each in found for name in each)
    cells = [(name, *(each.get(name, "-") for each in found)) for name in names]
    rows = [Row(each, "differs" if "-" in each else "") for each in cells]
    yield Section("Findings of each", [_board(runs, rows)], "found")


def _beside(runs: Sequence[Run], shown: Sequence[Document]) -> Iterator[Section]:
    """Sections of the same name beside one another, each leading to where it stands in its run."""
    titles = dict.fromkeys(section.title for one in shown for section in one.sections)
    for title in titles:
        pairs = enumerate(zip(runs, shown, strict=True), start=1)
        every = ((at, run, section) for at, (run, one) in pairs for section in one.sections)
        having = [one for one in every if one[2].title == title]
        only = "only in " if len(having) == 1 else ""
        leads = [(f"{only}{run.id}", f"/runs/{run.id}#{section.anchor}") for _, run, section in having]
        columns, anchor = [within(section.blocks, at) for at, _, section in having], having[0][2].anchor
        if only:
            yield Section(title, columns[0], f"run-{having[0][0]}-{anchor}", leads)
        else:
            yield Section(title, [Beside(columns)], anchor, leads)


def within(blocks: Sequence[Block], at: int) -> list[Block]:
    """The blocks of one column: places that several runs have are named apart, and lead to their own."""

    def moved(name: str, text: str) -> str:
        if name == "anchor" and text:
            return f"run-{at}-{text}"
        return f"#run-{at}-{text[1:]}" if name in ("href", "hrefs") and text.startswith("#") else text

    return [mapped(block, moved) for block in blocks]
