"""The literal that an expression is, or that its variable stands for."""

import ast

from reenact.program.flow.ends import NOT_LITERAL, literal
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.pieces import is_call, is_constant, within
from reenact.program.syntax.scope import bindings_of, scope_of
from reenact.program.syntax.targets import How
from reenact.types import JsonValue

STEPS = 4
"""Variables that are followed in a row."""
INFINITIES = ("inf", "-inf", "Inf", "-Inf", "infinity", "-infinity")


def constant_of(node: ast.expr | None) -> ast.Constant | None:
    """`True` of `True`, and of `AGAIN` where this variable is never given anything else.

    None for what is computed, what an argument of the function hands over, and a variable that is
    given several values.
    """
    value = read_through(node) if node is not None else None
    return value if isinstance(value, ast.Constant) else None


def read_through(node: ast.expr, steps: int = STEPS) -> ast.expr:
    """What a variable stands for that is given one literal only; other expressions as they are.

    A literal is also a negative number, a list of literals and `float("inf")`.
    """
    if _is_literal(node) or not isinstance(node, ast.Name) or not steps:
        return node
    found: list[ast.expr] = []
    for binding in bindings_of(node):
        if binding.how is not How.ASSIGN or binding.pick or binding.value is None:
            return node
        found.append(read_through(binding.value, steps - 1))
    if not found or not _is_literal(found[0]):
        return node
    if all(same(found[0], other) for other in found):
        return found[0]
    return node


def plain_value(node: ast.expr) -> JsonValue:
    """The value of an expression made of literals and variables that stand for literals, such as
    `(ROWS, 8)`; of any other the source text, with these variables replaced.
    """
    text = _text_read_through(node)
    value = literal(ast.parse(f"({text}\n)", mode="eval").body)
    return text if value is NOT_LITERAL else value  # type: ignore[return-value]


def _text_read_through(node: ast.expr) -> str:
    index = scope_of(node).index
    whole = index.span(node)
    text = whole.cut(index.text)
    for name in sorted(within(node, ast.Name), key=lambda one: index.span(one).start, reverse=True):
        value = read_through(name)
        if value is not name:
            start = index.span(name).start - whole.start
            text = text[:start] + index.text_of(value) + text[start + len(name.id) :]
    return text


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant) or literal(node) is not NOT_LITERAL:
        return True
    if not is_call(node, "float") or len(node.args) != 1:
        return False
    return is_constant(node.args[0], *INFINITIES)
