"""`reenact relay FOLDER`: serve a relay folder by hand or from another program."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from reenact.cli.options import output_format, show
from reenact.errors import InputError
from reenact.llm.answers import LONGEST_ANSWER
from reenact.llm.relay_folder import Waiting, file_text, show_request, waiting
from reenact.report.sheet import Sheet
from reenact.sandbox.files.plain_text import plain
from reenact.types import Table


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("request_id", required=False, metavar="[ID]")
@click.option("--answer", "source", metavar="FILE", help="File the JSON answer in FILE; - reads stdin.")
@click.option("--by", default="", metavar="NAME", help="Who answers, for the recording.")
@click.option("--replace", is_flag=True, help="Change an answer that was filed before.")
@output_format
def relay(
    folder: Path, request_id: str | None, source: str | None, by: str, replace: bool, output_format: str
) -> None:
    """List the requests that wait in a relay FOLDER, show the one with that ID, or file its answer.

    An answer is checked against the asked schema before it is filed. The beginning of an ID is enough.
    """
    if source is not None:
        if request_id is None:
            raise InputError(
                "Which request is answered?", next_step=f"reenact relay {folder} ID --answer FILE"
            )
        filed = file_text(folder, request_id, _read(source), by=by, replace=replace)
        click.echo(f"Filed {filed}")
    elif request_id is None:
        show(_list(folder), output_format)
    else:
        _show(show_request(folder, request_id), output_format)


def _list(folder: Path) -> Sheet:
    found = waiting(folder)
    rows = tuple(
        (one.id, one.step, str(one.request["prompt"]), str(one.request["schema_name"])) for one in found
    )
    next_step = f" Show one with: reenact relay {folder} ID" if found else ""
    return Sheet(
        kind="relay",
        title=f"Requests waiting in {folder}",
        verdict=f"{len(found)} waiting.{next_step}",
        blocks=(Table("", ("id", "step", "prompt", "answer type"), rows),) if rows else (),
        data={"waiting": [dict(one.request) for one in found]},
    )


def _show(asked: Waiting, chosen: str) -> None:
    if chosen == "json":
        title = f"Request {asked.id}"
        show(Sheet("relay", title, title, data={"request": dict(asked.request)}), chosen)
        return
    # As it stands, not laid out: code in it must survive being copied.
    click.echo(plain("\n\n".join(_said(asked.id, asked.request))))


def _said(name: str, request: Mapping[str, Any]) -> list[str]:
    lines = [
        f"# {name}\nstep {request['step']}, prompt {request['prompt']}",
        "## system",
        request["system"],
    ]
    for turn in request["turns"]:
        lines.append(f"## {turn['role']}")
        lines += [
            part.get("text", f"[figure {part.get('image')}: {part.get('label')}]") for part in turn["parts"]
        ]
    return [*lines, "## answer with one JSON object that fits", json.dumps(request["schema"], indent=1)]


def _read(source: str) -> str:
    try:
        data = sys.stdin.buffer.read(LONGEST_ANSWER + 1) if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise InputError(f"The answer {source} cannot be read: {error.strerror}.") from None
    return data.decode("utf-8", "replace")
