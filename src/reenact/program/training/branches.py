"""Whether a step in a branch is taken, for a certain call of the function that holds it."""

import ast
from collections.abc import Sequence

from reenact.program.flow.ends import NOT_LITERAL
from reenact.program.flow.follow import Follower
from reenact.program.syntax.calls import argument
from reenact.program.syntax.scope import bindings_of, scope_of
from reenact.program.syntax.targets import How


def is_taken(
    follower: Follower,
    step: ast.AST,
    loop: ast.AST,
    site: ast.Call | None,
    steps: Sequence[ast.AST] = (),
) -> bool | None:
    """Whether a step runs in a round of a loop, when `site` calls its function; none where the
    text leaves it open.

    A condition on what the loop itself computes (`if torch.isfinite(loss)`) holds as a rule, and
    one with `steps` in both of its branches decides nothing.
    """
    answers: list[bool | None] = [True]
    below = step
    for part in scope_of(step).index.ancestors(step):
        is_inside = isinstance(part, ast.If) and below is not part.test
        if isinstance(part, ast.If) and is_inside and not _on_both(part, steps):
            holds = _holds(follower, part.test, loop, site)
            if holds is not None and below in part.orelse:
                holds = not holds
            answers.append(holds)
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            break
        below = part
    if False in answers:
        return False
    return None if None in answers else True


def _on_both(branch: ast.If, steps: Sequence[ast.AST]) -> bool:
    return _holds_one(branch.body, steps) and _holds_one(branch.orelse, steps)


def _holds_one(block: Sequence[ast.stmt], steps: Sequence[ast.AST]) -> bool:
    """Whether one of these steps is in a block."""
    parts = (part for statement in block for part in ast.walk(statement))
    return any(part in steps for part in parts)


def _holds(
    follower: Follower,
    test: ast.expr,
    loop: ast.AST,
    site: ast.Call | None,
) -> bool | None:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _holds(follower, test.operand, loop, site)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [_holds(follower, part, loop, site) for part in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if _is_of_the_loop(test, loop):
        return True
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(follower, test, site)
    known, value = _value(follower, test, site)
    return bool(value) if known else None


def _compared(follower: Follower, test: ast.Compare, site: ast.Call | None) -> bool | None:
    known, left = _value(follower, test.left, site)
    also, right = _value(follower, test.comparators[0], site)
    if not known or not also:
        return None
    if isinstance(test.ops[0], ast.Is | ast.Eq):
        return bool(left == right)
    if isinstance(test.ops[0], ast.IsNot | ast.NotEq):
        return bool(left != right)
    return None


def _value(follower: Follower, node: ast.expr, site: ast.Call | None) -> tuple[bool, object]:
    """Whether a value is known for this call, and the value. An object that is made counts as
    such.
    """
    found = bindings_of(node)
    if len(found) == 1 and found[0].how is How.PARAMETER:
        parameter = found[0]
        if site is None:
            return False, None
        given = argument(site, parameter.position, parameter.name)
        if given is None:
            given = parameter.value
        if given is None:
            return False, None
        node = given
    end = follower.single(node)
    if end is None:
        return False, None
    value = end.literal()
    if value is not NOT_LITERAL:
        return True, value
    return isinstance(end.node, ast.Call), end.node


def _is_of_the_loop(test: ast.expr, loop: ast.AST) -> bool:
    inside = set(ast.walk(loop))
    for part in ast.walk(test):
        for binding in bindings_of(part):
            if binding.how is not How.PARAMETER and binding.node in inside:
                return True
    return False
