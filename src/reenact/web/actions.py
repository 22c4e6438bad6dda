"""Start, stop, resume: the command line does it, in a process of its own, with the same budgets."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from reenact.errors import InputError
from reenact.journal import Run
from reenact.web.forms import Form
from reenact.web.guard import posted
from reenact.web.processes import stop_run
from reenact.web.state import AppState, found_run, number_of, state_of

STALE = InputError("This form is from an earlier start of the page.", next_step="Load it again, then send.")


def new_page(request: Request) -> HTMLResponse:
    """The forms."""
    return _new(state_of(request), request.query_params.get("verb", ""), {}, "")


def _new(state: AppState, verb: str, given: Mapping[str, str], said: str) -> HTMLResponse:
    chosen = next((form for form in state.forms if form.verb == verb), next(iter(state.forms), None))
    return state.page(
        "new.html",
        here="new",
        forms=state.forms,
        form=chosen,
        given=given,
        said=said,
        folder=state.processes.folder,
        status=400 if said else 200,
    )


async def start(request: Request) -> Response:
    """Start the command that a form describes."""
    state = state_of(request)
    fields = await posted(request, state.key)
    if fields is None:
        raise STALE
    form: Form | None = next((one for one in state.forms if one.verb == fields.get("verb")), None)
    if form is None:
        raise InputError("There is no such command on this page.")
    try:
        words = form.words(fields)
    except InputError as error:
        return _new(state, form.verb, fields, error.sentence)
    made = await run_sync(state.processes.start, words)
    return RedirectResponse(f"/started/{made.number}", status_code=303)


async def stop(request: Request) -> Response:
    """Ask a run to stop."""
    state = state_of(request)
    if await posted(request, state.key) is None:
        raise STALE

    def asked() -> tuple[Run, str]:
        with state.shelf() as shelf:
            run = found_run(request, shelf)
            return run, stop_run(run, shelf)

    run, said = await run_sync(asked)
    return RedirectResponse(f"/runs/{run.id}?said={quote(said)}", status_code=303)


async def resume(request: Request) -> Response:
    """Continue a run."""
    state = state_of(request)
    if await posted(request, state.key) is None:
        raise STALE

    def asked() -> int:
        with state.shelf() as shelf:
            run = found_run(request, shelf)
            shelf.require_ours(run)
        return state.processes.resume(run).number

    return RedirectResponse(f"/started/{await run_sync(asked)}", status_code=303)


async def stop_started(request: Request) -> Response:
    """Ask a command to stop, also before it has a run."""
    state = state_of(request)
    if await posted(request, state.key) is None:
        raise STALE
    number = number_of(request, "number")
    state.processes.find(number).stop()
    return RedirectResponse(f"/started/{number}", status_code=303)


def started_page(request: Request) -> HTMLResponse:
    """A command that this page has started, and what it prints."""
    state = state_of(request)
    one = state.processes.find(number_of(request, "number"))
    run, standing = None, ""
    if state.has_journal:
        with state.shelf() as shelf:
            run = state.processes.run_of(one, shelf)
            standing = shelf.status_of(run) if run is not None else ""
    return state.page("process.html", process=one, run=run, standing=standing)
