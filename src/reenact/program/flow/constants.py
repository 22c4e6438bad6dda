"""The literal that an expression is, or that its variable stands for."""

import ast

from reenact.program.flow.uses import parameter_of, values_of
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.pieces import function_of


def constant_of(node: ast.expr | None) -> ast.Constant | None:
    """`True` of `True`, and of `AGAIN` where this variable is never given anything else.

    None for what is computed, what an argument of the function hands over, and a variable that is
    given several values.
    """
    if isinstance(node, ast.Constant):
        return node
    if not isinstance(node, ast.Name) or _is_handed_over(node):
        return None
    found = list(values_of(node))
    first = found[0] if found else None
    if isinstance(first, ast.Constant) and all(same(first, other) for other in found):
        return first
    return None


def _is_handed_over(name: ast.Name) -> bool:
    owner = function_of(name)
    return isinstance(owner, ast.FunctionDef) and parameter_of(owner, name.id) is not None
