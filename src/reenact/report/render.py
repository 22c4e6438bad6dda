"""One type in, any format out: picks the renderer by name. Formats of one line a diagnostic are made here."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from reenact.plain import plain, plain_line
from reenact.redact import redact
from reenact.report.document import Diagnostic, Document, Level, mapped

FORMATS = ("full", "concise", "json", "markdown", "html", "sarif", "github")
HOMES = {"concise": __name__, "github": __name__, "sarif": "reenact.report.as_json"}
"""Formats whose renderer does not lie in `as_NAME.py`."""


def render(document: Document, output_format: str, *, width: int = 100, color: bool = False) -> str:
    """The document as text in that format, ending in a newline."""
    # Before a format escapes a secret into something else.
    document = mapped(document, lambda _, text: redact(text))
    module = importlib.import_module(HOMES.get(output_format, f"reenact.report.as_{output_format}"))
    renderer: Callable[..., str] = getattr(module, output_format if output_format in HOMES else "render")
    return renderer(document, width=width, color=color) if output_format == "full" else renderer(document)


COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def concise(document: Document) -> str:
    """`file:line:column: CODE message`, then the verdict."""
    lines = [plain_line(document.reused)] if document.reused else []
    for one in document.diagnostics:
        where = f"{plain_line(str(one.place))}: " if one.place else ""
        lines.append(f"{where}{plain_line(one.code)} {' '.join(plain(one.message).split())}")
    return "\n".join([*lines, plain_line(document.verdict)]) + "\n"


def github(document: Document) -> str:
    """Workflow commands, which become annotations, then the verdict as a plain line."""
    return "\n".join([*(_command(one) for one in document.diagnostics), plain_line(document.verdict)]) + "\n"


def _command(one: Diagnostic) -> str:
    properties = {"title": f"{one.code} {one.name}"}
    if one.place is not None:
        properties |= {
            "file": str(one.place.file),
            "line": str(one.place.line),
            "col": str(one.place.column + 1),
        }
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{COMMANDS[one.level]} {listed}::{_data(one.message)}"


def _data(text: str) -> str:
    return plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
