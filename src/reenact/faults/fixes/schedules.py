"""A schedule that is stepped at the wrong unit."""

from __future__ import annotations

import ast

from reenact.faults import Evidence
from reenact.faults.fixes.drafting import Fixes, edit, offered, reading_of, refused
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.ends import spot_of
from reenact.program.syntax.calls import argument
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import statement_of
from reenact.program.syntax.pieces import (
    block_of,
    called,
    calls_in,
    function_of,
    loops_of,
    owner_of,
)
from reenact.program.syntax.scope import scope_of
from reenact.program.syntax.source import Span
from reenact.program.training.roles import schedules

LENGTHS = {
    "StepLR": (1, "step_size"),
    "CosineAnnealingLR": (1, "T_max"),
    "LinearLR": (3, "total_iters"),
    "PolynomialLR": (1, "total_iters"),
    "ConstantLR": (2, "total_iters"),
    "OneCycleLR": (2, "total_steps"),
}
"""Where a schedule takes its length."""
Looping = ast.For | ast.AsyncFor | ast.While


def step_each_epoch(evidence: Evidence) -> Fixes:
    """The statement that steps a schedule goes one level out, after the loop over batches; where that
    loop is in another function its length is counted in batches.
    """
    found: list[Fixes] = []
    for call in _steps(evidence):
        found += [_after_loop(evidence, call), _longer(evidence, call)]
    return offered(*found)


def _steps(evidence: Evidence) -> list[ast.Call]:
    kept = []
    for index in evidence.files:
        made = schedules(index)
        for call in calls_in(index.tree, "step"):
            if any(same(owner_of(call), one) for one in made) and loops_of(call):
                kept.append(call)
    return kept


def _after_loop(evidence: Evidence, call: ast.Call) -> Fixes:
    statement = statement_of(call)
    loops = [one for one in loops_of(call) if _makes_steps(evidence, one)]
    inner = max(loops, key=lambda loop: loop.lineno, default=None)
    if inner is None or len(loops_of(inner)) < 1:
        return refused("The loop over epochs is in another function than the step of the schedule.")
    if not isinstance(statement, ast.Expr) or statement.value is not call:
        return refused("The step of the schedule is part of another statement.")
    if not _is_in(statement, inner):
        return refused("The schedule is stepped only under a condition.")

    return edit(evidence, "step the schedule once an epoch", _one_level_out, statement, inner)


def _one_level_out(editor: SourceEditor, statement: ast.stmt, loop: Looping) -> None:
    """The last statement of a loop keeps its line; another one goes after the loop."""
    index = scope_of(statement).index
    start = index.span(statement).start
    line = index.lines.line_start(start)
    alone = not index.text[line:start].strip()
    if loop.body[-1] is statement and alone and statement.lineno > loop.body[-2].lineno:
        indent = index.lines.indent(index.span(loop).start)
        editor.replace(Span(line, start, index.path), indent)
        return
    editor.after(loop, editor.text(statement))
    editor.remove_statement(statement)


def _is_in(statement: ast.stmt, loop: Looping) -> bool:
    """Whether it is a statement of the loop itself, under no condition, and not the only one."""
    block = block_of(statement)
    return block is loop.body and len(block) > 1


def _makes_steps(evidence: Evidence, loop: Looping) -> bool:
    reading = reading_of(evidence)
    backwards = reading.loops.backwards if reading is not None else []
    return any(one in calls_in(loop) for one in backwards)


def _longer(evidence: Evidence, call: ast.Call) -> Fixes:
    """The schedule is made as many times longer as there are batches in an epoch."""
    loops = loops_of(call)
    inner = max(loops, key=lambda loop: loop.lineno, default=None)
    if not isinstance(inner, ast.For):
        return ()
    loader = inner.iter
    while isinstance(loader, ast.Call) and called(loader) in ("enumerate", "tqdm") and loader.args:
        loader = loader.args[0]
    if not isinstance(loader, ast.Name):
        return ()
    for made in _makers(evidence, call):
        place, name = LENGTHS.get(called(made), (None, ""))
        given = argument(made, place, name) if name else None
        known = _bound(made, loader)
        if given is None or not known or function_of(made) is not function_of(call):
            continue
        text = f" * len({loader.id})"
        return edit(
            evidence,
            f"count the {name} of {called(made)} in batches",
            _times,
            given,
            text,
        )
    return ()


def _bound(made: ast.Call, loader: ast.Name) -> list[object]:
    return [
        one
        for one in scope_of(made).find(loader.id)
        if getattr(one.node, "lineno", made.lineno) < made.lineno
    ]


def _makers(evidence: Evidence, call: ast.Call) -> list[ast.Call]:
    owner = owner_of(call)
    return [
        node.value
        for index in evidence.files
        for node in index.nodes
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and any(same(one, owner) for one in node.targets)
    ]


def _times(editor: SourceEditor, node: ast.expr, text: str) -> None:
    loose = isinstance(node, ast.BinOp | ast.IfExp | ast.BoolOp)
    written = f"({editor.text(node)})" if loose else editor.text(node)
    editor.replace(spot_of(node), f"{written}{text}")
