"""Which address shows what."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from reenact.errors import InputError, ReenactError
from reenact.web.actions import new_page, resume, start, started_page, stop, stop_started
from reenact.web.compare_page import compare_page
from reenact.web.guard import Guard
from reenact.web.render import htmx, own
from reenact.web.run_page import report_download, run_page, step_page, steps_page
from reenact.web.runs_page import runs_page
from reenact.web.state import AppState, state_of

ROUTES = (
    Route("/", runs_page),
    Route("/compare", compare_page),
    Route("/new", new_page),
    Route("/new", start, methods=["POST"]),
    Route("/started/{job}", started_page),
    Route("/started/{job}/stop", stop_started, methods=["POST"]),
    Route("/runs/{run}", run_page),
    Route("/runs/{run}/steps", steps_page),
    Route("/runs/{run}/steps/{nr}", step_page),
    Route("/runs/{run}/report.html", report_download),
    Route("/runs/{run}/stop", stop, methods=["POST"]),
    Route("/runs/{run}/resume", resume, methods=["POST"]),
)


def make_app(state: AppState, port: int) -> ASGIApp:
    """The application behind its guard, which sees every answer, those to faults of ours too."""
    app = Starlette(
        routes=[*ROUTES, Route("/static/{name}", _own), Route("/vendor/htmx.js", _htmx)],
        exception_handlers=dict.fromkeys((ReenactError, HTTPException, Exception), _failed),
    )
    app.state.reenact = state
    return Guard(app, state.key, port)


def _own(request: Request) -> Response:
    return _file(own(str(request.path_params["name"])), "no-cache")


def _htmx(request: Request) -> Response:  # noqa: ARG001
    return _file(htmx(), "private, max-age=3600")


def _file(path: Path | None, cache: str) -> Response:
    if path is None:
        raise HTTPException(404)
    return FileResponse(path, headers={"cache-control": cache})


def _failed(request: Request, error: Exception) -> HTMLResponse:
    """What went wrong, as a page that says what to do. A fault of ours is printed by the server."""
    status, title, next_step = 500, "That did not work", "The run itself is whole: reenact runs show RUN"
    sentence = f"The page met a fault of its own ({type(error).__name__}), which the terminal shows."
    if isinstance(error, ReenactError):
        sentence, next_step = error.sentence, error.next_step
    elif isinstance(error, HTTPException):
        status, title, next_step = error.status_code, "That is not possible", ""
        sentence = "There is no such page here." if status == 404 else f"{error.detail}."
    if isinstance(error, InputError) or status == 404:
        status, title = 404, "Not found"
    return state_of(request).page(
        "error.html", status=status, title=title, sentence=sentence, next_step=next_step
    )
