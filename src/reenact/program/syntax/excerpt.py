"""A piece of a program as text for messages, and whether two pieces are the same.

No verdict may depend on `excerpt`: the text changes with every name. `same` compares structure, so
it survives when a variable is renamed everywhere.
"""

import ast
from collections.abc import Iterator

LONGEST = 60


def excerpt(node: ast.AST, longest: int = LONGEST) -> str:
    """What a message quotes."""
    return ast.unparse(node)[:longest]


def same(one: ast.AST | None, other: ast.AST | None) -> bool:
    """Whether two expressions read the same, wherever they are and whether read or stored."""
    if one is None or other is None:
        return one is other
    return list(_shape(one)) == list(_shape(other))


def key_of(node: ast.AST) -> str:
    """Equal for expressions that are the same: to look one up among others, never to be searched.

    Of a constant it is the literal.
    """
    return ast.unparse(node)


def _shape(node: ast.AST) -> Iterator[object]:
    yield type(node)
    for name, value in ast.iter_fields(node):
        if name in ("ctx", "type_comment", "kind"):
            continue
        parts = value if isinstance(value, list) else [value]
        yield len(parts)
        for part in parts:
            if isinstance(part, ast.AST):
                yield from _shape(part)
            else:
                yield repr(part)
