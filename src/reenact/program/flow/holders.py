"""Which model, list or dict a weight that is updated belongs to, by flow alone."""

import ast
from collections.abc import Iterator, Sequence

from reenact.program.flow.uses import Stored, assigned, handed, stores, value_of
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    elements,
    file_of,
    function_of,
    is_call,
    last_word,
    owner_of,
    within,
)

WEIGHTS = (
    "parameters",
    "named_parameters",
    "state_dict",
    "buffers",
    "trainable_variables",
    "trainable_weights",
    "weights",
    "get_weights",
)
"""What a framework calls the weights of a model."""
ROUNDS = 4
"""Arguments and assignments that are followed in a row."""


def holders(files: Sequence[FileIndex], node: ast.expr, rounds: int = ROUNDS) -> Iterator[str]:
    """The models, lists and dicts that a weight is one of: by the loop that takes it out, the call
    that hands it over, or the assignment before.
    """
    if not rounds:
        return
    while isinstance(node, ast.Subscript) or getattr(node, "attr", "") == "data":
        node = vars(node)["value"]
    name = last_word(node)
    walked = [pair for one in file_of(node).ancestors(node) for pair in _heads(one)]
    for target, source in walked:
        if name in map(last_word, elements(target) or [target]):
            if _are_weights(source):
                yield from _models(files, _taken(target, source, name), rounds)
            return
    given = [value for target, value in stores(function_of(node)) if same(target, node)]
    callers = _handed(files, node)
    for value in (*callers, *given):
        yield from holders(files, value, rounds - 1)
    if not callers and any(_are_weights(source) for _, source in walked):
        yield from _models(files, node, rounds)


def _handed(files: Sequence[FileIndex], node: ast.expr) -> list[ast.expr]:
    """What calls give for an argument of the function that it stands in."""
    function = function_of(node)
    if not isinstance(function, ast.FunctionDef) or not isinstance(node, ast.Name):
        return []
    return handed(function, node.id, files)


def _heads(node: ast.AST) -> list[Stored]:
    """What a loop or a comprehension takes out, and of what."""
    heads = [node] if isinstance(node, ast.For) else getattr(node, "generators", ())
    return [pair for one in heads for pair in assigned(one)]


def _are_weights(source: ast.expr) -> bool:
    """Whether a loop goes over the weights of a model."""
    followed = [source, *map(value_of, within(source, ast.Name))]
    return any(one.attr in WEIGHTS for part in followed for one in within(part, ast.Attribute))


def _taken(target: ast.expr, source: ast.expr, name: str) -> ast.expr:
    """What is walked over for one variable of `for old, new in zip(slow, fast)`."""
    places = [last_word(one) for one in elements(target)]
    if is_call(source, "zip") and len(source.args) == len(places) and name in places:
        return source.args[places.index(name)]
    return source


def _models(files: Sequence[FileIndex], node: ast.expr, rounds: int) -> Iterator[str]:
    """`slow` of `slow.net.parameters()` and of `self.slow[name]`; what is made of the class too
    where its `forward` asks that.
    """
    inner: ast.expr | None = node
    while isinstance(inner, ast.Call | ast.Attribute | ast.Subscript):
        node = inner
        if isinstance(inner, ast.Call):
            inner = owner_of(inner) or next(iter(inner.args), None)
        else:
            inner = inner.value
    if not isinstance(inner, ast.Name):
        return
    index = file_of(inner)
    method = function_of(inner)
    owner = index.parents.get(method)
    own = method.args.args[:1] if isinstance(method, ast.FunctionDef) else []
    if isinstance(owner, ast.ClassDef) and inner.id in [one.arg for one in own]:
        yield last_word(node)
        if _answers_with(owner, last_word(node)):
            made = (target for target, value in stores(index.tree) if is_call(value, owner.name))
            yield from filter(None, map(last_word, made))
        return
    callers = _handed(files, inner) if rounds else []
    for value in callers:
        yield from _models(files, value, rounds - 1)
    if not callers:
        yield inner.id


def _answers_with(owner: ast.ClassDef, part: str) -> bool:
    ways = [one for one in within(owner, ast.FunctionDef) if one.name in ("forward", "__call__")]
    return any(one.attr == part for way in ways for one in within(way, ast.Attribute))
