"""The list of runs: newest first or as the reader wants it, searched, filtered, in pages; and runs
side by side: facts, what was asked of each, curves in one plot, findings, and the rest.
"""

from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from reenact.errors import InputError
from reenact.journal import JournalReader, Run, Status
from reenact.journal.reader import INTERRUPTED, ORDERS
from reenact.journal.records import digest
from reenact.report.comparison import compared
from reenact.report.recorded import Stored
from reenact.report.run_words import Listed, counted
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
        sections = compared(stored)
    return state.page("compare.html", runs=[one.run for one in stored], sections=sections)
