"""The list of runs: newest first, searched, filtered, in pages; and two runs side by side."""

from __future__ import annotations

import difflib
import json
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from reenact.errors import InputError
from reenact.journal import JournalReader, Run, Status
from reenact.journal.reader import INTERRUPTED
from reenact.journal.records import digest
from reenact.report.document import Beside, Block, Board, Row, Section, Text, mapped
from reenact.report.line_plot import sparkline
from reenact.report.recorded import Stored, document_of
from reenact.report.run_words import cost_of, counted, run_facts
from reenact.types import JsonValue
from reenact.web.state import AppState, seen_already, state_of

PAGE = 50
SPARKS = 14
"""Characters of a curve in a row."""
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


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of the list."""

    run: Run
    status: str
    folder: str = ""
    """Where it ran, where that is not the folder of the page."""

    @property
    def program(self) -> str:
        """With its arguments, as it was typed."""
        request = self.run.request_data()
        words = request.get("words") if isinstance(request, dict) else None
        return shlex.join(map(str, words)) if isinstance(words, list) else self.run.what

    @property
    def metric(self) -> str:
        """What the training came to, or the change made of it."""
        return str(self._short.get("metric") or "")

    @property
    def curve(self) -> str:
        """The loss as a line of bars."""
        values = self._short.get("curve")
        known = [one for one in values if isinstance(one, float | int)] if isinstance(values, list) else []
        return sparkline(known, SPARKS) if known else ""

    @property
    def cost(self) -> str:
        """Of the models that were asked; empty where none was."""
        return cost_of(self.run).removeprefix("-")

    @property
    def seconds(self) -> float:
        """Worked so far; of one at work since it was started."""
        if self.status != Status.RUNNING:
            return self.run.worked_s
        return max(self.run.worked_s, time.time() - datetime.fromisoformat(self.run.started_at).timestamp())

    @property
    def _short(self) -> Mapping[str, JsonValue]:
        verdict = self.run.verdict_data() if self.run.verdict is not None else None
        return verdict if isinstance(verdict, dict) else {}


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
    listed = [Listed(run, status, _elsewhere(run, state)) for run, status in rows]
    return state.page(
        "runs.html",
        here="runs",
        asked=asked,
        mark=mark,
        pipelines=pipelines,
        statuses=STATUSES,
        rows=listed,
        has_cost=any(row.cost for row in listed),
        has_metric=any(row.metric or row.curve for row in listed),
        counted=counted(total, "run"),
        pages=-(-total // PAGE),
        folder=state.runs_dir,
    )


def _elsewhere(run: Run, state: AppState) -> str:
    here = str(state.jobs.working_folder.resolve())
    return "" if run.folder in ("", here) else run.folder


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


FACTS = ("pipeline", "what", "verdict", "steps", "cost", "time", "started", "version")
AT = {"what": "", "verdict": "", "steps": "#steps", "cost": "#talk"}
"""Facts that lead to the run itself, and where on its page they stand."""
CLOCK = ("time", "started")
"""Facts in which any two runs differ."""


def compare_page(request: Request) -> HTMLResponse:
    """The whole page."""
    state = state_of(request)
    names = request.query_params.getlist("run")
    if len(names) != 2:
        raise InputError(
            f"Two runs are compared. Received: {len(names)}.", next_step="Tick two in the list of runs."
        )
    with state.shelf() as shelf:
        left, right = (shelf.find(name) for name in names)
        shown = [document_of(Stored(shelf, run, state.runs_dir)).sections for run in (left, right)]
        facts = _facts(left, right, shelf)
    asked = difflib.unified_diff(_lines(left), _lines(right), left.id, right.id, lineterm="", n=2)
    sections = [Section("", [facts], leads=[(run.id, f"/runs/{run.id}") for run in (left, right)])]
    sections.append(Section("What was asked", [Text("\n".join(asked) or "The same.", is_diff=True)], "asked"))
    sections += _beside((left, right), shown)
    return state.page("compare.html", left=left, right=right, sections=sections)


def _facts(left: Run, right: Run, shelf: JournalReader) -> Board:
    """A row a fact; where the two differ it has a colour."""
    facts, others = (dict(run_facts(run, *FACTS)) | {"status": shelf.status_of(run)} for run in (left, right))
    rows = []
    for name in (one for one in (*FACTS, "status") if one in facts or one in others):
        one, two = facts.get(name, "-"), others.get(name, "-")
        hrefs = {0: f"#fact-{name}"}
        for at, (run, value) in enumerate(((left, one), (right, two)), start=1):
            if name in AT and value not in ("", "-"):
                hrefs[at] = f"/runs/{run.id}{AT[name]}"
        tone = "differs" if one != two and name not in CLOCK else ""
        rows.append(Row((name, one, two), tone, f"fact-{name}", hrefs))
    return Board("", ("", left.id, right.id), rows)


def _lines(run: Run) -> list[str]:
    return json.dumps(run.request_data(), indent=1, sort_keys=True, ensure_ascii=False).splitlines()


def _beside(runs: tuple[Run, Run], shown: Sequence[tuple[Section, ...]]) -> Iterator[Section]:
    """Sections of the same name beside one another, each leading to where it stands in its run."""
    named = [{section.title: section for section in sections} for sections in shown]
    for title in {**named[0], **named[1]}:
        one, two = (sections.get(title) for sections in named)
        if one is not None and two is not None:
            both = Beside(within(one.blocks, "left"), within(two.blocks, "right"))
            yield Section(title, [both], one.anchor, [_lead(runs[0], one), _lead(runs[1], two)])
        elif one is not None:
            yield _alone(runs[0], one, "left")
        elif two is not None:
            yield _alone(runs[1], two, "right")


def _alone(run: Run, section: Section, side: str) -> Section:
    leads = [_lead(run, section, "only in ")]
    return Section(section.title, within(section.blocks, side), f"{side}-{section.anchor}", leads)


def _lead(run: Run, section: Section, how: str = "") -> tuple[str, str]:
    return f"{how}{run.id}", f"/runs/{run.id}#{section.anchor}"


def within(blocks: Sequence[Block], side: str) -> list[Block]:
    """The blocks of one side: places that both runs have are named apart, and lead to their own side."""
    return [mapped(block, partial(_on_side, side)) for block in blocks]


def _on_side(side: str, name: str, text: str) -> str:
    """An anchor or a link of a block, on its own side of the page."""
    if name == "anchor" and text:
        return f"{side}-{text}"
    return f"#{side}-{text[1:]}" if name in ("href", "hrefs") and text.startswith("#") else text
