"""One run: its verdict, what its pipeline shows of it, the conversation with the model, its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse

from reenact.errors import InputError
from reenact.journal import JournalReader, Kind, Run, State, Status, Step
from reenact.report.recorded import Stored, document_of, progress_of
from reenact.report.run_report import head_of, report_page, step_blocks, talk
from reenact.report.run_words import cost_of, short, time_of
from reenact.report.run_words import state_of as step_state
from reenact.web.live import run_mark
from reenact.web.state import found_run, number_of, state_of

PAGE = 100
SENTENCE = 120


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step in the list."""

    nr: int
    path: str
    kind: str
    state: str
    time: str
    cost: str
    error: str
    tone: str


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of the list, and the addresses of those around it."""

    rows: tuple[StepRow, ...]
    kind: str
    state: str
    under: str
    counted: str
    first: str
    before: str
    next: str
    kinds: tuple[str, ...] = tuple(kind.value for kind in Kind)
    states: tuple[str, ...] = tuple(state.value for state in State)

    @property
    def is_filtered(self) -> bool:
        return bool(self.kind or self.state or self.under)


def listing(shelf: JournalReader, run: Run, given: Mapping[str, str], most: int = PAGE) -> Listing:
    """The page that the words of an address ask for."""
    kind, state = given.get("kind", ""), given.get("state", "")
    under = given.get("under", "").strip().strip("/")[:500]
    after = given.get("after", "0")
    begin = int(after) if after.isdecimal() and len(after) < 10 else 0
    wanted = {"kind": kind, "state": state, "under": under}
    found = shelf.some_steps(
        run,
        under=under or None,
        kind=Kind(kind) if kind in set(Kind) else None,
        state=State(state) if state in set(State) else None,
        after=begin,
        limit=most + 1,
    )
    shown = found[:most]
    filtered = any(wanted.values())
    more = len(found) > most

    def at(start: int) -> str:
        words = {name: value for name, value in {**wanted, "after": start}.items() if value}
        return f"/runs/{run.id}/steps?{urlencode(words)}"

    return Listing(
        rows=tuple(map(_row, shown)),
        kind=kind,
        state=state,
        under=under,
        counted=_counted(shown, run, filtered, more),
        first=at(0) if begin else "",
        before=at(max(0, begin - PAGE)) if begin and not filtered else "",
        next=at(shown[-1].nr) if more else "",
    )


def _counted(shown: list[Step], run: Run, filtered: bool, more: bool) -> str:
    if not shown:
        return ""
    if filtered:
        return f"{len(shown)} shown{', there are more' if more else ''}, of {run.steps:,} steps in all"
    return f"{shown[0].nr:,} to {shown[-1].nr:,} of {run.steps:,} steps"


def _row(step: Step) -> StepRow:
    return StepRow(
        nr=step.nr,
        path=step.path,
        kind=step.kind.value,
        state=step_state(step),
        time=time_of(step.duration_s),
        cost=cost_of(step.money or "0", step.tokens_in + step.tokens_out, int(step.money is None)),
        error=short(f"{step.error_type}: {step.error}", SENTENCE) if step.error_type else "",
        tone="failed" if step.state is State.FAILED else "",
    )


FIRST_TALKS = 30
FIRST_STEPS = 25
NEAR, LOOKED_AT, SHOWN = 500, 40, 6


def run_page(request: Request) -> HTMLResponse:
    """The whole page."""
    state = state_of(request)
    with state.shelf() as shelf:
        run = found_run(request, shelf)
        stored = Stored(shelf, run, state.runs_dir)
        live = shelf.is_live(run)
        asked = talk(stored, limit=FIRST_TALKS + 1)
        given: dict[str, Any] = {
            "run": run,
            "head": head_of(run, shelf),
            "is_live": live,
            "mark": run_mark(run, shelf),
            "may_stop": live,
            "may_resume": _may_resume(run, live),
            "message": request.query_params.get("message", "")[:300],
            "related": _related(run, shelf),
            "sections": document_of(stored).sections,
            "progress": progress_of(stored) if live else (),
            "talk": [fold for _, fold in asked[:FIRST_TALKS]],
            "more_talk": asked[FIRST_TALKS - 1][0].nr if len(asked) > FIRST_TALKS else 0,
            "listing": listing(shelf, run, {}, FIRST_STEPS),
        }
    return state.page("run.html", **given)


def _related(run: Run, shelf: JournalReader) -> list[Run]:
    """Other runs of the same thing in the same folder: the diagnosis of a repair, its neutrality graph.

    Only among the runs of about that time, so that a long journal does not make the page wait.
    """
    near = (run.seq - NEAR, run.seq + NEAR)
    found = shelf.runs(text=run.what, between=near, limit=LOOKED_AT) if run.what else []
    same = [one for one in found if (one.what, one.folder) == (run.what, run.folder) and one.id != run.id]
    return same[:SHOWN]


def _may_resume(run: Run, live: bool) -> bool:
    """What ended without a verdict continues; a command that came with a file is started by hand only."""
    return not live and run.status is not Status.FINISHED and bool(run.command()) and not run.imported


def steps_page(request: Request) -> HTMLResponse:
    """A page of the steps."""
    state = state_of(request)
    with state.shelf() as shelf:
        run = found_run(request, shelf)
        given: Mapping[str, str] = dict(request.query_params)
        return state.page("steps.html", run=run, listing=listing(shelf, run, given))


def step_page(request: Request) -> HTMLResponse:
    """What went into one step and what came out."""
    state = state_of(request)
    number = number_of(request, "nr")
    with state.shelf() as shelf:
        run = found_run(request, shelf)
        found = shelf.some_steps(run, after=number - 1, limit=1)
        if not found or found[0].nr != number:
            raise InputError(f"Run {run.id} has no step {number}.", next_step=f"It has {run.steps}.")
        parts = step_blocks(Stored(shelf, run, state.runs_dir), found[0])
    return state.page("step.html", run=run, step=found[0], parts=parts)


def report_download(request: Request) -> HTMLResponse:
    """The run as one file."""
    state = state_of(request)
    with state.shelf() as shelf:
        run = found_run(request, shelf)
        text = report_page(Stored(shelf, run, state.runs_dir))
    name = f"{run.pipeline}-{run.id}.html"
    return HTMLResponse(text, headers={"content-disposition": f'attachment; filename="{name}"'})
