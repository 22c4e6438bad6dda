"""What a value is made of, as far as the text tells: names that another name flows into, numbers behind
names."""

import ast
import re
from collections.abc import Iterator

from reenact.program.read.index import FileIndex

ROUNDS = 6
"""Assignments that are followed in a row."""


def words(node: ast.AST) -> Iterator[str]:
    """Every variable, attribute and argument that an expression reads."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr
        elif isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value


def reached_by(index: FileIndex, seeds: re.Pattern[str]) -> set[str]:
    """Names that a value with such a name flows into: assigned, as an index, in a loop, as an argument."""
    reached = {word for word in words(index.tree) if seeds.search(word) and " " not in word}
    own = {node.name: node for node in ast.walk(index.tree) if isinstance(node, ast.FunctionDef)}
    for _ in range(ROUNDS):
        before = len(reached)
        for node in ast.walk(index.tree):
            function = own.get(_called(node)) if isinstance(node, ast.Call) else None
            if isinstance(node, ast.Call) and function is not None:
                given = zip(function.args.args[-len(node.args) :], node.args, strict=False)
                reached.update(one.arg for one, value in given if reached.intersection(words(value)))
            for target, value in assigned(node):
                if reached.intersection((*_read(value), *_index_words(target))):
                    reached.update(_stored(target))
        if len(reached) == before:
            break
    return reached


def _read(value: ast.expr) -> Iterator[str]:
    """What flows into a value: not the condition on which something begins again (`env.reset() if done else
    following`), which says nothing about what is then seen."""
    restarts = isinstance(value, ast.IfExp) and any(
        isinstance(node, ast.Call) and _called(node) == "reset" for node in ast.walk(value)
    )
    for part in (value.body, value.orelse) if isinstance(value, ast.IfExp) and restarts else (value,):
        yield from words(part)


def assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Pairs of a target and what it is given; tuples side by side are taken apart."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=False)
            else:
                yield target, node.value
    elif isinstance(node, ast.AnnAssign | ast.AugAssign) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.For | ast.comprehension):
        yield node.target, node.iter


def _index_words(target: ast.expr) -> Iterator[str]:
    for one in ast.walk(target):
        if isinstance(one, ast.Subscript):
            yield from words(one.slice)


def _stored(target: ast.expr) -> Iterator[str]:
    while isinstance(target, ast.Subscript):
        target = target.value
    if isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield from _stored(one)
    elif isinstance(target, ast.Attribute):
        yield target.attr
    elif isinstance(target, ast.Name):
        yield target.id


def numbers(index: FileIndex, node: ast.expr, rounds: int = ROUNDS) -> Iterator[ast.Constant]:
    """The numbers that an expression may stand for, itself where it is one: assigned, a default of an
    argument or a field, given where a function or class is called, or an option of a command line."""
    if isinstance(node, ast.Constant):
        yield node
        return
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        name = str(node.slice.value)
    elif isinstance(node, ast.Attribute | ast.Name):
        name = node.attr if isinstance(node, ast.Attribute) else node.id
    else:
        return
    for value in {id(one): one for one in given(index, name)}.values() if rounds else ():
        yield from numbers(index, value, rounds - 1)


def given(index: FileIndex, name: str) -> Iterator[ast.expr]:
    """What a variable, a field or an argument of this name is given anywhere."""
    for one in ast.walk(index.tree):
        yield from (value for target, value in assigned(one) if name in _stored(target))
        if isinstance(one, ast.FunctionDef):
            yield from _argument(index, one, name)
        elif isinstance(one, ast.Call):
            spoken = {
                str(arg.value).lstrip("-").replace("-", "_")
                for arg in one.args
                if isinstance(arg, ast.Constant)
            }
            named = (name, "default") if name in spoken else (name,)
            yield from (word.value for word in one.keywords if word.arg in named)
        elif isinstance(one, ast.Dict):
            pairs = zip(one.keys, one.values, strict=True)
            yield from (value for key, value in pairs if isinstance(key, ast.Constant) and key.value == name)


def _argument(index: FileIndex, function: ast.FunctionDef, name: str) -> Iterator[ast.expr]:
    """The default of an argument, and what calls give it by its place."""
    names = [arg.arg for arg in function.args.args]
    if name in names:
        defaults = dict(zip(names[::-1], function.args.defaults[::-1], strict=False))
        owner = index.parents.get(function)
        maker = (
            owner.name if isinstance(owner, ast.ClassDef) and function.name == "__init__" else function.name
        )
        place = names.index(name) - (names[0] == "self")
        by_place = [
            call.args[place] for call in index.calls if _called(call) == maker and len(call.args) > place
        ]
        yield from by_place or ((defaults[name],) if name in defaults else ())


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def number(index: FileIndex, node: ast.expr) -> ast.Constant | None:
    """The one number that an expression stands for; none where there are several or it is computed."""
    found = [one for one in numbers(index, node) if type(one.value) in (int, float)]
    return found[0] if found and len({one.value for one in found}) == 1 else None
