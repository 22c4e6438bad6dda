"""The list of runs, and two of them side by side."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse

from reenact.errors import InputError
from reenact.journal import Run, Shelf, Status
from reenact.journal.shelf import INTERRUPTED
from reenact.report.run_words import cost_of, counted, short, steps_of, time_of
from reenact.report.sheet import Text
from reenact.web.desk import desk_of
from reenact.web.live import NOTHING, runs_mark
from reenact.web.page import Beside, Section
from reenact.web.stored import Stored
from reenact.web.verdicts import headline
from reenact.web.views.choose import sections_of

PAGE = 50
MOST_LIVE = 1000
STATUSES = (*(status.value for status in Status), INTERRUPTED)
TITLE, SENTENCE = 70, 160
"""Letters of a title and of a verdict in the list."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the reader wants to see."""

    text: str = ""
    story: str = ""
    status: str = ""
    page: int = 1

    @property
    def is_filtered(self) -> bool:
        return bool(self.text or self.story or self.status)

    @property
    def address(self) -> str:
        words = {"q": self.text, "story": self.story, "status": self.status, "page": self.page}
        given = {name: value for name, value in words.items() if value and value != 1}
        return f"/?{urlencode(given)}" if given else "/"

    def at(self, page: int) -> str:
        return replace(self, page=page).address


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run in the list."""

    id: str
    story: str
    what: str
    standing: str
    verdict: str
    steps: str
    cost: str
    time: str
    started: str


def runs_page(request: Request) -> HTMLResponse:
    """The list, newest first."""
    desk, asked = desk_of(request), _asked(request)
    if desk.has_journal:
        with desk.shelf() as shelf:
            mark, stories, (rows, total) = runs_mark(shelf), shelf.stories(), _listed(shelf, asked)
    else:
        mark, stories, (rows, total) = NOTHING, [], ([], 0)
    return desk.page(
        "runs.html",
        here="runs",
        asked=asked,
        mark=mark,
        stories=stories,
        statuses=STATUSES,
        rows=rows,
        counted=counted(total, "run"),
        pages=-(-total // PAGE),
        folder=desk.runs_dir,
    )


def _asked(request: Request) -> Asked:
    given = request.query_params
    page, status = given.get("page", "1"), given.get("status", "")
    return Asked(
        text=given.get("q", "").strip()[:200],
        story=given.get("story", "")[:40],
        status=status if status in STATUSES else "",
        page=max(1, int(page)) if page.isdecimal() and len(page) < 7 else 1,
    )


def _listed(shelf: Shelf, asked: Asked) -> tuple[list[RunRow], int]:
    """The rows of the page, and how many runs there are on all pages."""
    story, text = asked.story or None, asked.text or None
    if asked.status in (INTERRUPTED, Status.RUNNING):
        # Whether a process works on a run is not in the file, so these are looked at one by one.
        marked = shelf.runs(story=story, status=Status.RUNNING, text=text, limit=MOST_LIVE)
        fitting = [run for run in marked if shelf.standing(run) == asked.status]
        return [_row(run, shelf) for run in _cut(fitting, asked.page)], len(fitting)
    status = Status(asked.status) if asked.status else None
    begin = PAGE * (asked.page - 1)
    found = shelf.runs(story=story, status=status, text=text, limit=PAGE, offset=begin)
    return [_row(run, shelf) for run in found], shelf.count(story=story, status=status, text=text)


def _cut(runs: list[Run], page: int) -> list[Run]:
    return runs[PAGE * (page - 1) : PAGE * page]


def _row(run: Run, shelf: Shelf) -> RunRow:
    return RunRow(
        id=run.id,
        story=run.story,
        what=short(run.what, TITLE),
        standing=shelf.standing(run),
        verdict=short(headline(run), SENTENCE),
        steps=f"{run.done + run.reused}/{run.steps}",
        cost=cost_of(run.money, run.tokens_in + run.tokens_out, run.unpriced),
        time=time_of(run.worked_s),
        started=run.started_at,
    )


def compare_page(request: Request) -> HTMLResponse:
    """Two runs side by side."""
    desk = desk_of(request)
    names = request.query_params.getlist("run")
    if len(names) != 2:
        raise InputError(
            f"Two runs are compared. Received: {len(names)}.", next_step="Tick two in the list of runs."
        )
    with desk.shelf() as shelf:
        left, right = (shelf.find(name) for name in names)
        shown = [sections_of(Stored(shelf, run, desk.runs_dir)) for run in (left, right)]
        rows = [
            (name, *both)
            for name, *both in zip(NAMES, _facts(left, shelf), _facts(right, shelf), strict=True)
        ]
    asked = difflib.unified_diff(_lines(left), _lines(right), left.id, right.id, lineterm="", n=2)
    sections = [Section("What was asked", [Text("\n".join(asked) or "The same.", is_diff=True)])]
    sections += _beside(*shown)
    return desk.page("compare.html", charts=True, left=left, right=right, rows=rows, sections=sections)


NAMES = ("story", "what", "status", "verdict", "steps", "cost", "time", "started", "version")


def _facts(run: Run, shelf: Shelf) -> Iterator[str]:
    yield run.story
    yield run.what
    yield shelf.standing(run)
    yield headline(run)
    yield steps_of(run)
    yield cost_of(run.money, run.tokens_in + run.tokens_out, run.unpriced)
    yield time_of(run.worked_s)
    yield run.started_at[:19]
    yield f"reenact {run.version}, Python {run.python}"


def _lines(run: Run) -> list[str]:
    return json.dumps(run.request_data(), indent=1, sort_keys=True, ensure_ascii=False).splitlines()


def _beside(left: tuple[Section, ...], right: tuple[Section, ...]) -> Iterator[Section]:
    """Sections of the same name beside one another."""
    named = {section.title: section for section in right}
    for one in left:
        two = named.pop(one.title, None)
        yield Section(one.title, [Beside(one.blocks, two.blocks if two is not None else ())])
    for two in named.values():
        yield Section(two.title, [Beside((), two.blocks)])
