"""Server-sent events: a page learns that something changed, and fetches what it shows of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import anyio
from starlette.requests import Request
from starlette.responses import StreamingResponse

from reenact.errors import ReenactError
from reenact.journal import JournalReader, Run
from reenact.journal.records import digest
from reenact.web.state import state_of

EVERY_S = 1.0
QUIET_S = 15.0
"""After so long without news a comment is sent, by which a connection that has gone is noticed."""
SHOWN = 50
NOTHING, ENDED = "nothing", "ended"


def live_runs(request: Request) -> StreamingResponse:
    """News of the list: `changed` when one of the newest runs has."""
    state = state_of(request)

    def look() -> str:
        if not state.has_journal:
            return NOTHING
        with state.shelf() as shelf:
            return runs_mark(shelf)

    return _stream(request, look)


def live_run(request: Request) -> StreamingResponse:
    """News of one run: `changed`, and `ended` when nobody works on it any more."""
    state, name = state_of(request), str(request.path_params["run"])

    def look() -> str:
        with state.shelf() as shelf:
            return run_mark(shelf.find(name), shelf)

    return _stream(request, look)


def runs_mark(shelf: JournalReader) -> str:
    """Differs when one of the newest runs has changed."""
    state = " ".join(f"{run.check_sum}{shelf.status_of(run)}" for run in shelf.runs(limit=SHOWN))
    return digest(state)


def run_mark(run: Run, shelf: JournalReader) -> str:
    """Differs when the run has changed; says when nobody works on it."""
    return str(run.check_sum) if shelf.is_live(run) else ENDED


def _stream(request: Request, look: Callable[[], str]) -> StreamingResponse:
    # What happened between the page and its first listening is news, too.
    seen = request.query_params.get("seen", "")
    news = _events(look, seen, state_of(request).ending)
    return StreamingResponse(news, media_type="text/event-stream")


async def _events(look: Callable[[], str], known: str, ending: Callable[[], bool]) -> AsyncIterator[str]:
    quiet = 0.0
    yield "retry: 3000\n\n"
    while known != ENDED:
        if ending():
            return
        seen = await _looked(look)
        quiet += EVERY_S
        if seen != known:
            known, quiet = seen, 0.0
            yield "event: changed\ndata: -\n\n"
        elif quiet >= QUIET_S:
            quiet = 0.0
            yield ": still here\n\n"
        await anyio.sleep(EVERY_S)
    yield "event: ended\ndata: -\n\n"


async def _looked(look: Callable[[], str]) -> str:
    try:
        return await anyio.to_thread.run_sync(look)
    except ReenactError as error:
        # A journal that is moved away under the page is shown by the page, not by its news.
        return error.sentence
