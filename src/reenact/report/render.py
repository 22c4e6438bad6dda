"""One type in, any format out: picks the renderer by name. Formats of plain text are made here."""

import importlib
from collections.abc import Callable

from reenact.plain import plain, plain_line
from reenact.redact import redact
from reenact.report.document import Diagnostic, Document, Facts, Level, Picture, Plain, Text, mapped
from reenact.types import Table

FORMATS = ("full", "concise", "json", "markdown", "html", "sarif", "github")
HOMES = {"sarif": "reenact.report.as_json", **dict.fromkeys(("concise", "github", "markdown"), __name__)}
"""Formats whose renderer does not lie in `as_NAME.py`."""


def render(
    document: Document, output_format: str, *, width: int = 100, color: bool = False, details: bool = True
) -> str:
    """The document as text in that format, ending in a newline; the last three count for `full` alone."""
    # Before a format escapes a secret into something else.
    document = mapped(document, lambda _, text: redact(text))
    module = importlib.import_module(HOMES.get(output_format, f"reenact.report.as_{output_format}"))
    renderer: Callable[..., str] = getattr(module, output_format if output_format in HOMES else "render")
    if output_format == "full":
        return renderer(document, width=width, color=color, details=details)
    return renderer(document)


COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def concise(document: Document) -> str:
    """`file:line:column: CODE message`, or the rows of its tables where there is none; then the verdict."""
    lines = [plain_line(document.reused)] if document.reused else []
    for one in document.diagnostics:
        where = f"{plain_line(str(one.place))}: " if one.place else ""
        lines.append(f"{where}{plain_line(one.code)} {' '.join(plain(one.message).split())}")
    tables = [] if document.diagnostics else document.plain_blocks()
    rows = (row for block in tables if isinstance(block, Table) for row in block.rows)
    lines += ["  ".join(plain_line(cell) for cell in row if cell) for row in rows]
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
    escaped = {name: _data(text).replace(":", "%3A").replace(",", "%2C") for name, text in properties.items()}
    listed = ",".join(f"{name}={text}" for name, text in escaped.items())
    return f"::{COMMANDS[one.level]} {listed}::{_data(one.message)}"


def _data(text: str) -> str:
    return plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def markdown(document: Document) -> str:
    """Headings, tables and lists; cells are escaped, so data cannot become markup."""
    parts = [f"*{_inline(document.reused)}*"] if document.reused else []
    parts += [f"# {_inline(document.title)}", f"**{_inline(document.verdict)}**"]
    if document.diagnostics:
        parts += ["## Notices", "\n".join(_diagnostic(one) for one in document.diagnostics)]
    blocks = document.plain_blocks()
    if document.diagnostics and blocks and not blocks[0].title:
        # Ends the list: inside it an indented text would be markup, not code.
        parts.append("---")
    parts += [part for block in blocks for part in _block(block)]
    return "\n\n".join(parts) + "\n"


def _block(block: Plain) -> list[str]:
    head = [f"## {_inline(block.title)}"] if block.title else []
    if isinstance(block, Text | Picture):
        shown = block.text if isinstance(block, Text) else block.alt
        return [*head, "\n".join(f"    {line}" for line in plain(shown).splitlines())]
    if isinstance(block, Facts):
        return [*head, _rows(("", ""), block.facts)]
    assert isinstance(block, Table)
    return [*head, _rows(block.columns, block.rows)]


def _rows(columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(_inline(cell) for cell in line) + " |" for line in lines)


def _diagnostic(one: Diagnostic) -> str:
    where = f" {_code(one.where)}" if one.where else ""
    after = f" Next: {_code(one.next_step)}" if one.next_step else ""
    head = f"- **{_inline(one.code)} {_inline(one.name)}**{where}"
    if not one.detail:
        return f"{head}: {_inline(one.message)}{after}"
    aside = f" ({_inline(one.aside)})" if one.aside else ""
    # Six spaces: code inside a list item, whatever stands in it.
    lines = "\n".join(f"      {line}" for line in plain(one.detail).splitlines())
    return f"{head}{aside}.{after}\n\n{lines}\n"


def _code(text: str) -> str:
    """A name or command as code; one that could end the code or be markup is escaped instead."""
    line = plain_line(text)
    return _inline(line) if set(line) & set("`<>&") else f"`{line}`"


def _inline(text: str) -> str:
    flat = " ".join(plain(text).split())
    for mark in "\\`*_<>[]|#&":
        flat = flat.replace(mark, f"\\{mark}")
    return flat
