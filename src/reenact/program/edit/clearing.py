"""Where a training loop has to clear gradients: before the backward passes whose gradients one step
spends, or right after a step that is not taken every time.
"""

import ast

from reenact.errors import NotChangeable
from reenact.program.edit.source_editor import SourceEditor, known
from reenact.program.syntax.calls import method_name
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import statement_of
from reenact.program.syntax.pieces import block_of, within
from reenact.program.syntax.scope import FunctionNode, bindings_of, scope_of
from reenact.program.training.analysis import ProgramAnalysis
from reenact.program.training.habits import optimizer_steps, stepped

BACKWARD = ("backward", "manual_backward")


def uncleared(analysis: ProgramAnalysis) -> list[ast.Call]:
    """The steps of optimizers whose gradients nothing clears in their loop, each optimizer once."""
    kept: list[ast.Call] = []
    seen: list[ast.expr] = []
    for call in optimizer_steps(analysis):
        optimizer = stepped(analysis, call)
        if optimizer is None or any(same(optimizer, one) for one in seen):
            continue
        seen.append(optimizer)
        if not _is_cleared(analysis, call, optimizer):
            kept.append(call)
    return kept


def _is_cleared(analysis: ProgramAnalysis, step: ast.Call, optimizer: ast.expr) -> bool:
    """Whether a call in the innermost loop of a step, or in its closure, clears gradients: those of
    this optimizer, or of a model.
    """
    others = [
        base
        for call in optimizer_steps(analysis)
        if (base := stepped(analysis, call)) is not None and not same(base, optimizer)
    ]
    pieces: list[ast.AST] = [_repeated(step), *filter(None, [_closure(step)])]
    cleared = (
        call
        for piece in pieces
        for call in within(piece, ast.Call)
        if method_name(call) == "zero_grad"
    )
    return any(
        isinstance(call.func, ast.Attribute)
        and not any(same(call.func.value, one) for one in others)
        for call in cleared
    )


def _repeated(step: ast.Call) -> ast.AST:
    """The innermost loop over batches around a step: of a loop over optimizers the one around it."""
    index = scope_of(step).index
    loops = ast.For | ast.AsyncFor | ast.While
    around = [one for one in index.ancestors(step) if isinstance(one, loops | FunctionNode)]
    for one in around:
        holds = any(method_name(call) in BACKWARD for call in within(one, ast.Call))
        if holds or isinstance(one, FunctionNode):
            return one
    return index.tree


def _closure(step: ast.Call) -> ast.FunctionDef | None:
    """The function that a step is given to make gradients with."""
    for given in step.args[:1]:
        for one in bindings_of(given):
            if isinstance(one.node, ast.FunctionDef) and _backwards(one.node):
                return one.node
    return None


def _backwards(node: ast.AST) -> list[ast.Call]:
    return [call for call in within(node, ast.Call) if method_name(call) in BACKWARD]


def clear(editor: SourceEditor, step: ast.Call) -> None:
    """Clear the gradients that this step spends; raises NotChangeable where there is no place."""
    optimizer = known(stepped(editor.analysis, step))
    line = f"{editor.text(optimizer)}.zero_grad()"
    closure = _closure(step)
    if closure is not None:
        body = closure.body[1:] if ast.get_docstring(closure) is not None else closure.body
        editor.before(known(body[0] if body else None), line)
        return
    statement = statement_of(step)
    block = block_of(statement)
    before = block[: block.index(statement)] if statement in block else []
    for number in reversed(range(len(before))):
        if _steps(editor, before[number]):
            before = before[number + 1 :]
            break
    sending = [one for one in before if _backwards(one)]
    if sending:
        editor.before(sending[0], line)
    elif isinstance(statement, ast.Expr | ast.Assign):
        editor.after(statement, line)
    else:
        raise NotChangeable("The optimizer steps inside another statement.")


def _steps(editor: SourceEditor, statement: ast.stmt) -> bool:
    steps = optimizer_steps(editor.analysis)
    here = within(statement, ast.Call)
    return any(one in here for one in steps)


def clear_every(editor: SourceEditor) -> None:
    """Clear the gradients of every optimizer that nothing clears."""
    for step in uncleared(editor.analysis):
        clear(editor, step)


def cleared_too_late(analysis: ProgramAnalysis) -> list[tuple[ast.stmt, ast.stmt]]:
    """Statements that clear gradients between the backward pass and the step of one block, each with
    the statement of the backward pass.
    """
    found = []
    for step in optimizer_steps(analysis):
        statement = statement_of(step)
        block = block_of(statement)
        optimizer = stepped(analysis, step)
        before = block[: block.index(statement)] if statement in block else []
        sent: ast.stmt | None = None
        for one in before:
            call = one.value if isinstance(one, ast.Expr) else None
            if _backwards(one):
                sent = one
            elif sent is not None and isinstance(call, ast.Call):
                func = call.func
                is_clearing = isinstance(func, ast.Attribute) and func.attr == "zero_grad"
                if is_clearing and isinstance(func, ast.Attribute) and same(func.value, optimizer):
                    found.append((one, sent))
    return found


def clear_earlier(editor: SourceEditor, cleared: ast.stmt, sent: ast.stmt) -> None:
    """Move a statement that clears gradients before the backward pass."""
    editor.before(sent, editor.text(cleared))
    editor.remove_statement(cleared)
