"""The document as Markdown, for a file, a pull request or a page."""

from __future__ import annotations

from reenact.plain import plain, plain_line
from reenact.report.document import Diagnostic, Document, Facts, Picture, Plain, Text
from reenact.types import Table


def render(document: Document) -> str:
    """Headings, tables and lists; cells are escaped, so data cannot become markup."""
    parts = [f"*{_inline(document.reused)}*"] if document.reused else []
    parts += [f"# {_inline(document.title)}", f"**{_inline(document.verdict)}**"]
    if document.diagnostics:
        parts += ["## Notices", "\n".join(_diagnostic(one) for one in document.diagnostics)]
    blocks = document.plain_blocks
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
    where = f" {_code(str(one.place))}" if one.place else ""
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
