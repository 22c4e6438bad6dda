"""A notebook as one script: code cells joined, magics neutralised, every line mapped back to its cell.

Neutralising never changes a cell's length, so an offset in the script is an offset in a cell. What cannot
be kept (cells in another language, a cell that is not Python) becomes comments and is reported in `remarks`.
"""

import json
import re
from dataclasses import dataclass

from reenact.program.datafile import BadData, Entry, read_json
from reenact.program.source import LineTable, Unparsable, parse

MAGIC_LINE = re.compile(r"^([ \t]*)([%!?].*|[\w.]+\?\??[ \t]*)$")
MAGIC_VALUE = re.compile(r"^([ \t]*[\w.,\[\] ]+=\s*)([%!].*)$")
TIMED = re.compile(r"^([ \t]*)(%time(?:it)?\s+(?:-\S+\s+(?:\d+\s+)?)*)(\S.*)$")
FOREIGN_CELL = re.compile(r"^%%(?!time\b|timeit\b|capture\b|prun\b|memit\b)")


@dataclass(frozen=True, slots=True)
class Cell:
    """One code cell and where its text begins in the joined script."""

    index: int
    """Position among all cells of the notebook, from 0."""
    source: str
    """As it stands in the notebook."""
    start: int
    """Offset of its first character in the script."""
    entry: Entry
    """The `source` value in the JSON text."""

    @property
    def end(self) -> int:
        return self.start + len(self.source)


@dataclass(frozen=True, slots=True)
class Notebook:
    """The joined script of a notebook and the way back."""

    script: str
    cells: tuple[Cell, ...]
    remarks: tuple[str, ...]

    def cell_line(self, line: int) -> tuple[int, int]:
        """Index of the cell and line in it, for a line of the script."""
        offset = LineTable(self.script).starts[line - 1]
        cell = next((cell for cell in reversed(self.cells) if cell.start <= offset), self.cells[0])
        return cell.index, line - self.script.count("\n", 0, cell.start)


class BadNotebook(ValueError):
    """Not a notebook; the text says why."""


def read_notebook(text: str) -> Notebook:
    """Join the code cells of a notebook's JSON text; raises BadNotebook."""
    try:
        document = read_json(text)
    except BadData as error:
        raise BadNotebook(f"not the JSON of a notebook: {error}") from error
    language = _language(document)
    if language not in ("", "python"):
        raise BadNotebook(f"its kernel speaks {language}, not Python")
    found = document.get("cells")
    if found is None or not isinstance(found.items, list):
        raise BadNotebook("no list of cells in it (notebooks of format 4 have one)")
    cells: list[Cell] = []
    pieces: list[str] = []
    remarks: list[str] = []
    at = 0
    for index, entry in enumerate(found.items):
        source = _code(entry)
        if source is None:
            continue
        cell, piece, remark = _neutral(index, *source, at)
        cells.append(cell)
        pieces.append(piece)
        remarks += remark
        at += len(piece) + 1
    if not cells:
        raise BadNotebook("it has no code cell")
    return Notebook("\n".join(pieces) + "\n", tuple(cells), tuple(remarks))


def _language(document: Entry) -> str:
    metadata = document.get("metadata")
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(section) if metadata is not None else None
        name = part.get(key) if part is not None else None
        if name is not None and isinstance(name.value, str):
            return "python" if "python" in name.value.lower() else name.value
    return ""


def write_cell(text: str, entry: Entry, source: str) -> str:
    """The replacement for a cell's `source` value in the JSON text, in the notebook's own layout."""
    if not isinstance(entry.items, list):
        return json.dumps(source, ensure_ascii=False)
    lines = [json.dumps(line, ensure_ascii=False) for line in source.splitlines(keepends=True)]
    table = LineTable(text)
    first = entry.items[0].span.start if entry.items else entry.span.start
    if table.line_column(first)[0] == table.line_column(entry.span.start)[0]:
        return "[" + ", ".join(lines) + "]"
    newline, indent = table.newline, table.indent(first)
    inner = f",{newline}".join(indent + line for line in lines)
    return f"[{newline}{inner}{newline}{table.indent(entry.span.end - 1)}]"


def _code(entry: Entry) -> tuple[str, Entry] | None:
    kind, source = entry.get("cell_type"), entry.get("source")
    if kind is None or kind.value != "code" or source is None:
        return None
    if isinstance(source.items, list):
        return "".join(str(line.value) for line in source.items), source
    return (source.value, source) if isinstance(source.value, str) else None


def _neutral(index: int, source: str, entry: Entry, at: int) -> tuple[Cell, str, list[str]]:
    cell = Cell(index, source, at, entry)
    if FOREIGN_CELL.match(source.lstrip()):
        return cell, _commented(source), [f"cell {index} is not Python and is left out"]
    if _parses(source) is None:
        return cell, source, []
    neutral = "\n".join(map(_neutral_line, source.split("\n")))
    wrong = _parses(neutral)
    if wrong is not None:
        return cell, _commented(source), [f"cell {index} is left out: {wrong}"]
    return cell, neutral, []


def _parses(source: str) -> Unparsable | None:
    try:
        parse(source, top_level_await=True)
    except Unparsable as error:
        return error
    return None


def _neutral_line(line: str) -> str:
    timed = TIMED.match(line)
    if timed:
        indent, magic, statement = timed.groups()
        return f"{indent}0{' ' * (len(magic) - 2)};{statement}"
    value = MAGIC_VALUE.match(line)
    if value:
        return value.group(1) + "0".ljust(len(value.group(2)))
    magic = MAGIC_LINE.match(line)
    if magic is None:
        return line
    indent, rest = magic.groups()
    return indent + "0".ljust(len(rest))


def _commented(source: str) -> str:
    """The same length, nothing but comments."""
    return "\n".join("#" + line[1:] if line else line for line in source.split("\n"))
