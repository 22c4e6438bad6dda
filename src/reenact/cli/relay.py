"""`reenact relay FOLDER`: serve a relay folder by hand or from another program."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from reenact.cli.options import echo, output_format, show
from reenact.errors import InputError
from reenact.files import read_bytes
from reenact.llm.answers import LONGEST_ANSWER
from reenact.llm.relay import Waiting, file_text, show_request, waiting
from reenact.report.document import Document
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
        echo(f"Filed {filed}")
    elif request_id is None:
        show(_list(folder), output_format)
    else:
        _show(show_request(folder, request_id), output_format)


def _list(folder: Path) -> Document:
    found = waiting(folder)
    rows = tuple(
        (one.id, one.step, str(one.request["prompt"]), str(one.request["schema_name"])) for one in found
    )
    next_step = f" Show one with: reenact relay {folder} ID" if found else ""
    return Document(
        kind="relay",
        title=f"Requests waiting in {folder}",
        verdict=f"{len(found)} waiting.{next_step}",
        blocks=(Table("", ("id", "step", "prompt", "answer type"), rows),) if rows else (),
        data={"waiting": [dict(one.request) for one in found]},
    )


def _show(asked: Waiting, chosen: str) -> None:
    if chosen == "json":
        title = f"Request {asked.id}"
        show(Document("relay", title, title, data={"request": dict(asked.request)}), chosen)
        return
    # As it stands, not laid out: code in it must survive being copied.
    echo("\n\n".join(_lines(asked.id, asked.request)))


def _lines(name: str, request: Mapping[str, Any]) -> list[str]:
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
        # In UTF-8 a letter has four bytes at most; a longer answer is refused by whoever reads it.
        data = (
            sys.stdin.buffer.read(LONGEST_ANSWER + 1)
            if source == "-"
            else read_bytes(Path(source), 4 * LONGEST_ANSWER)
        )
    except OSError as error:
        raise InputError(f"The answer {source} cannot be read: {error.strerror}.") from None
    return data.decode("utf-8", "replace")
