"""The notices as workflow commands, which become annotations on a pull request."""

from __future__ import annotations

from reenact.plain import plain, plain_line
from reenact.report.document import Diagnostic, Document, Level

COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def render(document: Document) -> str:
    """One command a notice, then the verdict as a plain line."""
    return (
        "\n".join([*(_command(notice) for notice in document.diagnostics), plain_line(document.verdict)])
        + "\n"
    )


def _command(notice: Diagnostic) -> str:
    properties = {"title": f"{notice.code} {notice.name}"}
    if notice.place is not None:
        properties |= {
            "file": str(notice.place.file),
            "line": str(notice.place.line),
            "col": str(notice.place.column + 1),
        }
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{COMMANDS[notice.level]} {listed}::{_data(notice.message)}"


def _data(text: str) -> str:
    return plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
