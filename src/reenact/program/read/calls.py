"""Arguments of a call by position or by name."""

from __future__ import annotations

import ast


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    """The value of the first of these keywords that is given."""
    for name in names:
        for given in call.keywords:
            if given.arg == name:
                return given.value
    return None


def argument(call: ast.Call, position: int | None, *names: str) -> ast.expr | None:
    """A value given by name, or at a position that no `*args` makes uncertain."""
    found = keyword(call, *names)
    if found is not None or position is None:
        return found
    before = call.args[: position + 1]
    if len(before) <= position or any(isinstance(part, ast.Starred) for part in before):
        return None
    return before[position]


def has_unpacking(call: ast.Call) -> bool:
    """True when `*args` or `**kwargs` may give more than is written."""
    return any(isinstance(part, ast.Starred) for part in call.args) or any(
        part.arg is None for part in call.keywords
    )


def method_name(call: ast.Call) -> str:
    """`fit` of `model.fit(...)`; empty when no attribute is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def receiver(call: ast.Call) -> ast.expr | None:
    return call.func.value if isinstance(call.func, ast.Attribute) else None
