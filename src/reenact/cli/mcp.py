"""`reenact mcp`: the command line as tools for coding agents, over the Model Context Protocol."""

from __future__ import annotations

from importlib.util import find_spec

import click

from reenact.cli.ending import ENDING
from reenact.errors import InputError, MissingExtra
from reenact.settings import resolve


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
