"""Half precision, and limits of gradients that are computed by hand."""

from __future__ import annotations

import ast

from reenact.faults import Evidence, Place
from reenact.faults.fixes.drafting import (
    Fixes,
    bracketed,
    edit,
    insert_before,
    nodes_at,
    offered,
    operand,
    reading_of,
    refused,
)
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.ends import spot_of
from reenact.program.syntax.index import statement_of
from reenact.program.syntax.pieces import (
    around,
    block_of,
    called,
    is_call,
    is_sum,
    owner_of,
    within,
)
from reenact.program.syntax.scope import scope_of
from reenact.program.syntax.source import Span
from reenact.program.training.habits import optimizer_steps, stepped

HALVES = ("float16", "half")


def use_bfloat16(evidence: Evidence) -> Fixes:
    """Half precision with the range of float32: `bfloat16` in the place of `float16`; or a scaler of
    the loss, where layers compute in half precision and the weights do not.
    """
    return offered(
        edit(evidence, "compute in bfloat16, which has the range of float32", _bfloat16),
        _scaled(evidence),
        refused("Where the program turns to half precision is not seen."),
    )


def _bfloat16(editor: SourceEditor) -> None:
    for index in editor.analysis.sources.indexes.values():
        for node in within(index.tree, ast.Attribute):
            dotted = editor.analysis.sources.dotted(node)
            parent = index.parents.get(node)
            method = is_call(parent, "half") and parent.func is node and not parent.args
            if dotted in ("torch.float16", "torch.half") or (method and not dotted):
                spot = spot_of(node)
                editor.replace(Span(spot.end - len(node.attr), spot.end, spot.file), "bfloat16")


def _scaled(evidence: Evidence) -> Fixes:
    """A `GradScaler` around one backward pass and one step, in one block."""
    reading = reading_of(evidence)
    steps = optimizer_steps(reading.analysis) if reading is not None else []
    backwards = reading.loops.backwards if reading is not None else []
    if reading is None or len(steps) != 1 or len(backwards) != 1:
        return ()
    step, sent = steps[0], backwards[0]
    loss = owner_of(sent)
    optimizer = stepped(reading.analysis, step)
    if loss is None or optimizer is None or sent.args or optimizer is not owner_of(step):
        return ()
    if block_of(statement_of(sent)) is not block_of(statement_of(step)):
        return ()
    return edit(
        evidence,
        "scale the loss, so that small gradients stay above zero",
        _with_scaler,
        step,
        sent,
    )


def _with_scaler(editor: SourceEditor, step: ast.Call, sent: ast.Call) -> None:
    optimizer, loss = owner_of(step), owner_of(sent)
    assert optimizer is not None
    assert loss is not None
    made = editor.name_for("torch.amp.GradScaler", step)
    loops = [
        one for one in scope_of(step).index.ancestors(step) if isinstance(one, ast.For | ast.While)
    ]
    outer = loops[-1] if loops else statement_of(step)
    insert_before(editor, outer, f"scaler = {made}()")
    editor.wrap(loss, "scaler.scale(", ")")
    editor.replace(spot_of(step), f"scaler.step({editor.text(optimizer)})")
    editor.after(statement_of(step), "scaler.update()")


CLAMPS = ("min", "minimum", "clamp", "clip", "clamp_")


def limit_at_one(evidence: Evidence, place: Place | None) -> Fixes:
    """The factor of gradients that are clipped by hand is the limit divided by their norm, and never
    larger than one.
    """
    for node in nodes_at(evidence, place, ast.BinOp):
        if not is_sum(node, ast.Div):
            continue
        turned = edit(evidence, "divide the limit by the norm", _turned_round, node)
        if any(called(one) in CLAMPS for one in around(node)):
            return turned
        kept = "leave gradients below the limit as they are"
        return offered(
            edit(evidence, kept, SourceEditor.wrap, node, "min(1.0, ", ")"),
            turned,
        )
    return refused("Where the factor of the gradients is computed is not seen.")


def _turned_round(editor: SourceEditor, node: ast.BinOp) -> None:
    """`a / b` becomes `b / a`."""
    left, right = editor.text(node.left), editor.text(node.right)
    editor.replace(bracketed(node.left), operand(right, node.right))
    editor.replace(bracketed(node.right), operand(left, node.left))
