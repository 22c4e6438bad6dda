"""`reenact view`: runs in a browser of this machine; `reenact mcp`: tools for coding agents;
`reenact relay FOLDER`: serve a relay folder by hand or from another program.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reenact.cli.ending import ENDING
from reenact.cli.help import command
from reenact.cli.options import NEW_FOLDER, Count, echo, option, output_format, show
from reenact.errors import InputError, require
from reenact.files import read_bytes
from reenact.host_program import open_users_browser
from reenact.llm.answers import LONGEST_ANSWER
from reenact.llm.relay import file_text, show_request, waiting
from reenact.report.document import Document
from reenact.settings import Settings, resolve
from reenact.types import ExitCode, Table
from reenact.web.render import require_web

if TYPE_CHECKING:
    from reenact.web.state import CommandForm

STARTED = {
    "diagnose": ("train.py", ("--depth", "--budget", "--max-time")),
    "repair": ("train.py", ("--strategy", "--budget", "--max-time")),
    "bug": ("report.md", ("--repo", "--model", "--max-cost", "--max-time")),
    "paper": ("paper.tex", ("--data", "--model", "--max-cost", "--max-time")),
    "alternatives": ("train.py", ("--known", "--budget")),
}
"""Verbs that the page may start: an example of the argument, and the options that are shown at
once.
"""


@command()
@click.option(
    "--port",
    type=Count(0, 65535),
    default=0,
    help="Default: a free one.",
)
@option("--runs", "Folder of the runs; default: yours.", NEW_FOLDER)
@click.option("--open", "opened", is_flag=True, help="Open the address in your browser.")
def view(port: int, runs: Path | None, opened: bool) -> ExitCode:
    """Show recorded runs in a browser: what was found, how, and what it cost; start, stop and
    resume them.

    Only this machine is served. The printed address opens the page once, in one browser.
    """
    require_web()
    from reenact.web.serve import serve

    def tell(address: str) -> None:
        echo(f"Runs are shown at {address}")
        echo("Ctrl-C ends the page; commands it has started go on.", err=True)
        if opened:
            open_users_browser(address)

    ENDING.children_go_on = True
    serve(
        _folder(runs),
        list(forms()),
        port=port,
        tell=tell,
    )
    return ExitCode.OK


def _folder(runs: Path | None) -> Path:
    """A folder of runs; the folder of a project means the runs in it."""
    if runs is None:
        return resolve().settings.runs_dir
    if not runs.is_dir():
        fix = "Name the folder that a command has recorded in, .reenact unless you chose another."
        raise InputError(
            f"There is no folder of runs to show. Received: runs={str(runs)!r}.",
            next_step=fix,
        )
    inside = runs / Settings().runs_dir.name
    if (inside / "journal.db").exists() and not (runs / "journal.db").exists():
        return inside
    return runs


def forms() -> Iterator[CommandForm]:
    """The verbs that the page may start, as the command line describes them."""
    from reenact.cli.main import reenact
    from reenact.web.state import CommandForm

    context = click.Context(reenact)
    for verb, (example, at_once) in STARTED.items():
        command = reenact.get_command(context, verb)
        assert command is not None
        yield CommandForm(verb, command, example, at_once)


@command()
@click.option(
    "--allow-run",
    is_flag=True,
    help="Let tools run your programs, and pipelines in the sandbox.",
)
@click.option(
    "--allow-apply",
    is_flag=True,
    help="Let a repair that held be written into your files.",
)
def mcp(allow_run: bool, allow_apply: bool) -> None:
    """Serve a coding agent on stdin and stdout, in this folder.

    Without a flag its tools only read. Configure your agent to start `reenact mcp` in the project's
    folder.
    """
    require("mcp")
    if allow_apply and not allow_run:
        says = (
            "A change is written by the repair that found it. Received: --allow-apply without "
            "--allow-run."
        )
        raise InputError(says, next_step="reenact mcp --allow-run --allow-apply")
    from reenact.mcp.server import serve
    from reenact.mcp.tools import Permits

    ENDING.children_go_on = True
    try:
        serve(
            resolve().settings.runs_dir,
            Permits(run=allow_run, apply=allow_apply),
        )
    except BaseExceptionGroup:
        # Tasks that Ctrl-C meets while they talk to each other fail one after another.
        if not ENDING.signalled:
            raise


@command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("request_id", required=False, metavar="[ID]")
@click.option(
    "--answer",
    "source",
    metavar="FILE",
    help="File the JSON answer in FILE; - reads stdin.",
)
@click.option("--by", default="", metavar="NAME", help="Who answers, for the recording.")
@click.option("--replace", is_flag=True, help="Change an answer that was filed before.")
@output_format
def relay(
    folder: Path,
    request_id: str | None,
    source: str | None,
    by: str,
    replace: bool,
    output_format: str,
) -> None:
    """List the requests that wait in a relay FOLDER, show the one with that ID, or file its answer.

    An answer is checked against the asked schema before it is filed. The beginning of an ID is
    enough.
    """
    if source is not None and request_id is None:
        raise InputError(
            "Which request is answered?",
            next_step=f"reenact relay {folder} ID --answer FILE",
        )
    if request_id is None:
        show(_list(folder), output_format)
        return
    if source is not None:
        echo(f"Filed {file_text(folder, request_id, _read(source), by=by, replace=replace)}")
        return
    asked = show_request(folder, request_id)
    title = f"Request {asked.id}"
    if output_format == "json":
        show(
            Document(
                "relay",
                title,
                title,
                data={"request": dict(asked.request)},
            ),
            output_format,
        )
    else:
        # Unchanged, not laid out: code in it must survive being copied.
        echo("\n\n".join(_lines(asked.id, asked.request)))


def _list(folder: Path) -> Document:
    found = waiting(folder)
    # The id reports the step; what is copied must not be broken by a narrow terminal.
    rows = tuple(
        (
            one.id,
            str(one.request["schema_name"]),
        )
        for one in found
    )
    next_step = f" Show one with: reenact relay {folder} ID" if found else ""
    title = f"Requests waiting in {folder}"
    verdict = f"{len(found)} waiting.{next_step}"
    blocks = (Table("", ("id", "answer type"), rows),) if rows else ()
    return Document(
        "relay",
        title,
        verdict,
        blocks,
        data={"waiting": [dict(one.request) for one in found]},
    )


def _lines(
    name: str,
    request: Mapping[str, Any],
) -> list[str]:
    lines = [
        f"# {name}\nstep {request['step']}, prompt {request['prompt']}",
        "## system",
        request["system"],
    ]
    for turn in request["turns"]:
        lines.append(f"## {turn['role']}")
        for part in turn["parts"]:
            lines.append(
                part.get(
                    "text",
                    f"[figure {part.get('image')}: {part.get('label')}]",
                )
            )
    return [
        *lines,
        "## answer with one JSON object that fits",
        json.dumps(request["schema"], indent=1),
    ]


def _read(source: str) -> str:
    if source == "-":
        return sys.stdin.buffer.read(LONGEST_ANSWER + 1).decode(
            "utf-8",
            "replace",
        )
    try:
        # In UTF-8 a letter has four bytes at most; a longer answer is refused by anyone who reads it.
        return read_bytes(Path(source), 4 * LONGEST_ANSWER).decode(
            "utf-8",
            "replace",
        )
    except OSError as error:
        raise InputError(f"The answer {source} cannot be read: {error.strerror}.") from None
