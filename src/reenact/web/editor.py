"""Places of a run as addresses that the user's editor opens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from reenact.journal import Run
from reenact.report.document import Block, Diagnostic, Section
from reenact.settings import resolve
from reenact.web.runs_page import program_of


def program_address(run: Run) -> str:
    """Opens the program of a run; empty where it is not here, or came with a file."""
    script = next((word for word in program_of(run) if word.endswith((".py", ".ipynb"))), "")
    return _address(run, script, 1, 0) if script else ""


def editable(sections: Sequence[Section], run: Run) -> list[Section]:
    """The sections with a link to the editor at every finding whose file is here."""
    return [replace(one, blocks=[_linked(block, run) for block in one.blocks]) for one in sections]


def _linked(block: Block, run: Run) -> Block:
    # A line of a notebook is none of its file.
    if not isinstance(block, Diagnostic) or block.place is None or block.cell:
        return block
    place = block.place
    return replace(block, editor=_address(run, str(place.file), place.line, place.column))


def _address(run: Run, file: str, line: int, column: int) -> str:
    request = run.request_data()
    working = request.get("working") if isinstance(request, dict) else None
    path = Path(str(working or run.folder), file)
    if run.imported or not path.is_absolute() or not path.is_file():
        return ""
    given = {"path": quote(str(path.resolve())), "line": line, "column": column + 1}
    address = resolve().settings.editor
    for name, value in given.items():
        address = address.replace(f"{{{name}}}", str(value))
    return address
