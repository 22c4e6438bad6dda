"""What every page needs: the journal's folder, the key, the commands, the scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from reenact.errors import InputError
from reenact.jobs import Jobs
from reenact.journal import JournalReader, Run
from reenact.web.forms import Form
from reenact.web.guard import DIGITS, Key
from reenact.web.render import htmx, render


@dataclass
class AppState:
    """One server."""

    runs_dir: Path
    jobs: Jobs
    forms: Sequence[Form] = ()
    key: Key = field(default_factory=Key)

    @property
    def has_journal(self) -> bool:
        return (self.runs_dir / "journal.db").exists()

    def shelf(self) -> JournalReader:
        """The journal, opened for one page: what others write meanwhile is seen by the next."""
        return JournalReader.open(self.runs_dir)

    def page(self, template: str, *, status: int = 200, **given: Any) -> HTMLResponse:
        """A page with what all pages have."""
        vendored = ["/vendor/htmx.js"] if htmx() is not None else []
        shared = {"scripts": [*vendored, "/static/page.js"], "csrf": self.key.csrf, "here": "", "message": ""}
        return HTMLResponse(render(template, **{**shared, **given}), status_code=status)


def state_of(request: Request) -> AppState:
    """The state of the server that got this request."""
    state: AppState = request.app.state.reenact
    return state


def seen_already(request: Request, mark: str) -> Response | None:
    """The answer to a page that asks for news every second and shows this already: that there is none."""
    return Response(status_code=204) if request.query_params.get("seen") == mark else None


def number_of(request: Request, name: str) -> int:
    """The number that the address holds; InputError for what no step can have."""
    text = str(request.path_params[name])
    if not (text.isascii() and text.isdecimal() and len(text) <= DIGITS):
        raise InputError(f"There is no such number here. Received: {text[:40]!r}.")
    return int(text)


def found_run(request: Request, shelf: JournalReader) -> Run:
    """The run that the address names; InputError when there is none."""
    return shelf.find(str(request.path_params["run"]))
