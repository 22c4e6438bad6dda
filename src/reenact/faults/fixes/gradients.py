"""Gradients that are not cleared, or cleared before they are used; graphs that are kept."""

from __future__ import annotations

import ast

from reenact.faults import Evidence, Place
from reenact.faults.fixes.drafting import (
    Fixes,
    code_of,
    edit,
    insert_before,
    nodes_at,
    offered,
    reading_of,
    with_method,
)
from reenact.program.edit.clearing import (
    clear,
    clear_earlier,
    cleared_too_late,
    uncleared,
)
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import statement_of
from reenact.program.syntax.pieces import called, is_sum, owner_of
from reenact.program.training.habits import optimizer_steps, stepped


def clear_gradients(evidence: Evidence) -> Fixes:
    """Before the backward passes of every optimizer that nothing clears; of a step that is not taken
    every time right after it; of a closure at its beginning.
    """
    reading = reading_of(evidence)
    steps = uncleared(reading.analysis) if reading is not None else []
    if reading is None or not steps:
        return ()
    optimizers = [stepped(reading.analysis, one) for one in steps]
    named = " and ".join(excerpt(one) for one in optimizers if one is not None)

    def write(editor: SourceEditor) -> None:
        for step in steps:
            clear(editor, step)

    return edit(evidence, f"clear the gradients of {named} for each step", write)


def clear_before_backward(evidence: Evidence) -> Fixes:
    """What clears gradients between the backward pass and the step goes before the backward pass."""
    reading = reading_of(evidence)
    late = cleared_too_late(reading.analysis) if reading is not None else []

    def write(editor: SourceEditor) -> None:
        for cleared, sent in late:
            clear_earlier(editor, cleared, sent)

    return edit(evidence, "clear the gradients before the backward pass", write)


def let_go_of_graph(evidence: Evidence, place: Place | None) -> Fixes:
    """A loss that is added up or kept becomes a number; what has many values is detached."""
    for node in nodes_at(evidence, place, ast.AugAssign):
        added = node.value.left if is_sum(node.value, ast.Mult, ast.Div) else node.value
        return _freed(evidence, added)
    for call in nodes_at(evidence, place, ast.Call):
        if called(call) in ("append", "appendleft") and len(call.args) == 1:
            return _freed(evidence, call.args[0])
    for assigned in nodes_at(evidence, place, ast.Assign):
        if is_sum(assigned.value, ast.Add):
            for target in assigned.targets:
                other = _other(assigned.value, target)
                if other is not None:
                    return _freed(evidence, other)
        return _detached(evidence, assigned.value)
    return ()


def _freed(evidence: Evidence, value: ast.expr) -> Fixes:
    """As a number first; as a tensor without its graph where a number is too little."""
    if not _may_hold_graph(value):
        return ()
    return offered(
        edit(
            evidence,
            f"keep the number of {excerpt(value)}, not its graph",
            with_method,
            value,
            ".item()",
        ),
        _detached(evidence, value),
    )


def _may_hold_graph(value: ast.expr) -> bool:
    """Whether it is one value, and no literal."""
    kinds = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.BinOp | ast.UnaryOp
    return isinstance(value, kinds)


def _detached(evidence: Evidence, value: ast.expr) -> Fixes:
    if not _may_hold_graph(value):
        return ()
    return edit(
        evidence,
        f"keep {excerpt(value)} without its graph",
        with_method,
        value,
        ".detach()",
    )


def _other(total: ast.BinOp, target: ast.expr) -> ast.expr | None:
    """What is added to a variable in a sum that it is given."""
    if same(total.left, target):
        return total.right
    return total.left if same(total.right, target) else None


def unscale_before_clipping(evidence: Evidence, place: Place | None) -> Fixes:
    """Gradients are clipped in their own size: the scaler unscales them before."""
    reading = reading_of(evidence)
    if reading is None:
        return ()
    for call in nodes_at(evidence, place, ast.Call):
        for step in optimizer_steps(reading.analysis):
            scaler = owner_of(step)
            optimizer = stepped(reading.analysis, step)
            if scaler is None or optimizer is None or same(scaler, optimizer):
                continue
            text = f"{code_of(scaler)}.unscale_({code_of(optimizer)})"
            return edit(
                evidence,
                "unscale the gradients before they are clipped",
                insert_before,
                statement_of(call),
                text,
            )
    return ()
