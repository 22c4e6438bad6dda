"""The server: which address shows what. This machine only, one address with a token, ended by
Ctrl-C.
"""

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from reenact.errors import InputError, ReenactError
from reenact.jobs import Jobs
from reenact.web import actions
from reenact.web.guard import Guard
from reenact.web.render import htmx, own
from reenact.web.run_page import report_download, run_page, step_page, steps_page
from reenact.web.runs_page import compare_page, runs_page
from reenact.web.state import AppState, CommandForm, state_of

HERE = "127.0.0.1"
PATIENCE_S = 3
"""Seconds that open connections get when the server ends."""
CHANGES = ("stop", "resume", "apply", "rename", "remove")
ROUTES = (
    Route("/", runs_page),
    Route("/compare", compare_page),
    Route("/new", actions.new_page),
    Route("/new", actions.start, methods=["POST"]),
    Route("/started/{job}", actions.started_page),
    Route("/started/{job}/stop", actions.stop_started, methods=["POST"]),
    Route("/runs/{run}", run_page),
    Route("/runs/{run}/steps", steps_page),
    Route("/runs/{run}/steps/{nr}", step_page),
    Route("/runs/{run}/report.html", report_download),
    *(
        Route(
            f"/runs/{{run}}/{name}",
            getattr(actions, name),
            methods=["POST"],
        )
        for name in CHANGES
    ),
    Route(
        "/static/{name}",
        lambda asked: _file(
            own(str(asked.path_params["name"])),
            "no-cache",
        ),
    ),
    Route("/vendor/htmx.js", lambda _: _file(htmx(), "private, max-age=3600")),
)


def serve(
    runs_dir: Path,
    forms: Sequence[CommandForm],
    *,
    tell: Callable[[str], None],
    port: int = 0,
) -> None:
    """Serve until Ctrl-C; `tell` gets the address."""
    listening, server, address = _made(runs_dir, forms, Path.cwd(), port)
    tell(address)
    # Having let go of its connections, the server raises the Ctrl-C that ended it once more.
    with listening, suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


@contextmanager
def serving(
    runs_dir: Path, forms: Sequence[CommandForm] = (), folder: Path | None = None
) -> Iterator[str]:
    """A server in a thread of this process, for tests and measurements: the address with its
    token.
    """
    listening, server, address = _made(
        runs_dir,
        forms,
        folder or Path.cwd(),
        0,
    )
    with listening:
        thread = Thread(
            target=server.run,
            kwargs={"sockets": [listening]},
            daemon=True,
        )
        thread.start()
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join(timeout=20)


def _made(
    runs_dir: Path,
    forms: Sequence[CommandForm],
    folder: Path,
    port: int,
) -> tuple[socket.socket, uvicorn.Server, str]:
    """The socket, the server that will listen on it, and the address that opens it."""
    listening = _bound(port)
    number = listening.getsockname()[1]
    state = AppState(runs_dir, Jobs(runs_dir, folder), forms)
    app = make_app(state, number)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
    )
    config.timeout_graceful_shutdown = PATIENCE_S
    return (
        listening,
        uvicorn.Server(config),
        f"http://{HERE}:{number}/enter?token={state.key.token}",
    )


def _bound(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HERE, port))
    except OSError as error:
        listening.close()
        says = f"The port cannot be used: {error.strerror}. Received: port={port}."
        raise InputError(says, next_step="Leave --port out: a free one is taken.") from error
    listening.listen(64)
    return listening


def make_app(state: AppState, port: int) -> ASGIApp:
    """The application behind its guard, which sees every answer, those to faults of ours too."""
    faults = dict.fromkeys((ReenactError, HTTPException, Exception), _failed)
    app = Starlette(routes=ROUTES, exception_handlers=faults)
    app.state.reenact = state
    return Guard(app, state.key, port)


def _file(path: Path | None, cache: str) -> Response:
    if path is None:
        raise HTTPException(404)
    return FileResponse(path, headers={"cache-control": cache})


def _failed(request: Request, error: Exception) -> HTMLResponse:
    """What went wrong, as a page that says what to do. A fault of ours is printed by the server."""
    status = 500
    title = "That did not work"
    next_step = "The run itself is whole: reenact runs show RUN"
    sentence = (
        f"The page met a fault of its own ({type(error).__name__}), which the terminal shows."
    )
    if isinstance(error, ReenactError):
        sentence = error.sentence
        next_step = error.next_step
    elif isinstance(error, HTTPException):
        status = error.status_code
        title = "That is not possible"
        next_step = ""
        sentence = "There is no such page here." if status == 404 else f"{error.detail}."
    if isinstance(error, InputError) or status == 404:
        status = 404
        title = "Not found"
    page = state_of(request).page
    return page(
        "error.html",
        status=status,
        title=title,
        sentence=sentence,
        next_step=next_step,
    )
