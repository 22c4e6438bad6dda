"""A notebook as one script: code cells joined, magics neutralised, every line mapped back to its
cell.

Neutralising never changes a cell's length, so an offset in the script is an offset in a cell. What
cannot be kept (cells in another language, a cell that is not Python) becomes comments and is
reported in `remarks`.
"""

import json
import re
from dataclasses import dataclass

from reenact.program.syntax.datafile import BadData, DataEntry, read_json
from reenact.program.syntax.source import LineTable, Unparsable, parse

MAGIC_LINE = re.compile(r"^([ \t]*)([%!?].*|[\w.]+\?\??[ \t]*)$")
MAGIC_VALUE = re.compile(r"^([ \t]*[\w.,\[\] ]+=\s*)([%!].*)$")
TIMED = re.compile(r"^([ \t]*)(%time(?:it)?\s+(?:-\S+\s+(?:\d+\s+)?)*)(\S.*)$")
LANGUAGE = (("language_info", "name"), ("kernelspec", "language"))
FOREIGN_CELL = re.compile(r"^%%(?!time\b|timeit\b|capture\b|prun\b|memit\b)")


@dataclass(frozen=True, slots=True)
class Cell:
    """One code cell and where its text begins in the joined script."""

    index: int
    """Position among all cells of the notebook, from 0."""
    source: str
    """As it is in the notebook."""
    start: int
    """Offset of its first character in the script."""
    entry: DataEntry
    """The `source` value in the JSON text."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """The joined script of a notebook and the way back."""

    script: str
    cells: tuple[Cell, ...]
    remarks: tuple[str, ...]

    def cell_line(self, line: int) -> tuple[int, int]:
        """Index of the cell and line in it, for a line of the script."""
        offset = LineTable(self.script).starts[line - 1]
        cell = next(
            (cell for cell in reversed(self.cells) if cell.start <= offset),
            self.cells[0],
        )
        return cell.index, line - self.script.count("\n", 0, cell.start)


class BadNotebook(ValueError):
    """Not a notebook; the text says why."""


def read_notebook(text: str) -> Notebook:
    """Join the code cells of a notebook's JSON text; raises BadNotebook."""
    try:
        document = read_json(text)
    except BadData as error:
        raise BadNotebook(f"not the JSON of a notebook: {error}") from error
    named = (document.get("metadata", *path) for path in LANGUAGE)
    language = next(
        (one.value for one in named if one is not None and isinstance(one.value, str)),
        "",
    )
    if language and "python" not in language.lower():
        raise BadNotebook(f"its kernel speaks {language}, not Python")
    found = document.get("cells")
    if found is None or not isinstance(found.items, list):
        raise BadNotebook("no list of cells in it (notebooks of format 4 have one)")
    cells: list[Cell] = []
    script, remarks = "", []
    for index, entry in enumerate(found.items):
        kind = entry.get("cell_type")
        source = entry.get("source")
        if kind is None or kind.value != "code" or source is None:
            continue
        lines = source.items if isinstance(source.items, list) else [source]
        cells.append(
            Cell(
                index,
                "".join(str(line.value) for line in lines),
                len(script),
                source,
            )
        )
        piece, remark = _neutral(cells[-1].source)
        script += piece + "\n"
        remarks += [f"cell {index} {remark}"] if remark else []
    if not cells:
        raise BadNotebook("it has no code cell")
    return Notebook(script, tuple(cells), tuple(remarks))


def write_cell(text: str, entry: DataEntry, source: str) -> str:
    """The replacement for a cell's `source` value in the JSON text, in the notebook's own
    layout.
    """
    if not isinstance(entry.items, list):
        return json.dumps(source, ensure_ascii=False)
    lines = [json.dumps(line, ensure_ascii=False) for line in source.splitlines(keepends=True)]
    table = LineTable(text)
    first = entry.items[0].span.start if entry.items else entry.span.start
    if table.line_column(first)[0] == table.line_column(entry.span.start)[0]:
        return "[" + ", ".join(lines) + "]"
    newline = table.newline
    indent = table.indent(first)
    inner = f",{newline}".join(indent + line for line in lines)
    return f"[{newline}{inner}{newline}{table.indent(entry.span.end - 1)}]"


def _neutral(source: str) -> tuple[str, str]:
    """A cell's text with its magics made zeros, or made comments as a whole, and why."""
    commented = "\n".join("#" + line[1:] if line else line for line in source.split("\n"))
    if FOREIGN_CELL.match(source.lstrip()):
        return commented, "is not Python and is left out"
    wrong: Unparsable | None = None
    for text in (
        source,
        "\n".join(map(_neutral_line, source.split("\n"))),
    ):
        try:
            parse(text, top_level_await=True)
        except Unparsable as error:
            wrong = error
        else:
            return text, ""
    return commented, f"is left out: {wrong}"


def _neutral_line(line: str) -> str:
    timed = TIMED.match(line)
    if timed:
        indent, magic, statement = timed.groups()
        return f"{indent}0{' ' * (len(magic) - 2)};{statement}"
    found = MAGIC_VALUE.match(line) or MAGIC_LINE.match(line)
    if not found:
        return line
    return found.group(1) + "0".ljust(len(found.group(2)))
