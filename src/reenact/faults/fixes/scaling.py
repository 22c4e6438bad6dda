"""Held-out rows that are scaled by other numbers than the rows that train."""

from __future__ import annotations

import ast

from reenact.errors import NotChangeable
from reenact.faults import Evidence, Place
from reenact.faults.fixes.drafting import (
    Fixes,
    bracketed,
    edit,
    fresh_name,
    nodes_at,
    offered,
    refused,
    statement_at,
)
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.ends import spot_of
from reenact.program.flow.uses import stores
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import statement_of
from reenact.program.syntax.pieces import (
    called,
    calls_in,
    file_of,
    is_sum,
    owner_of,
    within,
)
from reenact.program.syntax.source import Span
from reenact.program.training.rows.splits import apart


def fit_on_training_rows(evidence: Evidence, place: Place | None) -> Fixes:
    """A scaler that was fitted to the training rows is applied to the others as it is."""
    found: list[Fixes] = []
    for call in nodes_at(evidence, place, ast.Call):
        if called(call) in ("fit_transform", "fit", "adapt") and call.args:
            found.append(_applied_only(evidence, call))
    found += [_with_other_figures(evidence, one) for one in _scaled(evidence, place)]
    found += [_scaled_alike(evidence, one) for one in _unscaled(evidence)]
    return offered(*found, refused("By which numbers the training rows were scaled is not seen."))


def _applied_only(evidence: Evidence, call: ast.Call) -> Fixes:
    owner = owner_of(call)
    fits = [
        one
        for index in evidence.files
        for one in calls_in(index.tree, "fit_transform", "fit", "adapt")
        if one.args and one is not call and apart(one.args[0], call.args[0])
    ]
    if owner is None or not fits:
        return ()
    first = owner_of(fits[0])
    if first is None or not isinstance(first, ast.Name | ast.Attribute):
        return refused("The scaler of the training rows has no name by which it could be used.")
    if called(call) == "fit_transform":
        return edit(
            evidence,
            f"scale {excerpt(call.args[0])} by the numbers of the training rows",
            _transform,
            call,
            owner,
            first,
        )
    statement = statement_of(call)
    if isinstance(statement, ast.Expr) and statement.value is call and same(owner, first):
        return edit(
            evidence,
            f"fit the scaler to {excerpt(fits[0].args[0])} alone",
            SourceEditor.remove_statement,
            statement,
        )
    return ()


def _transform(editor: SourceEditor, call: ast.Call, owner: ast.expr, first: ast.expr) -> None:
    spot = spot_of(call.func)
    editor.replace(
        Span(spot_of(owner).start, spot.end, spot.file), f"{editor.text(first)}.transform"
    )


def _scaled(evidence: Evidence, place: Place | None) -> list[ast.BinOp]:
    """`(rows - shift) / spread` in the statement of a place."""
    statement = statement_at(evidence, place)
    if statement is None:
        return []
    found = [one for one in within(statement, ast.BinOp) if _standardises(one)]
    if found:
        return found
    return [
        one
        for index in evidence.files
        for one in within(index.tree, ast.BinOp)
        if _standardises(one) and any(apart(other, one) for other in _every_scaled(evidence))
    ]


def _every_scaled(evidence: Evidence) -> list[ast.BinOp]:
    return [
        one
        for index in evidence.files
        for one in within(index.tree, ast.BinOp)
        if _standardises(one)
    ]


def _standardises(node: ast.BinOp) -> bool:
    return isinstance(node.op, ast.Div) and is_sum(node.left, ast.Sub)


def _with_other_figures(evidence: Evidence, held: ast.BinOp) -> Fixes:
    """The figures of the training rows, computed before these are scaled themselves."""
    for first in _every_scaled(evidence):
        if apart(first, held):
            return edit(
                evidence,
                "scale the held-out rows by the figures of the training rows",
                _share_figures,
                first,
                held,
            )
    return ()


def _share_figures(editor: SourceEditor, first: ast.BinOp, held: ast.BinOp) -> None:
    subtracted, other = first.left, held.left
    if not (is_sum(subtracted, ast.Sub) and is_sum(other, ast.Sub)):
        raise NotChangeable("The rows are not scaled by a difference and a quotient.")
    pairs = ((subtracted.right, other.right), (first.right, held.right))
    index = file_of(first)
    overwritten = any(
        isinstance(one, ast.Assign) and any(same(target, subtracted.left) for target in one.targets)
        for one in index.nodes
        if getattr(one, "lineno", 0) >= first.lineno
    )
    if not overwritten:
        for figure, old in pairs:
            editor.replace(spot_of(old), _as_factor(editor, figure, old))
        return
    names_of = [fresh_name(first, word) for word in ("train_mean", "train_std")]
    texts = [editor.text(figure) for figure, _ in pairs]
    editor.before(statement_of(first), f"{', '.join(names_of)} = {', '.join(texts)}")
    for name, pair in zip(names_of, pairs, strict=True):
        for one in pair:
            editor.replace(bracketed(one), name)


def _as_factor(editor: SourceEditor, figure: ast.expr, old: ast.expr) -> str:
    loose = isinstance(figure, ast.BinOp) and not isinstance(old, ast.BinOp)
    return f"({editor.text(figure)})" if loose else editor.text(figure)


def _unscaled(evidence: Evidence) -> list[tuple[ast.expr, ast.expr, ast.BinOp]]:
    """Training rows inside what scales them, held-out rows that nothing scales, and the scaling."""
    found: list[tuple[ast.expr, ast.expr, ast.BinOp]] = []
    for index in evidence.files:
        values = [value for _, value in stores(index.tree)]
        for whole in [one for one in values if isinstance(one, ast.BinOp)]:
            if not isinstance(whole.op, ast.Div | ast.Sub):
                continue
            for rows in within(whole, ast.Subscript):
                for value in values:
                    if isinstance(value, ast.Subscript) and apart(rows, value):
                        found.append((rows, value, whole))
    return found


def _scaled_alike(evidence: Evidence, found: tuple[ast.expr, ast.expr, ast.BinOp]) -> Fixes:
    rows, held, whole = found
    return edit(
        evidence,
        f"scale {excerpt(held)} as {excerpt(rows)} is scaled",
        _around_rows,
        rows,
        held,
        whole,
    )


def _around_rows(editor: SourceEditor, rows: ast.expr, held: ast.expr, whole: ast.BinOp) -> None:
    text = editor.text(whole)
    own = editor.text(rows)
    if text.count(own) != 1:
        raise NotChangeable("The training rows are scaled by figures of themselves.")
    front, _, back = text.partition(own)
    editor.wrap(held, front, back)
