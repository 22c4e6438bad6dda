"""The list of runs: newest first, searched, filtered, in pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from reenact.journal import JournalReader, Run, Status
from reenact.journal.reader import INTERRUPTED
from reenact.journal.records import digest
from reenact.report.run_words import counted
from reenact.web.state import seen_already, state_of

PAGE = 50
MOST_LIVE = 1000
STATUSES = (*(status.value for status in Status), INTERRUPTED)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the reader wants to see."""

    text: str = ""
    pipeline: str = ""
    status: str = ""
    page: int = 1

    @property
    def is_filtered(self) -> bool:
        return bool(self.text or self.pipeline or self.status)

    @property
    def address(self) -> str:
        words = {"q": self.text, "pipeline": self.pipeline, "status": self.status, "page": self.page}
        given = {name: value for name, value in words.items() if value and value != 1}
        return f"/?{urlencode(given)}" if given else "/"

    def at(self, page: int) -> str:
        return replace(self, page=page).address


def runs_page(request: Request) -> Response:
    """The list, newest first."""
    state, asked = state_of(request), _asked(request)
    mark, pipelines, rows, total = "nothing", list[str](), list[tuple[Run, str]](), 0
    if state.has_journal:
        with state.shelf() as shelf:
            newest = [f"{run.check_sum}{shelf.status_of(run)}" for run in shelf.runs(limit=PAGE)]
            mark = digest(" ".join(newest))
            if nothing_new := seen_already(request, mark):
                return nothing_new
            pipelines, (rows, total) = list(shelf.pipelines()), _listed(shelf, asked)
    return state.page(
        "runs.html",
        here="runs",
        asked=asked,
        mark=mark,
        pipelines=pipelines,
        statuses=STATUSES,
        rows=rows,
        counted=counted(total, "run"),
        pages=-(-total // PAGE),
        folder=state.runs_dir,
    )


def _asked(request: Request) -> Asked:
    given = request.query_params
    page, status = given.get("page", "1"), given.get("status", "")
    return Asked(
        text=given.get("q", "").strip()[:200],
        pipeline=given.get("pipeline", "")[:40],
        status=status if status in STATUSES else "",
        page=max(1, int(page)) if page.isdecimal() and len(page) < 7 else 1,
    )


def _listed(shelf: JournalReader, asked: Asked) -> tuple[list[tuple[Run, str]], int]:
    """The runs of the page with their states, and how many runs there are on all pages."""
    pipeline, text = asked.pipeline or None, asked.text or None
    begin = PAGE * (asked.page - 1)
    if asked.status in (INTERRUPTED, Status.RUNNING):
        # Whether a process works on a run is not in the file, so these are looked at one by one.
        marked = shelf.runs(pipeline=pipeline, status=Status.RUNNING, text=text, limit=MOST_LIVE)
        fitting = [(run, asked.status) for run in marked if shelf.status_of(run) == asked.status]
        return fitting[begin : begin + PAGE], len(fitting)
    status = Status(asked.status) if asked.status else None
    found = shelf.runs(pipeline=pipeline, status=status, text=text, limit=PAGE, offset=begin)
    total = shelf.count(pipeline=pipeline, status=status, text=text)
    return [(run, shelf.status_of(run)) for run in found], total
