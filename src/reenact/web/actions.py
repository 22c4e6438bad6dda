"""Start, stop, resume, apply, rename, remove: what the command line does, in processes of their
own.
"""

import shlex
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias
from urllib.parse import quote

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from reenact.api.training import apply_repair
from reenact.errors import InputError
from reenact.jobs import Job, stop_run
from reenact.journal import Journal
from reenact.report.run_words import program_of
from reenact.types import ExitCode
from reenact.web.guard import posted
from reenact.web.state import AppState, found_run, state_of

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
MOST_RECENT = 200
NOT_GOOD = "findings or a broken training, or did not repair or reproduce"
MEANING: dict[int | None, tuple[str, str]] = {
    None: ("note", "It has ended."),
    ExitCode.OK: ("good", "It ended well (exit code 0)."),
    ExitCode.FOUND: ("note", f"It ended with {NOT_GOOD} (exit code 1)."),
    ExitCode.ERROR: (
        "error",
        "It ended with an error (exit code 2): its output says which.",
    ),
    ExitCode.INCONCLUSIVE: (
        "warning",
        "Nothing could be judged (exit code 3): its output says why.",
    ),
    ExitCode.STOPPED: (
        "warning",
        "It was stopped; the same command continues it (exit code 130).",
    ),
}
"""How a command ended, by its exit code: a tone and a sentence. That of an earlier server is
not known.
"""


def new_page(request: Request) -> HTMLResponse:
    """The forms."""
    asked = request.query_params
    given = {}
    if asked.get("argument"):
        given = {"argument": asked["argument"][:2000]}
    return _new(
        state_of(request),
        asked.get("verb", ""),
        given,
        "",
    )


def _new(
    state: AppState,
    verb: str,
    given: Mapping[str, str],
    message: str,
) -> HTMLResponse:
    first = state.forms[0] if state.forms else None
    return state.page(
        "new.html",
        here="new",
        status=400 if message else 200,
        forms=state.forms,
        form=next(
            (form for form in state.forms if form.verb == verb),
            first,
        ),
        given=given,
        recent=_recent_programs(state),
        folder=state.jobs.working_folder,
        message=message,
    )


def _recent_programs(state: AppState) -> list[str]:
    """Programs that were run from this folder lately, as they are typed."""
    if not state.has_journal:
        return []
    here = str(state.jobs.working_folder.resolve())
    with state.shelf() as shelf:
        runs = list(shelf.runs(limit=MOST_RECENT))
    programs: list[str] = []
    for run in runs:
        request = run.request_data()
        words = program_of(run)
        if words and isinstance(request, dict) and request.get("working") == here:
            programs.append(shlex.join(words))
    return list(dict.fromkeys(programs))


def action(
    act: Callable[[Request, AppState, Mapping[str, str]], str | Response],
) -> Endpoint:
    """A handler of a form that this server made: what it does, away from the event loop, and then
    where the browser goes.
    """

    async def handled(request: Request) -> Response:
        state = state_of(request)
        answer = await run_sync(
            act,
            request,
            state,
            await posted(request, state.key),
        )
        if isinstance(answer, str):
            return RedirectResponse(answer, status_code=303)
        return answer

    return handled


@action
def start(
    request: Request,  # noqa: ARG001
    state: AppState,
    fields: Mapping[str, str],
) -> str | Response:
    """Start the command that a form describes."""
    form = next(
        (one for one in state.forms if one.verb == fields.get("verb")),
        None,
    )
    if form is None:
        raise InputError("There is no such command on this page.")
    try:
        words = form.words(fields)
    except InputError as error:
        return _new(state, form.verb, fields, error.sentence)
    return f"/started/{state.jobs.start(words).id}"


@action
def stop(
    request: Request,
    state: AppState,
    _: Mapping[str, str],
) -> str:
    """Ask a run to stop."""
    with state.shelf() as shelf:
        run = found_run(request, shelf)
        return f"/runs/{run.id}?message={quote(stop_run(run, shelf))}"


@action
def resume(
    request: Request,
    state: AppState,
    _: Mapping[str, str],
) -> str:
    """Continue a run."""
    with state.shelf() as shelf:
        run = found_run(request, shelf)
        shelf.require_ours(run)
    return f"/started/{state.jobs.resume(run).id}"


@action
def apply(
    request: Request,
    state: AppState,
    _: Mapping[str, str],
) -> str:
    """Write the change of a repair into the files."""
    with state.shelf() as shelf:
        run = found_run(request, shelf)
    return f"/runs/{run.id}?message={quote(apply_repair(run.id, runs_dir=state.runs_dir))}"


@action
def rename(
    request: Request,
    state: AppState,
    fields: Mapping[str, str],
) -> str:
    """Give a run another name."""
    with Journal.open(state.runs_dir) as journal:
        return f"/runs/{journal.rename(found_run(request, journal), fields.get('name', '')).id}"


@action
def remove(
    request: Request,
    state: AppState,
    _: Mapping[str, str],
) -> str:
    """Remove a run that has ended."""
    with Journal.open(state.runs_dir) as journal:
        journal.remove(str(request.path_params["run"]))
    return "/"


@action
def stop_started(
    request: Request,
    state: AppState,
    _: Mapping[str, str],
) -> str:
    """Ask a command to stop, also before it has a run."""
    job = _job(request)
    state.jobs.stop(job)
    return f"/started/{job.id}"


def started_page(request: Request) -> HTMLResponse:
    """A command that was started here, and its output."""
    state = state_of(request)
    job = _job(request)
    run = None
    status = ""
    if state.has_journal:
        with state.shelf() as shelf:
            run = next(
                iter(state.jobs.runs_of(job, shelf)),
                None,
            )
            status = shelf.status_of(run) if run is not None else ""
    alive = state.jobs.is_alive(job)
    code = state.jobs.exit_code(job)
    ended = MEANING.get(
        code,
        ("error", f"It was ended from outside (exit code {code})."),
    )
    tone, sentence = ("note", "It is running.") if alive else ended
    return state.page(
        "process.html",
        job=job,
        alive=alive,
        tone=tone,
        sentence=sentence,
        output=state.jobs.output(job),
        run=run,
        run_status=status,
    )


def _job(request: Request) -> Job:
    name = str(request.path_params["job"])
    job = state_of(request).jobs.find(name)
    if job is None:
        raise InputError(f"No command {name[:40]!r} was started here.")
    return job
