"""Which model, list or dict a weight that is updated belongs to, by flow alone."""

import ast
from collections.abc import Iterator

from reenact.faults import Evidence
from reenact.faults.facts.flow import assigned, elements, stores
from reenact.faults.facts.lines import calls, function_of, value_of
from reenact.faults.facts.parts import is_call, last_word, owner_of, within
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex

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


def holders(
    evidence: Evidence,
    index: FileIndex,
    node: ast.expr,
    rounds: int = ROUNDS,
) -> Iterator[str]:
    """The models, lists and dicts that a weight is one of: by the loop that takes it out, the call
    that hands it over, or the assignment before.
    """
    if not rounds:
        return
    while isinstance(node, ast.Subscript) or getattr(node, "attr", "") == "data":
        node = vars(node)["value"]
    name = last_word(node)
    walked = [pair for one in index.ancestors(node) for pair in _heads(one)]
    for target, source in walked:
        if name in map(last_word, elements(target) or [target]):
            if _are_weights(index, source):
                taken = _taken(target, source, name)
                yield from _models(evidence, index, taken, rounds)
            return
    given = [value for target, value in stores(function_of(index, node)) if same(target, node)]
    handed = list(_handed(evidence, index, node))
    for other, value in (*handed, *((index, value) for value in given)):
        yield from holders(evidence, other, value, rounds - 1)
    if not handed and any(_are_weights(index, source) for _, source in walked):
        yield from _models(evidence, index, node, rounds)


def _handed(
    evidence: Evidence, index: FileIndex, node: ast.expr
) -> Iterator[tuple[FileIndex, ast.expr]]:
    """What calls give for an argument of the function that it stands in."""
    around = function_of(index, node)
    if not isinstance(around, ast.FunctionDef) or not isinstance(node, ast.Name):
        return
    arguments = [one.arg for one in around.args.args]
    if isinstance(index.parents.get(around), ast.ClassDef):
        arguments = arguments[1:]
    for other, call in calls(evidence, around.name) if node.id in arguments else ():
        yield from ((other, one) for one in call.args[arguments.index(node.id) :][:1])


def _heads(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """What a loop or a comprehension takes out, and of what."""
    if isinstance(node, ast.For):
        return list(assigned(node))
    return [pair for one in getattr(node, "generators", ()) for pair in assigned(one)]


def _are_weights(index: FileIndex, source: ast.expr) -> bool:
    """Whether a loop goes over the weights of a model."""
    followed = [source, *(value_of(index, one) for one in within(source, ast.Name))]
    return any(one.attr in WEIGHTS for part in followed for one in within(part, ast.Attribute))


def _taken(target: ast.expr, source: ast.expr, name: str) -> ast.expr:
    """What is walked over for one variable of `for old, new in zip(slow, fast)`."""
    places = [last_word(one) for one in elements(target)]
    if is_call(source, "zip") and len(source.args) == len(places) and name in places:
        return source.args[places.index(name)]
    return source


def _models(
    evidence: Evidence,
    index: FileIndex,
    node: ast.expr,
    rounds: int,
) -> Iterator[str]:
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
    method = function_of(index, inner)
    owner = index.parents.get(method)
    own = method.args.args[:1] if isinstance(method, ast.FunctionDef) else []
    if isinstance(owner, ast.ClassDef) and inner.id in [one.arg for one in own]:
        yield last_word(node)
        if _answers_with(owner, last_word(node)):
            made = (pair for pair in stores(index.tree) if is_call(pair[1], owner.name))
            yield from filter(None, (last_word(target) for target, _ in made))
        return
    handed = list(_handed(evidence, index, inner)) if rounds else []
    for other, value in handed:
        yield from _models(evidence, other, value, rounds - 1)
    if not handed:
        yield inner.id


def _answers_with(owner: ast.ClassDef, part: str) -> bool:
    ways = [one for one in within(owner, ast.FunctionDef) if one.name in ("forward", "__call__")]
    return any(one.attr == part for way in ways for one in within(way, ast.Attribute))
