"""Indices that are looked up in a table of embeddings, and what is done to them before."""

import ast
from collections.abc import Iterator

from reenact.program.flow.uses import objects_of, stores, value_of
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    function_of,
    is_call,
    is_sum,
    names,
    subject_of,
)

TABLES = ("Embedding", "EmbeddingBag")


CLIPS = (
    "clamp",
    "clamp_",
    "clamp_max",
    "clip",
    "minimum",
    "min",
    "fmin",
    "clip_by_value",
)


WRAPS = ("remainder", "fmod", "mod")


def cut_indices(index: FileIndex) -> Iterator[tuple[ast.expr, ast.Call]]:
    """Indices that are cut before they are looked up, and the table. What was computed before, a
    distance or a bucket, is cut on purpose: far places are alike.
    """
    for call in (one for one in index.calls if one.args):
        tables = [one for one in objects_of(call.func, *TABLES) if one.args]
        value = value_of(call.args[0])
        own = value is call.args[0] or function_of(value) is function_of(call)
        if tables and own and _is_given(_cut(value)):
            yield value, tables[0]


def _cut(value: ast.expr) -> ast.expr | None:
    """What an expression cuts; none where it cuts nothing."""
    if is_sum(value, ast.Mod):
        return value.left
    if is_call(value, *CLIPS, *WRAPS):
        return subject_of(value)
    return None


def _is_given(cut: ast.expr | None) -> bool:
    """Whether something is an argument of the function, a column of one, or read from outside."""
    while isinstance(cut, ast.Subscript):
        cut = cut.value
    if not isinstance(cut, ast.Name):
        return False
    values = [
        value
        for target, value in stores(function_of(cut))
        if isinstance(target, ast.Name) and target.id == cut.id
    ]
    return all(cut.id in names(value) for value in values)
