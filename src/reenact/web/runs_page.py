"""The list of runs: newest first or as the reader wants it, searched, filtered, in pages; and runs
side by side: facts, what was asked of each, curves in one plot, findings, and the rest.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from reenact.errors import InputError
from reenact.journal import JournalReader, Run, Status
from reenact.journal.reader import INTERRUPTED, ORDERS
from reenact.journal.records import digest
from reenact.probe.trace import Series
from reenact.report.document import Beside, Block, Board, Document, Row, Section, mapped
from reenact.report.recorded import Stored, document_of
from reenact.report.run_words import Listed, counted, run_facts, short
from reenact.report.trace_plots import series_plot
from reenact.web.state import seen_already, state_of

PAGE = 50
MOST_LIVE = 1000
STATUSES = (*(status.value for status in Status), INTERRUPTED)
NEWEST = "-started"
SORTS = {
    NEWEST: "newest first",
    "started": "oldest first",
    "-metric": "metric, largest first",
    "metric": "metric, smallest first",
    "-time": "longest first",
    "-cost": "most expensive first",
    "name": "name",
    "verdict": "verdict",
}
"""Orders to choose from, in words; a heading of the list gives each both ways."""
MOST_COMPARED = 8
"""Runs that are compared at once."""
MOST_PLOTS = 6
LONGEST = 120
FACTS = ("pipeline", "what", "verdict", "steps", "cost", "time", "started", "version")
AT = {"what": "", "verdict": "", "steps": "#steps", "cost": "#talk"}
"""Facts that lead to the run itself, and where on its page they stand."""
UNSET = "-"
HASH = re.compile(r"[0-9a-f]{64}")
CLOCK = ("time", "started")
"""Facts in which any two runs differ."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the reader wants to see."""

    text: str = ""
    pipeline: str = ""
    status: str = ""
    verdict: str = ""
    sort: str = NEWEST
    """A word of ORDERS, with a dash in front for the largest first."""
    page: int = 1

    @property
    def is_filtered(self) -> bool:
        return bool(self.text or self.pipeline or self.status or self.verdict)

    @property
    def address(self) -> str:
        words = {
            "q": self.text,
            "pipeline": self.pipeline,
            "status": self.status,
            "verdict": self.verdict,
            "sort": self.sort if self.sort != NEWEST else "",
            "page": str(self.page) if self.page > 1 else "",
        }
        given = {name: value for name, value in words.items() if value}
        return f"/?{urlencode(given)}" if given else "/"

    def at(self, page: int) -> str:
        return replace(self, page=page).address

    def by(self, order: str) -> str:
        """Where the list is ordered by this, and the other way round where it is so already."""
        return replace(self, sort=f"-{order}" if self.sort == order else order, page=1).address

    def way(self, order: str) -> str:
        """How this column is ordered, as assistive software has it; empty for not at all."""
        return {order: "ascending", f"-{order}": "descending"}.get(
            self.sort,
            "",
        )


def runs_page(request: Request) -> Response:
    """The list, newest first."""
    state = state_of(request)
    asked = _asked(request)
    mark = "nothing"
    rows: list[tuple[Run, str]] = []
    total = 0
    pipelines: list[str] = []
    verdicts: list[str] = []
    if state.has_journal:
        with state.shelf() as shelf:
            newest = [f"{run.check_sum}{shelf.status_of(run)}" for run in shelf.runs(limit=PAGE)]
            mark = digest(" ".join(newest))
            nothing_new = seen_already(request, mark)
            if nothing_new:
                return nothing_new
            pipelines = shelf.pipelines()
            verdicts = shelf.verdicts()
            rows, total = _listed(shelf, asked)
    here = ("", str(state.jobs.working_folder.resolve()))
    listed = [
        Listed(
            run,
            status,
            "" if run.folder in here else run.folder,
        )
        for run, status in rows
    ]
    return state.page(
        "runs.html",
        here="runs",
        asked=asked,
        mark=mark,
        rows=listed,
        folder=state.runs_dir,
        pipelines=pipelines,
        statuses=STATUSES,
        verdicts=verdicts,
        sorts=SORTS,
        counted=counted(total, "run"),
        pages=-(-total // PAGE),
        has_cost=any(row.cost for row in listed),
        has_metric=any(row.metric or row.curve for row in listed),
    )


def _asked(request: Request) -> Asked:
    given = request.query_params
    page = given.get("page", "1")
    status = given.get("status", "")
    sort = given.get("sort", "")
    return Asked(
        text=given.get("q", "").strip()[:200],
        pipeline=given.get("pipeline", "")[:40],
        status=status if status in STATUSES else "",
        verdict=given.get("verdict", "")[:60],
        sort=sort if sort.removeprefix("-") in ORDERS else NEWEST,
        page=max(1, int(page)) if page.isdecimal() and len(page) < 7 else 1,
    )


def _listed(shelf: JournalReader, asked: Asked) -> tuple[list[tuple[Run, str]], int]:
    """The runs of the page with their states, and how many runs there are on all pages."""
    begin = PAGE * (asked.page - 1)
    pipeline = asked.pipeline or None
    text = asked.text or None
    verdict = asked.verdict or None
    chosen = partial(
        shelf.runs,
        pipeline=pipeline,
        text=text,
        verdict=verdict,
    )
    ordered = partial(
        chosen,
        order=asked.sort.removeprefix("-"),
        rising=not asked.sort.startswith("-"),
    )
    if asked.status in (INTERRUPTED, Status.RUNNING):
        # Whether a process works on a run is not in the file, so these are looked at one by one.
        marked = ordered(status=Status.RUNNING, limit=MOST_LIVE)
        fitting = [(run, asked.status) for run in marked if shelf.status_of(run) == asked.status]
        return fitting[begin : begin + PAGE], len(fitting)
    status = Status(asked.status) if asked.status else None
    found = ordered(status=status, limit=PAGE, offset=begin)
    total = shelf.count(
        pipeline=pipeline,
        status=status,
        text=text,
        verdict=verdict,
    )
    return [(run, shelf.status_of(run)) for run in found], total


def compare_page(request: Request) -> HTMLResponse:
    """The whole page."""
    state = state_of(request)
    names = request.query_params.getlist("run")
    if not 2 <= len(names) <= MOST_COMPARED:
        says = f"Two to {MOST_COMPARED} runs are compared. Received: {len(names)}."
        raise InputError(says, next_step="Tick them in the list of runs.")
    with state.shelf() as shelf:
        stored = [
            Stored(
                shelf,
                shelf.find(name),
                state.runs_dir,
            )
            for name in names
        ]
        runs = [one.run for one in stored]
        shown = [document_of(one) for one in stored]
        leads = [(run.id, f"/runs/{run.id}") for run in runs]
        sections = [
            Section("", [_facts(runs, shelf)], leads=leads),
            *_requested(runs),
            *_curves(stored),
            *_findings(runs, shown),
        ]
    sections += _beside(runs, shown)
    return state.page("compare.html", runs=runs, sections=sections)


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
    """Sections of the same name beside one another, each leading to where it stands in its run."""
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
