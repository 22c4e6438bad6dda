"""The arguments of a call as it is written, its method and what that is called on."""

import ast


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    """The value of the first of these keywords that is given."""
    given = {part.arg: part.value for part in reversed(call.keywords)}
    for name in names:
        if name in given:
            return given[name]
    return None


def argument(
    call: ast.Call,
    position: int | None,
    *names: str,
) -> ast.expr | None:
    """A value given by name, or at a position that no `*args` makes uncertain."""
    found = keyword(call, *names)
    if found is not None or position is None:
        return found
    before = call.args[: position + 1]
    if len(before) <= position or any(isinstance(part, ast.Starred) for part in before):
        return None
    return before[position]


def entries(node: ast.AST | None) -> dict[object, ast.expr]:
    """The entries of a dictionary whose keys are written out; none for anything else."""
    pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
    return {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}


def has_unpacking(call: ast.Call) -> bool:
    """True when `*args` or `**kwargs` may give more than is written."""
    starred = any(isinstance(part, ast.Starred) for part in call.args)
    return starred or any(part.arg is None for part in call.keywords)


def method_name(call: ast.Call) -> str:
    """`fit` of `model.fit(...)`; empty when no attribute is called."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return ""


def receiver(call: ast.Call) -> ast.expr | None:
    if isinstance(call.func, ast.Attribute):
        return call.func.value
    return None


def super_name(call: ast.Call) -> str:
    """`fit` of `super().fit(...)`; empty for any other call."""
    base = receiver(call)
    if isinstance(base, ast.Call) and is_name(base.func, "super"):
        return method_name(call)
    return ""


def is_name(node: ast.expr | None, name: str) -> bool:
    """True for just this name."""
    return isinstance(node, ast.Name) and node.id == name
