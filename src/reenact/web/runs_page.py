"""The list of runs: newest first or as the reader wants it, searched, filtered, in pages."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from reenact.journal import JournalReader, Run, Status
from reenact.journal.reader import INTERRUPTED, ORDERS
from reenact.journal.records import digest
from reenact.report.run_words import Listed, counted
from reenact.web.state import seen_already, state_of

PAGE = 50
MOST_LIVE = 1000
STATUSES = (*(status.value for status in Status), INTERRUPTED)
NEWEST = "-started"
SORTS = {NEWEST: "newest first", "started": "oldest first", "-metric": "metric, largest first"}
SORTS |= {"metric": "metric, smallest first", "-time": "longest first", "-cost": "most expensive first"}
SORTS |= {"name": "name", "verdict": "verdict"}
"""Orders to choose from, in words; a heading of the list gives each both ways."""


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
        words = {"q": self.text, "pipeline": self.pipeline, "status": self.status, "verdict": self.verdict}
        words["sort"] = self.sort if self.sort != NEWEST else ""
        words["page"] = str(self.page) if self.page > 1 else ""
        given = {name: value for name, value in words.items() if value}
        return f"/?{urlencode(given)}" if given else "/"

    def at(self, page: int) -> str:
        return replace(self, page=page).address

    def by(self, order: str) -> str:
        """Where the list is ordered by this, and the other way round where it is so already."""
        return replace(self, sort=f"-{order}" if self.sort == order else order, page=1).address

    def way(self, order: str) -> str:
        """How this column is ordered, as assistive software has it; empty for not at all."""
        return {order: "ascending", f"-{order}": "descending"}.get(self.sort, "")


def runs_page(request: Request) -> Response:
    """The list, newest first."""
    state, asked = state_of(request), _asked(request)
    mark, rows, total = "nothing", list[tuple[Run, str]](), 0
    pipelines, verdicts = list[str](), list[str]()
    if state.has_journal:
        with state.shelf() as shelf:
            newest = [f"{run.check_sum}{shelf.status_of(run)}" for run in shelf.runs(limit=PAGE)]
            mark = digest(" ".join(newest))
            if nothing_new := seen_already(request, mark):
                return nothing_new
            pipelines, verdicts = shelf.pipelines(), shelf.verdicts()
            rows, total = _listed(shelf, asked)
    here = ("", str(state.jobs.working_folder.resolve()))
    listed = [Listed(run, status, "" if run.folder in here else run.folder) for run, status in rows]
    given: dict[str, Any] = {"asked": asked, "mark": mark, "rows": listed, "folder": state.runs_dir}
    given |= {"pipelines": pipelines, "statuses": STATUSES, "verdicts": verdicts, "sorts": SORTS}
    given |= {"counted": counted(total, "run"), "pages": -(-total // PAGE)}
    given["has_cost"] = any(row.cost for row in listed)
    given["has_metric"] = any(row.metric or row.curve for row in listed)
    return state.page("runs.html", here="runs", **given)


def _asked(request: Request) -> Asked:
    given = request.query_params
    page, status, sort = given.get("page", "1"), given.get("status", ""), given.get("sort", "")
    text, pipeline = given.get("q", "").strip()[:200], given.get("pipeline", "")[:40]
    status, sort = status if status in STATUSES else "", sort if sort.removeprefix("-") in ORDERS else NEWEST
    number = max(1, int(page)) if page.isdecimal() and len(page) < 7 else 1
    return Asked(text, pipeline, status, given.get("verdict", "")[:60], sort, number)


def _listed(shelf: JournalReader, asked: Asked) -> tuple[list[tuple[Run, str]], int]:
    """The runs of the page with their states, and how many runs there are on all pages."""
    begin = PAGE * (asked.page - 1)
    pipeline, text, verdict = asked.pipeline or None, asked.text or None, asked.verdict or None
    chosen = partial(shelf.runs, pipeline=pipeline, text=text, verdict=verdict)
    ordered = partial(chosen, order=asked.sort.removeprefix("-"), rising=not asked.sort.startswith("-"))
    if asked.status in (INTERRUPTED, Status.RUNNING):
        # Whether a process works on a run is not in the file, so these are looked at one by one.
        marked = ordered(status=Status.RUNNING, limit=MOST_LIVE)
        fitting = [(run, asked.status) for run in marked if shelf.status_of(run) == asked.status]
        return fitting[begin : begin + PAGE], len(fitting)
    status = Status(asked.status) if asked.status else None
    found = ordered(status=status, limit=PAGE, offset=begin)
    total = shelf.count(pipeline=pipeline, status=status, text=text, verdict=verdict)
    return [(run, shelf.status_of(run)) for run in found], total
