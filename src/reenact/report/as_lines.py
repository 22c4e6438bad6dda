"""One line a diagnostic, and the verdict: for the problem matchers of editors, or as annotations."""

from __future__ import annotations

from reenact.plain import plain, plain_line
from reenact.report.document import Diagnostic, Document, Level

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
