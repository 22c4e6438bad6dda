"""`reenact view`: runs in a browser of this machine."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator
from pathlib import Path

import click

from reenact.cli.ending import ENDING
from reenact.cli.options import Count, echo
from reenact.errors import InputError
from reenact.settings import Settings, resolve
from reenact.types import ExitCode
from reenact.web.forms import Field, Form
from reenact.web.render import require_web

STARTED = ("diagnose", "repair", "bug", "paper", "alternatives")
"""Verbs that the page may start."""
EXAMPLES = {"bug": "report.md", "paper": "paper.tex"}
AT_ONCE = {
    "diagnose": ("--depth", "--budget", "--max-time"),
    "repair": ("--strategy", "--budget", "--max-time"),
    "bug": ("--repo", "--model", "--max-cost", "--max-time"),
    "paper": ("--data", "--model", "--max-cost", "--max-time"),
    "alternatives": ("--known", "--budget"),
}
LEFT_OUT = ("--output-format", "--help")


@click.command()
@click.option("--port", type=Count(0, 65535), default=0, help="Default: a free one.")
@click.option(
    "--runs", type=click.Path(file_okay=False, path_type=Path), help="Folder of the runs; default: yours."
)
@click.option("--open", "opened", is_flag=True, help="Open the address in your browser.")
def view(port: int, runs: Path | None, opened: bool) -> ExitCode:
    """Show recorded runs in a browser: what was found, how, and what it cost; start, stop and resume them.

    Only this machine is served. The printed address opens the page once, in one browser.
    """
    require_web()
    from reenact.web.serve import serve

    def tell(address: str) -> None:
        echo(f"Runs are shown at {address}")
        echo("Ctrl-C ends the page; commands it has started go on.", err=True)
        if opened:
            webbrowser.open(address)

    ENDING.children_go_on = True
    serve(_folder(runs), list(forms()), port=port, tell=tell)
    return ExitCode.OK


def _folder(runs: Path | None) -> Path:
    """A folder of runs; the folder of a project means the runs in it."""
    if runs is None:
        return resolve().settings.runs_dir
    if not runs.is_dir():
        raise InputError(
            f"There is no folder of runs to show. Received: runs={str(runs)!r}.",
            next_step="Name the folder that a command has recorded in, .reenact unless you chose another.",
        )
    inside = runs / Settings().runs_dir.name
    return inside if (inside / "journal.db").exists() and not (runs / "journal.db").exists() else runs


def forms() -> Iterator[Form]:
    """The verbs that the page may start, as the command line describes them."""
    from reenact.cli.main import VERBS, reenact

    context = click.Context(reenact)
    for verb in STARTED:
        command = reenact.get_command(context, verb) if verb in VERBS else None
        if command is not None:
            yield form(verb, command)


def form(verb: str, command: click.Command) -> Form:
    """A click command as a form."""
    fields = [_field(one) for one in command.params if isinstance(one, click.Option)]
    argument = next(one for one in command.params if isinstance(one, click.Argument))
    return Form(
        verb,
        (command.help or "").partition("\n\n")[0].replace("\n", " "),
        argument.make_metavar(click.Context(command)).strip("[].").upper(),
        EXAMPLES.get(verb, "train.py"),
        tuple(field for field in fields if field.flag not in LEFT_OUT),
        AT_ONCE.get(verb, ()),
    )


def _field(option: click.Option) -> Field:
    flag = max(option.opts, key=len)
    choices = option.type.choices if isinstance(option.type, click.Choice) else ()
    shown = option.default if isinstance(option.default, str | int | float) else ""
    return Field(
        flag,
        option.help or "",
        "" if option.is_flag else str(shown),
        tuple(map(str, choices)),
        option.is_flag,
        option.multiple,
        option.required,
    )
