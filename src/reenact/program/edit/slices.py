"""A batch size written out more than once in a loop that cuts batches by hand: all of it changes together."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.edit.literals import python_text
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.read.analysis import Site
from reenact.program.read.values import Found
from reenact.types import JsonValue


def follow_slices(editor: SourceEditor, site: Site, found: Found, value: JsonValue) -> None:
    """`x[i : i + 18]` in `for i in range(0, rows, 18)`: the slices go as far as the steps."""
    loop, written = site.node, found.end.node
    if loop is None or not isinstance(written, ast.Constant) or not _holds(loop, written):
        return
    for number in _sizes(loop):
        if number is not written and number.value == written.value:
            editor.replace(editor.analysis.spot(number, site.scope), python_text(value))


def _holds(node: ast.AST, part: ast.AST) -> bool:
    return any(other is part for other in ast.walk(node))


def _sizes(loop: ast.AST) -> Iterator[ast.Constant]:
    """Numbers that slices reckon with, and those that count the rounds of the loop."""
    reckoned = [term for cut in ast.walk(loop) if isinstance(cut, ast.Slice) for term in _terms(cut)]
    if isinstance(loop, ast.For):
        reckoned += _terms(loop.iter)
    yield from (term for term in reckoned if isinstance(term, ast.Constant))


def _terms(node: ast.AST) -> list[ast.expr]:
    sums = [part for part in ast.walk(node) if isinstance(part, ast.BinOp)]
    return [term for part in sums for term in (part.left, part.right)]
