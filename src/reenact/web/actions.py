"""Start, stop, resume, apply, rename, remove: what the command line does, in processes of their own."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from urllib.parse import quote

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from reenact.api.training import apply_repair
from reenact.errors import InputError
from reenact.jobs import Job, stop_run
from reenact.journal import Journal, Run
from reenact.types import ExitCode
from reenact.web.guard import posted
from reenact.web.runs_page import program_of
from reenact.web.state import AppState, found_run, state_of

MEANING: dict[int | None, tuple[str, str]] = {
    None: ("note", "It has ended."),
    ExitCode.OK: ("good", "It ended well (exit code 0)."),
    ExitCode.FOUND: (
        "note",
        "It ended with findings or a broken training, or did not repair or reproduce (exit code 1).",
    ),
    ExitCode.ERROR: ("error", "It ended with an error (exit code 2): its output says which."),
    ExitCode.INCONCLUSIVE: ("warning", "Nothing could be judged (exit code 3): its output says why."),
    ExitCode.STOPPED: ("warning", "It was stopped; the same command continues it (exit code 130)."),
}
"""How a command ended, by its exit code: a tone and a sentence. That of an earlier server is not known."""


def new_page(request: Request) -> HTMLResponse:
    """The forms."""
    asked = request.query_params
    given = {"argument": asked["argument"][:2000]} if asked.get("argument") else {}
    return _new(state_of(request), asked.get("verb", ""), given, "")


def _new(state: AppState, verb: str, given: Mapping[str, str], message: str) -> HTMLResponse:
    chosen = next((form for form in state.forms if form.verb == verb), next(iter(state.forms), None))
    return state.page(
        "new.html",
        here="new",
        forms=state.forms,
        form=chosen,
        given=given,
        message=message,
        folder=state.jobs.working_folder,
        recent=_recent(state),
        status=400 if message else 200,
    )


def _recent(state: AppState) -> list[str]:
    """Programs that were run from this folder lately, as they are typed."""
    if not state.has_journal:
        return []
    here = str(state.jobs.working_folder.resolve())
    with state.shelf() as shelf:
        found = [(run, run.request_data()) for run in shelf.runs(limit=MOST_RECENT)]
    lines = [
        shlex.join(program_of(run))
        for run, request in found
        if isinstance(request, dict) and request.get("working") == here and program_of(run)
    ]
    return list(dict.fromkeys(lines))


MOST_RECENT = 200


async def start(request: Request) -> Response:
    """Start the command that a form describes."""
    state = state_of(request)
    fields = await posted(request, state.key)
    form = next((one for one in state.forms if one.verb == fields.get("verb")), None)
    if form is None:
        raise InputError("There is no such command on this page.")
    try:
        words = form.words(fields)
    except InputError as error:
        return _new(state, form.verb, fields, error.sentence)
    job = await run_sync(state.jobs.start, words)
    return RedirectResponse(f"/started/{job.id}", status_code=303)


async def stop(request: Request) -> Response:
    """Ask a run to stop."""
    state = state_of(request)
    await posted(request, state.key)

    def ask() -> tuple[Run, str]:
        with state.shelf() as shelf:
            run = found_run(request, shelf)
            return run, stop_run(run, shelf)

    run, message = await run_sync(ask)
    return RedirectResponse(f"/runs/{run.id}?message={quote(message)}", status_code=303)


async def resume(request: Request) -> Response:
    """Continue a run."""
    state = state_of(request)
    await posted(request, state.key)

    def continued() -> Job:
        with state.shelf() as shelf:
            run = found_run(request, shelf)
            shelf.require_ours(run)
        return state.jobs.resume(run)

    return RedirectResponse(f"/started/{(await run_sync(continued)).id}", status_code=303)


async def apply(request: Request) -> Response:
    """Write the change of a repair into the files."""
    state = state_of(request)
    await posted(request, state.key)

    def applied() -> tuple[str, str]:
        with state.shelf() as shelf:
            run = found_run(request, shelf)
        return run.id, apply_repair(run.id, runs_dir=state.runs_dir)

    run, message = await run_sync(applied)
    return RedirectResponse(f"/runs/{run}?message={quote(message)}", status_code=303)


async def rename(request: Request) -> Response:
    """Give a run another name."""
    state = state_of(request)
    fields = await posted(request, state.key)

    def renamed() -> Run:
        with Journal.open(state.runs_dir) as journal:
            return journal.rename(found_run(request, journal), fields.get("name", ""))

    run = await run_sync(renamed)
    return RedirectResponse(f"/runs/{run.id}", status_code=303)


async def remove(request: Request) -> Response:
    """Remove a run that has ended."""
    state = state_of(request)
    await posted(request, state.key)

    def removed() -> None:
        with Journal.open(state.runs_dir) as journal:
            journal.remove(str(request.path_params["run"]))

    await run_sync(removed)
    return RedirectResponse("/", status_code=303)


async def stop_started(request: Request) -> Response:
    """Ask a command to stop, also before it has a run."""
    state = state_of(request)
    await posted(request, state.key)
    job = _job(request)
    state.jobs.stop(job)
    return RedirectResponse(f"/started/{job.id}", status_code=303)


def started_page(request: Request) -> HTMLResponse:
    """A command that was started here, and its output."""
    state, job = state_of(request), _job(request)
    run, status = None, ""
    if state.has_journal:
        with state.shelf() as shelf:
            run = next(iter(state.jobs.runs_of(job, shelf)), None)
            status = shelf.status_of(run) if run is not None else ""
    alive = state.jobs.is_alive(job)
    code = state.jobs.exit_code(job)
    ended = MEANING.get(code, ("error", f"It was ended from outside (exit code {code})."))
    tone, sentence = ("note", "It is running.") if alive else ended
    return state.page(
        "process.html", job=job, alive=alive, tone=tone, sentence=sentence, output=state.jobs.output(job),
        run=run, run_status=status,
    )  # fmt: skip


def _job(request: Request) -> Job:
    name = str(request.path_params["job"])
    job = state_of(request).jobs.find(name)
    if job is None:
        raise InputError(f"No command {name[:40]!r} was started here.")
    return job
