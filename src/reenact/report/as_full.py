"""The document for a person at a terminal."""

import io
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from reenact.plain import plain, plain_line
from reenact.report import document as doc
from reenact.types import Table

STYLES = {
    doc.Level.ERROR: "bold red",
    doc.Level.WARNING: "yellow",
    doc.Level.NOTE: "cyan",
}
DIFF = {"+": "green", "-": "red", "@": "cyan"}
GAP = 2
"""Blanks between columns."""
WORD = 24
"""A longer word is broken before other columns become narrow for it."""
NARROW = 12
"""No column is made narrower than this for the sake of one on its left."""


def render(
    document: doc.Document,
    *,
    width: int = 100,
    color: bool = False,
    details: bool = True,
) -> str:
    """What was reused first, then title, diagnostics, blocks, and the verdict last, where the
    eye ends.
    """
    sink = io.StringIO()
    console = Console(
        file=sink,
        width=width,
        force_terminal=color,
        no_color=not color,
        highlight=False,
    )
    if document.reused:
        console.print(RichText(plain_line(document.reused), style="yellow"))
    console.print(RichText(plain_line(document.title), style="bold"))
    above = True
    for diagnostic in document.diagnostics:
        if above or diagnostic.detail:
            console.print()
        _print_diagnostic(console, diagnostic)
        above = bool(diagnostic.detail)
    for block in document.plain_blocks(details=details):
        console.print()
        _print_block(console, block)
    console.print()
    # One line, however long: scripts read it.
    last = plain_line(document.verdict)
    if document.next_command:
        last = f"{last} Next: {plain_line(document.next_command)}"
    console.print(RichText(last, style="bold"), soft_wrap=True)
    return "\n".join(line.rstrip() for line in sink.getvalue().splitlines()) + "\n"


def _print_block(console: Console, block: doc.Plain) -> None:
    if block.title:
        console.print(RichText(plain_line(block.title), style="bold cyan"))
    if isinstance(block, doc.Text) and block.is_diff:
        for line in plain(block.text).splitlines():
            console.print(
                RichText(
                    f"  {line}",
                    style=DIFF.get(line[:1], ""),
                ),
                soft_wrap=True,
            )
    elif isinstance(block, doc.Text | doc.Picture):
        shown = block.text if isinstance(block, doc.Text) else block.alt
        console.print(
            Padding(
                RichText(plain(shown)),
                (0, 0, 0, 2),
            )
        )
    elif isinstance(block, doc.Facts):
        console.print(
            Padding(
                _facts(block),
                (0, 0, 0, 2),
            )
        )
    elif widths := _widths(block, console.width - 2):
        table = RichTable(
            box=None,
            pad_edge=False,
            header_style="bold",
            padding=(0, GAP, 0, 0),
        )
        for column, width in zip(block.columns, widths, strict=True):
            table.add_column(plain_line(column), overflow="fold", width=width)
        for row in block.rows:
            table.add_row(*(RichText(plain(cell)) for cell in row))
        console.print(Padding(table, (0, 0, 0, 2)))
    else:
        for number, row in enumerate(block.rows):
            cells = tuple(zip(block.columns, row, strict=True))
            console.print(
                Padding(
                    _facts(doc.Facts("", cells)),
                    (1 if number else 0, 0, 0, 2),
                )
            )


def _facts(block: doc.Facts) -> RichTable:
    grid = RichTable.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for name, value in block.facts:
        grid.add_row(
            RichText(plain_line(name)),
            RichText(plain(value)),
        )
    return grid


def _widths(block: Table, available: int) -> list[int]:
    """Widths of the columns. No word is broken while there is space, then those on the right are
    first; what is left over goes where least is wanting, so that few columns need a second line.
    None where not every column has space for a word of its own: then a row is a list of its cells.
    """
    columns = [
        [plain(cell) for cell in column] for column in zip(block.columns, *block.rows, strict=True)
    ]
    wanted = [max(_longest(cell.splitlines()) for cell in column) for column in columns]
    widths = [min(WORD, max(_longest(cell.split()) for cell in column)) for column in columns]
    available -= GAP * len(widths)
    if sum(min(one, NARROW) for one in widths) > available:
        return []
    for number in reversed(range(len(widths))):
        widths[number] = max(
            min(widths[number], NARROW),
            widths[number] - max(0, sum(widths) - available),
        )
    while sum(widths) < min(available, sum(wanted)):
        short = [want - width for want, width in zip(wanted, widths, strict=True)]
        widths[short.index(min(one for one in short if one > 0))] += 1
    return widths


def _longest(parts: list[str]) -> int:
    return max((cell_len(part) for part in parts), default=1)


def _print_diagnostic(console: Console, diagnostic: doc.Diagnostic) -> None:
    where = ""
    if diagnostic.where:
        where = f"{plain_line(diagnostic.where)}  "
    head = RichText(
        f"{where}{plain_line(diagnostic.code)} ",
        style=STYLES[diagnostic.level],
    )
    head.append(plain_line(diagnostic.name), style="bold")
    if aside := plain_line(diagnostic.aside):
        fits = head.cell_len + GAP + cell_len(aside) <= console.width
        head.append(
            f"{' ' if fits else chr(10)}{' ' * GAP}{aside}",
            style="dim",
        )
    console.print(head)
    for line in _detail(
        diagnostic,
        min(doc.WIDEST, console.width - GAP),
    ):
        console.print(Padding(line, (0, 0, 0, GAP)))


def _detail(diagnostic: doc.Diagnostic, width: int) -> Iterator[RichText]:
    """The line it is about with its mark, the reasons or else the message, and what to do next."""
    for line in _around(plain(diagnostic.source).splitlines(), width):
        gutter, bar, rest = line.partition("|")
        style = "" if rest.strip(" ^") else STYLES[diagnostic.level]
        yield RichText.assemble(
            (gutter + bar, "dim"),
            (rest, style),
        )
    if not diagnostic.detail:
        yield RichText(plain(diagnostic.message))
    for label, text in diagnostic.parts:
        style = ""
        if text.startswith(doc.CHANGE):
            style = DIFF[text[0]]
        for line in doc.labelled(label, plain(text), width):
            yield RichText.assemble(
                (line[: doc.LABEL], "dim"),
                (line[doc.LABEL :], style),
            )
    if diagnostic.next_step:
        label = f"{'next':{doc.LABEL if diagnostic.detail else doc.LABEL - 3}}"
        yield RichText.assemble(
            (label, "dim"),
            (plain(diagnostic.next_step), "green"),
        )


def _around(source: list[str], width: int) -> list[str]:
    """A line of source and the mark below it; of a long one the part around the mark."""
    marked = len(source) == 2 and "|" in source[0] and "^" in source[1]
    if not marked or max(map(len, source)) <= width:
        return source
    gutter = source[0].index("|") + 2
    line, mark = (one[gutter:] for one in source)
    space = width - gutter
    start = mark.index("^")
    left = 0 if start < space // 2 else min(start - space // 2, len(line) - space)
    shown = f"{'…' if left else line[0]}{line[left + 1 : left + space]}"
    if left + space < len(line):
        shown = f"{shown[:-1]}…"
    return [
        source[0][:gutter] + shown,
        source[1][:gutter] + mark[left : left + space],
    ]
