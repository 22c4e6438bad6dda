"""Hits that a loop over batches counts, and what the count is divided by."""

import ast
from collections.abc import Sequence

from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.lines import nodes
from reenact.program.syntax.pieces import (
    Found,
    calls_in,
    file_of,
    function_of,
    last_word,
    names,
    within,
)

NO_BATCHES = ("items", "range", "zip")
"""Loops over these are over numbers, over names or over what was computed before."""


def miscounted(files: Sequence[FileIndex]) -> Found:
    """Where hits are counted and the result is not a share of the rows, and what says so."""
    for loop in nodes(files, ast.For):
        labels = _labels(loop)
        for node in within(loop, ast.stmt) if labels else ():
            wrong = _wrong(loop, node, labels)
            if wrong:
                yield node, wrong


def _labels(loop: ast.For) -> set[str]:
    """The names that a loop over batches gives each batch; none for another loop."""
    given = names(loop.target)
    if len(given) > 1 and not calls_in(loop.iter, *NO_BATCHES):
        return given
    return set()


def _wrong(loop: ast.For, node: ast.stmt, labels: set[str]) -> str:
    """What is wrong with the hits that a statement counts; empty for nothing, or where it
    counts none.
    """
    if not isinstance(node, ast.Assign | ast.AugAssign) or not _compares(node.value, labels):
        return ""
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    if not isinstance(target, ast.Name):
        return ""
    named = [one for one in within(function_of(loop), ast.Name) if one.id == target.id]
    uses = [one for one in named if isinstance(one.ctx, ast.Load)]
    last = loop.end_lineno or loop.lineno
    after = [use for use in uses if use.lineno > last]
    if isinstance(node, ast.Assign):
        within_loop = any(loop.lineno <= use.lineno <= last for use in uses)
        kept = after and not within_loop and not within(loop, ast.Break)
        return f"{target.id} is that of the last batch" if kept else ""
    counted = [rows for use in after if (rows := _divided_by_length(use)) is not None]
    share = bool(calls_in(node.value, "mean"))
    if share and any(last_word(rows) == "dataset" for rows in counted):
        return f"{target.id} adds up shares of batches and is divided by the number of rows"
    whole = not share and not within(node.value, ast.BinOp)
    if whole and any(same(rows, loop.iter) for rows in counted):
        return f"{target.id} adds up hits and is divided by the number of batches"
    return ""


def _divided_by_length(use: ast.Name) -> ast.expr | None:
    """`rows` of `hits / len(rows)`."""
    match file_of(use).parents.get(use):
        case ast.BinOp(left, ast.Div(), ast.Call(ast.Name("len"), [rows])) if left is use:
            return rows
    return None


def _compares(value: ast.expr, labels: set[str]) -> bool:
    """Whether answers are compared with the labels of the batch, and the hits counted."""
    compared = [one for one in within(value, ast.Compare) if isinstance(one.ops[0], ast.Eq)]
    counted = bool(calls_in(value, "mean", "sum"))
    return counted and any(labels & names(one.comparators[0]) for one in compared)
