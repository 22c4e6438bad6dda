"""What a value is made of, as far as the text tells: assignments, flows into a name, numbers behind names."""

import ast
from collections.abc import Iterator, Sequence

from reenact.faults.facts.parts import (
    all_parts,
    called,
    index_holding,
    last_word,
    names,
    within,
)
from reenact.program.syntax.index import FileIndex

STORES = (
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.For,
    ast.comprehension,
)
ROUNDS = 6
"""Assignments that are followed in a row."""


def elements(node: ast.AST | None) -> list[ast.expr]:
    """The parts of a tuple or list; none for anything else."""
    return node.elts if isinstance(node, ast.Tuple | ast.List) else []


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


def stores(scope: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The same of everything in a scope."""
    index = index_holding(scope)
    return iter(
        _stores(scope)
        if index is None
        else index.once(
            (stores, scope),
            lambda: _stores(scope),
        )
    )


def _stores(scope: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    return [
        pair for node in all_parts(scope) if isinstance(node, STORES) for pair in assigned(node)
    ]


def flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements in the order of the text, those of branches and loops too, those of functions
    not.
    """
    for statement in body:
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement
            for part in ("body", "orelse", "finalbody"):
                yield from flat(getattr(statement, part, []))


def variables_stored(target: ast.expr) -> Iterator[str]:
    """Variables and attributes that an assignment writes to, parts of them too."""
    while isinstance(target, ast.Subscript):
        target = target.value
    for one in elements(target):
        yield from variables_stored(one)
    yield from filter(None, [last_word(target)])


def variables_read(node: ast.AST) -> set[str]:
    """Variables and attributes that an expression reads."""
    return {attribute.attr for attribute in within(node, ast.Attribute)} | names(node)


def number(index: FileIndex, node: ast.expr) -> ast.Constant | None:
    """The one number that an expression stands for; none where there are several or it is
    computed.
    """
    found = [one for one in numbers(index, node) if type(one.value) in (int, float)]
    if found and len({one.value for one in found}) == 1:
        return found[0]
    return None


def numbers(
    index: FileIndex,
    node: ast.expr,
    rounds: int = ROUNDS,
) -> Iterator[ast.Constant]:
    """The numbers that an expression may stand for, itself where it is one: assigned, a default of
    an argument or a field, given where a function or class is called, or an option of a command
    line.
    """
    if isinstance(node, ast.Constant):
        yield node
        return
    key = node.slice if isinstance(node, ast.Subscript) else None
    name = str(key.value) if isinstance(key, ast.Constant) else last_word(node)
    for value in {id(one): one for one in given(index, name)}.values() if name and rounds else ():
        yield from numbers(index, value, rounds - 1)


def given(index: FileIndex, name: str) -> Iterator[ast.expr]:
    """What a variable, a field or an argument of this name is given anywhere."""
    for one in all_parts(index.tree):
        yield from (value for target, value in assigned(one) if name in variables_stored(target))
        if isinstance(one, ast.FunctionDef):
            yield from _argument(index, one, name)
        elif isinstance(one, ast.Call):
            texts = [str(arg.value) for arg in one.args if isinstance(arg, ast.Constant)]
            spoken = {text.lstrip("-").replace("-", "_") for text in texts}
            named = (name, "default") if name in spoken else (name,)
            yield from (word.value for word in one.keywords if word.arg in named)
        elif isinstance(one, ast.Dict):
            pairs = zip(one.keys, one.values, strict=True)
            yield from (
                value for key, value in pairs if isinstance(key, ast.Constant) and key.value == name
            )


def maker_of(index: FileIndex, function: ast.FunctionDef) -> str:
    """The name that a function is called by; that of its class for `__init__`."""
    owner = index.parents.get(function)
    if isinstance(owner, ast.ClassDef) and function.name == "__init__":
        return owner.name
    return function.name


def _argument(
    index: FileIndex,
    function: ast.FunctionDef,
    name: str,
) -> Iterator[ast.expr]:
    """The default of an argument, and what calls give it by its place."""
    arguments = [arg.arg for arg in function.args.args]
    if name in arguments:
        defaults = dict(zip(arguments[::-1], function.args.defaults[::-1], strict=False))
        maker = maker_of(index, function)
        place = arguments.index(name) - (arguments[0] == "self")
        handed = [call.args for call in index.calls if called(call) == maker]
        # The object itself is no argument of a call.
        by_place = [args[place] for args in handed if 0 <= place < len(args)]
        yield from by_place or ((defaults[name],) if name in defaults else ())
