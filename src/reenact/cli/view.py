"""`reenact view`: runs in a browser of this machine; `reenact mcp`: tools for coding agents."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click

from reenact.cli.ending import ENDING
from reenact.cli.options import Count, echo
from reenact.errors import InputError, MissingExtra
from reenact.settings import Settings, resolve
from reenact.types import ExitCode
from reenact.web.forms import Form
from reenact.web.render import require_web

STARTED = {
    "diagnose": ("train.py", ("--depth", "--budget", "--max-time")),
    "repair": ("train.py", ("--strategy", "--budget", "--max-time")),
    "bug": ("report.md", ("--repo", "--model", "--max-cost", "--max-time")),
    "paper": ("paper.tex", ("--data", "--model", "--max-cost", "--max-time")),
    "alternatives": ("train.py", ("--known", "--budget")),
}
"""Verbs that the page may start: an example of the argument, and the options that are shown at once."""


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
    from reenact.cli.main import reenact

    context = click.Context(reenact)
    for verb, (example, at_once) in STARTED.items():
        command = reenact.get_command(context, verb)
        assert command is not None
        yield Form(verb, command, example, at_once)


@click.command()
@click.option("--allow-run", is_flag=True, help="Let tools run your programs, and pipelines in the sandbox.")
@click.option("--allow-apply", is_flag=True, help="Let a repair that held be written into your files.")
def mcp(allow_run: bool, allow_apply: bool) -> None:
    """Serve a coding agent on stdin and stdout, in this folder.

    Without a flag its tools only read. Configure your agent to start `reenact mcp` in the project's folder.
    """
    if find_spec("mcp") is None:
        raise MissingExtra("mcp", "mcp")
    if allow_apply and not allow_run:
        raise InputError(
            "A change is written by the repair that found it. Received: --allow-apply without --allow-run.",
            next_step="reenact mcp --allow-run --allow-apply",
        )
    from reenact.mcp.server import Permits, serve

    ENDING.children_go_on = True
    serve(resolve().settings.runs_dir, Permits(run=allow_run, apply=allow_apply))
