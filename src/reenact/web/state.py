"""What every page needs: the journal's folder, the key, the scripts, and the commands that it may
start, as forms: each option of the command line is a field.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from reenact.errors import InputError
from reenact.jobs import Jobs
from reenact.journal import JournalReader, Run
from reenact.report.recorded import Stored
from reenact.web.guard import DIGITS, Key
from reenact.web.render import htmx, render

LEFT_OUT = ("--output-format", "--help")


@dataclass(frozen=True, slots=True)
class CommandForm:
    """One command."""

    verb: str
    command: click.Command
    example: str
    """Stands in the empty field of its argument."""
    shown: tuple[str, ...] = ()
    """Flags that are shown at once; the rest is folded away."""

    @property
    def help(self) -> str:
        return (
            (self.command.help or "")
            .partition("\n\n")[0]
            .replace(
                "\n",
                " ",
            )
        )

    @property
    def argument(self) -> str:
        """What its argument is called."""
        argument = next(one for one in self.command.params if isinstance(one, click.Argument))
        return argument.make_metavar(click.Context(self.command)).strip("[].").upper()

    @property
    def fields(self) -> dict[str, click.Option]:
        """The options, by their flags as they are typed."""
        options = [
            one for one in self.command.params if isinstance(one, click.Option) and not one.hidden
        ]
        flags = {max(one.opts, key=len): one for one in options}
        return {flag: one for flag, one in flags.items() if flag not in LEFT_OUT}

    @property
    def first(self) -> dict[str, click.Option]:
        return {flag: self.fields[flag] for flag in self.shown if flag in self.fields}

    @property
    def rest(self) -> dict[str, click.Option]:
        return {flag: one for flag, one in self.fields.items() if flag not in self.shown}

    def words(self, given: Mapping[str, str]) -> list[str]:
        """The command's words; raises InputError for a form that cannot be a command."""
        argument = given.get("argument", "").strip()
        if not argument:
            raise InputError(f"{self.argument} is missing.")
        words = [self.verb]
        for flag, option in self.fields.items():
            value = given.get(flag, "").strip()
            if not value and option.required:
                raise InputError(f"{flag} is missing.")
            if value and option.is_flag:
                words.append(flag)
            elif value:
                # One word: a value that begins with a dash stays a value.
                words += [
                    f"{flag}={one}" for one in (_split(value) if option.multiple else [value])
                ]
        return [*words, *_split(argument)]


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(f"A quotation mark is not closed. Received: {text!r}.") from error


@dataclass
class AppState:
    """One server."""

    runs_dir: Path
    jobs: Jobs
    forms: Sequence[CommandForm] = ()
    key: Key = field(default_factory=Key)

    @property
    def has_journal(self) -> bool:
        return (self.runs_dir / "journal.db").exists()

    def shelf(self) -> JournalReader:
        """The journal, opened for one page: what others write meanwhile is seen by the next."""
        return JournalReader.open(self.runs_dir)

    def page(
        self,
        template: str,
        *,
        status: int = 200,
        **given: Any,
    ) -> HTMLResponse:
        """A page with what all pages have."""
        vendored = ["/vendor/htmx.js"] if htmx() is not None else []
        shared = {
            "scripts": [*vendored, "/static/page.js"],
            "csrf": self.key.csrf,
            "here": "",
            "message": "",
        }
        return HTMLResponse(
            render(
                template,
                **{
                    **shared,
                    **given,
                },
            ),
            status_code=status,
        )


def state_of(request: Request) -> AppState:
    """The state of the server that got this request."""
    state: AppState = request.app.state.reenact
    return state


def seen_already(request: Request, mark: str) -> Response | None:
    """The answer to a page that asks for news every second and shows this already: that there
    is not one.
    """
    if request.query_params.get("seen") == mark:
        return Response(status_code=204)
    return None


def number_of(request: Request, name: str) -> int:
    """The number that the address holds; InputError for what no step can have."""
    text = str(request.path_params[name])
    if not (text.isascii() and text.isdecimal() and len(text) <= DIGITS):
        raise InputError(f"There is no such number here. Received: {text[:40]!r}.")
    return int(text)


def found_run(request: Request, shelf: JournalReader) -> Run:
    """The run that the address names; InputError when there is none."""
    return shelf.find(str(request.path_params["run"]))


@contextmanager
def stored_run(request: Request) -> Iterator[tuple[AppState, Stored]]:
    """The server's state, and that run while the journal is open."""
    state = state_of(request)
    with state.shelf() as shelf:
        yield (
            state,
            Stored(
                shelf,
                found_run(request, shelf),
                state.runs_dir,
            ),
        )
