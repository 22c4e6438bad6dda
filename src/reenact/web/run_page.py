"""One run: its verdict, what its pipeline shows of it, the conversation with the model, its
steps.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from reenact.api.reference import stale
from reenact.errors import InputError
from reenact.journal import JournalReader, Kind, Run, State, Status
from reenact.report.document import Block, Diagnostic, Section
from reenact.report.recorded import document_of, growing_of, progress_of
from reenact.report.run_report import head_of, report_page, step_blocks, talk
from reenact.report.run_words import cost_of, program_of
from reenact.settings import resolve
from reenact.types import ExitCode
from reenact.web.state import AppState, number_of, seen_already, stored_run

PAGE = 100
FIRST_TALKS = 30
FIRST_STEPS = 25
NEAR = 500
LOOKED_AT = 40
SHOWN = 6
LINES = 12
"""Of the output of a command at work."""


def listing(
    shelf: JournalReader,
    run: Run,
    given: Mapping[str, str],
    most: int = PAGE,
) -> dict[str, object]:
    """The page of steps that the words of an address ask for, and the addresses of those around
    it.
    """
    kind = given.get("kind", "")
    state = given.get("state", "")
    after = given.get("after", "0")
    under = given.get("under", "").strip().strip("/")[:500]
    begin = 0
    if after.isdecimal() and len(after) < 10:
        begin = int(after)
    wanted = {
        "kind": kind,
        "state": state,
        "under": under,
    }
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
    counted = ""
    if shown and filtered:
        and_more = ", there are more" if more else ""
        counted = f"{len(shown)} shown{and_more}, of {run.steps:,} steps in all"
    elif shown:
        counted = f"{shown[0].nr:,} to {shown[-1].nr:,} of {run.steps:,} steps"

    def at(start: int) -> str:
        words = {
            name: value
            for name, value in {
                **wanted,
                "after": start,
            }.items()
            if value
        }
        return f"/runs/{run.id}/steps?{urlencode(words)}"

    return {
        **wanted,
        "rows": shown,
        "is_filtered": filtered,
        "counted": counted,
        "first": at(0) if begin else "",
        "next": at(shown[-1].nr) if more else "",
        "before": at(max(0, begin - PAGE)) if begin and not filtered else "",
        "has_cost": any(cost_of(step) != "-" for step in shown),
        "has_error": any(step.error_type for step in shown),
        "kinds": list(Kind),
        "states": list(State),
    }


def run_page(request: Request) -> Response:
    """All of it. One that shows a run at work asks for news, and gets everything when that has
    ended.
    """
    with stored_run(request) as (state, stored):
        run = stored.run
        shelf = stored.shelf
        live = shelf.is_live(run)
        growing = growing_of(stored) if live else None
        mark = "ended"
        if live:
            mark = f"{run.check_sum}-{growing[0].step if growing else 0}"
        nothing_new = seen_already(request, mark)
        if nothing_new:
            return nothing_new
        asked = talk(stored, limit=FIRST_TALKS + 1)
        script = next(
            (word for word in program_of(run) if word.endswith((".py", ".ipynb"))),
            "",
        )
        # What ended without a verdict continues; a command that came with a file is started by hand
        # only.
        over = live or run.status is Status.FINISHED or run.imported
        given: dict[str, Any] = {
            "run": run,
            "head": head_of(run, shelf),
            "mark": mark,
            "output": _last_output(state, run) if live else "",
            "is_live": live,
            "may_stop": live,
            "may_apply": _may_apply(run, shelf),
            "may_resume": not over and bool(run.command()),
            "related": _related(run, shelf),
            "repair": _repair_address(run) if not live else "",
            "listing": listing(shelf, run, {}, FIRST_STEPS),
            "message": request.query_params.get("message", "")[:300],
            "sections": editable(document_of(stored).sections, run),
            "editor": _address(run, script) if script else "",
            "progress": progress_of(stored) if live else (),
            "talk": [fold for _, fold in asked[:FIRST_TALKS]],
            "more_talk": asked[FIRST_TALKS - 1][0].nr if len(asked) > FIRST_TALKS else 0,
        }
    page = state.page("run.html", **given)
    if not live and "seen" in request.query_params:
        page.headers.update({"hx-retarget": "#main", "hx-reselect": "#main"})
    return page


def _last_output(state: AppState, run: Run) -> str:
    """The last lines that the command of a run printed, where this page started it."""
    for job in reversed(state.jobs.all()):
        if job.pid == run.pid:
            return "\n".join(state.jobs.output(job).splitlines()[-LINES:])
    return ""


def _related(run: Run, shelf: JournalReader) -> list[Run]:
    """Other runs of the same thing in the same folder: the diagnosis of a repair, its neutrality
    graph.

    Only among the runs of about that time, so that a long journal does not make the page wait.
    """
    program = program_of(run)
    text = next(
        (word for word in program if not word.startswith("-")),
        run.what,
    )
    if not text:
        return []
    near = (run.seq - NEAR, run.seq + NEAR)
    related = []
    for other in shelf.runs(text=text, between=near, limit=LOOKED_AT):
        if other.folder != run.folder or other.id == run.id:
            continue
        same = program_of(other) == program if program else other.what == run.what
        if same:
            related.append(other)
    return related[:SHOWN]


def _may_apply(run: Run, shelf: JournalReader) -> bool:
    """A finished repair of ours whose change held, or a diagnosis with a fix that ran, of a program that
    is as it was.
    """
    ours = shelf.is_ours(run) and not stale(run)
    if run.pipeline == "diagnose" and run.status is Status.FINISHED:
        short = run.verdict_data()
        return isinstance(short, dict) and bool(short.get("fix")) and ours
    held = (
        run.pipeline == "repair" and run.status is Status.FINISHED and run.exit_code == ExitCode.OK
    )
    verdict = run.verdict_data() if held else None
    good_already = isinstance(verdict, dict) and verdict.get("decision") == "good-already"
    return held and not good_already and ours


def _repair_address(run: Run) -> str:
    """The form that repairs what a diagnosis found fault with; empty for other runs."""
    words = program_of(run)
    if run.pipeline != "diagnose" or run.exit_code != ExitCode.FOUND or not words:
        return ""
    return f"/new?{urlencode({'verb': 'repair', 'argument': shlex.join(words)})}"


def editable(sections: Sequence[Section], run: Run) -> list[Section]:
    """The sections with a link to the editor at every finding whose file is here."""
    return [
        replace(
            one,
            blocks=[_linked(block, run) for block in one.blocks],
        )
        for one in sections
    ]


def _linked(block: Block, run: Run) -> Block:
    # A line of a notebook is not one of its file.
    if not isinstance(block, Diagnostic) or block.place is None or block.cell:
        return block
    place = block.place
    return replace(
        block,
        editor=_address(
            run,
            str(place.file),
            place.line,
            place.column,
        ),
    )


def _address(
    run: Run,
    file: str,
    line: int = 1,
    column: int = 0,
) -> str:
    """Opens a file of a run; empty where it is not here, or came with a file."""
    request = run.request_data()
    working = None
    if isinstance(request, dict):
        working = request.get("working")
    path = Path(str(working or run.folder), file)
    if run.imported or not path.is_absolute() or not path.is_file():
        return ""
    address = resolve().settings.editor
    address = address.replace(
        "{path}",
        quote(str(path.resolve())),
    )
    address = address.replace("{line}", str(line))
    return address.replace("{column}", str(column + 1))


def steps_page(request: Request) -> HTMLResponse:
    """A page of the steps."""
    given: Mapping[str, str] = dict(request.query_params)
    with stored_run(request) as (state, one):
        return state.page(
            "steps.html",
            run=one.run,
            listing=listing(one.shelf, one.run, given),
        )


def step_page(request: Request) -> HTMLResponse:
    """What went into one step and what came out."""
    number = number_of(request, "nr")
    with stored_run(request) as (state, stored):
        run = stored.run
        found = stored.shelf.some_steps(
            run,
            after=number - 1,
            limit=1,
        )
        if not found or found[0].nr != number:
            raise InputError(
                f"Run {run.id} has no step {number}.", next_step=f"It has {run.steps}."
            )
        return state.page(
            "step.html",
            run=run,
            step=found[0],
            parts=step_blocks(stored, found[0]),
        )


def report_download(request: Request) -> HTMLResponse:
    """The run as one file."""
    with stored_run(request) as (_, stored):
        text = report_page(stored)
        name = f"{stored.run.pipeline}-{stored.run.id}.html"
    return HTMLResponse(
        text,
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )
