"""The server: this machine only, one address with a token in it, ended by Ctrl-C."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from reenact.errors import InputError
from reenact.web.forms import Form
from reenact.web.render import require_web

if TYPE_CHECKING:
    import uvicorn

HERE = "127.0.0.1"
PATIENCE_S = 3
"""Seconds that open connections get when the server ends."""


def serve(runs_dir: Path, forms: Sequence[Form], *, tell: Callable[[str], None], port: int = 0) -> None:
    """Serve until Ctrl-C; `tell` gets the address."""
    listening, server, address = _made(runs_dir, forms, Path.cwd(), port)
    tell(address)
    # Having let go of its connections, the server raises the Ctrl-C that ended it once more.
    with listening, suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


@contextmanager
def serving(runs_dir: Path, forms: Sequence[Form] = (), folder: Path | None = None) -> Iterator[str]:
    """A server in a thread of this process, for tests and measurements: the address with its token."""
    listening, server, address = _made(runs_dir, forms, folder or Path.cwd(), 0)
    with listening:
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join(timeout=20)


def _made(
    runs_dir: Path, forms: Sequence[Form], folder: Path, port: int
) -> tuple[socket.socket, uvicorn.Server, str]:
    """The socket, the server that will listen on it, and the address that opens it."""
    require_web()
    import uvicorn

    from reenact.jobs import Jobs
    from reenact.web.app import make_app
    from reenact.web.state import AppState

    listening = _bound(port)
    number = listening.getsockname()[1]
    state = AppState(runs_dir, Jobs(runs_dir, folder), forms)
    config = uvicorn.Config(
        make_app(state, number),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=PATIENCE_S,
    )
    server = uvicorn.Server(config)
    return listening, server, f"http://{HERE}:{number}/enter?token={state.key.token}"


def _bound(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HERE, port))
    except OSError as error:
        listening.close()
        raise InputError(
            f"The port cannot be used: {error.strerror}. Received: port={port}.",
            next_step="Leave --port out: a free one is taken.",
        ) from error
    listening.listen(64)
    return listening
