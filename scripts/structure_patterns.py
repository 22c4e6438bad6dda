"""Ways to write much into few lines, each found by its syntax.

merged-literal      `d |= {...}` after `d = {...}` in the same block: one dictionary in pieces
words               `words("a b c")`, `"a b c".split()`: a list as a text; a helper counts by what it does
three-at-once       `a, b, c = 1, 2, 3`, `a, b, c = range(3)`, `a = b = c = 0`: one statement, three names;
                    what a function returns may be unpacked
boolean-length      `[x] * (n > 1)`: a condition as the length of a list
nested-conditional  `a if b else c if d else e`
attribute-path      `JSON = ("metric=measure.name", ...)`, `attrgetter("a.b")`: no type checker sees the names
merged-arguments    `f(**(known | more))`
locals              `f(locals())`: arguments by the names of variables
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from structure_tree import Module

MANY = 3
PLAIN_LENGTH = (ast.List, ast.Tuple)
MAPPINGS = (ast.Dict, ast.DictComp)
SPREADS = {"range", "map", "repeat"}
TRUTHS = {
    "all",
    "any",
    "bool",
    "callable",
    "endswith",
    "exists",
    "hasattr",
    "is_dir",
    "is_file",
    "isinstance",
    "issubclass",
    "startswith",
}
"""Calls whose answer is a boolean."""


@dataclass(frozen=True)
class Hit:
    """A pattern at a place."""

    pattern: str
    package: str
    place: str
    """File and line."""


def merged_literals(tree: ast.Module) -> Iterator[ast.AST]:
    """`d |= {...}` in the block in which `d` became a dictionary."""
    for node in ast.walk(tree):
        for block in _blocks(node):
            mappings: set[str] = set()
            for statement in block:
                if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.BitOr):
                    if ast.dump(statement.target) in mappings and isinstance(
                        statement.value, MAPPINGS
                    ):
                        yield statement
                elif isinstance(statement, ast.Assign | ast.AnnAssign):
                    mappings.update(_mappings_made(statement))


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block


def _mappings_made(statement: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    """What a statement sets to a dictionary, as an augmented assignment names it."""
    if isinstance(statement.value, MAPPINGS):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (ast.dump(target) for target in targets)


def words_functions(tree: ast.Module) -> Iterator[str]:
    """The functions of one argument that return it split at blanks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and len(node.args.args) == 1:
            name = node.args.args[0].arg
            returned = node.body[-1]
            if isinstance(returned, ast.Return) and any(
                _splits(part, name) for part in ast.walk(returned)
            ):
                yield node.name


def _splits(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Call)
        and not node.args
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "split"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == name
    )


def lists_as_text(tree: ast.Module, helpers: Collection[str]) -> Iterator[ast.AST]:
    """A literal text that is split at blanks, by its method or by a helper."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        asks_a_helper = _called(node) in helpers and len(node.args) == 1 and _is_text(node.args[0])
        if asks_a_helper or _splits_text(node):
            yield node


def _splits_text(call: ast.Call) -> bool:
    """Whether it is `"a b c".split()`."""
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "split"
        and not call.args
        and _is_text(function.value)
    )


def three_at_once(tree: ast.Module) -> Iterator[ast.AST]:
    """Assignments of three things and more that belong to nobody's result."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        many = isinstance(node.targets[0], PLAIN_LENGTH) and len(node.targets[0].elts) >= MANY
        if len(node.targets) >= MANY or (many and _is_spread(node.value)):
            yield node


def _is_spread(value: ast.expr) -> bool:
    """Whether a value is written down only to be taken apart."""
    if isinstance(value, ast.Call):
        return _called(value) in SPREADS or _splits_text(value)
    if isinstance(value, ast.IfExp):
        return _is_spread(value.body) or _is_spread(value.orelse)
    return isinstance(value, (*PLAIN_LENGTH, ast.ListComp, ast.GeneratorExp, ast.BinOp))


def boolean_lengths(tree: ast.Module) -> Iterator[ast.AST]:
    """A list or a tuple times a condition."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = (node.left, node.right)
            if any(isinstance(side, PLAIN_LENGTH) for side in sides) and any(
                _is_truth(side) for side in sides
            ):
                yield node


def _is_truth(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return any(_is_truth(value) for value in node.values)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.Call):
        return _called(node) in TRUTHS
    return isinstance(node, ast.Compare)


def nested_conditionals(tree: ast.Module) -> Iterator[ast.AST]:
    """A conditional expression inside another."""
    inner = {
        id(below)
        for node in ast.walk(tree)
        if isinstance(node, ast.IfExp)
        for below in ast.walk(node)
        if isinstance(below, ast.IfExp) and below is not node
    }
    yield from (node for node in ast.walk(tree) if id(node) in inner)


def attribute_paths(tree: ast.Module) -> Iterator[ast.AST]:
    """Class variables that name attributes by text, and literal attribute getters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (statement for statement in node.body if _is_json(statement))
        elif (
            isinstance(node, ast.Call)
            and _called(node) == "attrgetter"
            and any(map(_is_text, node.args))
        ):
            yield node


def _is_json(statement: ast.stmt) -> bool:
    """Whether it is `JSON = ("name", ...)`; a member of an enumeration may have that name too."""
    if not isinstance(getattr(statement, "value", None), PLAIN_LENGTH):
        return False
    if isinstance(statement, ast.Assign):
        return any(
            isinstance(target, ast.Name) and target.id == "JSON" for target in statement.targets
        )
    return (
        isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and statement.target.id == "JSON"
    )


def merged_arguments(tree: ast.Module) -> Iterator[ast.AST]:
    """Keyword arguments out of two dictionaries merged in the call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg is None and isinstance(keyword.value, ast.BinOp):
                    yield keyword.value


def locals_passed(tree: ast.Module) -> Iterator[ast.AST]:
    """`locals()` anywhere."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "locals"
        ):
            yield node


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


Find = Callable[[ast.Module], Iterator[ast.AST]]
PATTERNS: dict[str, Find] = {
    "merged-literal": merged_literals,
    "three-at-once": three_at_once,
    "boolean-length": boolean_lengths,
    "nested-conditional": nested_conditionals,
    "attribute-path": attribute_paths,
    "merged-arguments": merged_arguments,
    "locals": locals_passed,
}
WORDS = "words"
NAMES = (*PATTERNS, WORDS)


def hits_of(modules: Collection[Module]) -> list[Hit]:
    """Every pattern in these files, by file and line."""
    helpers = {name for module in modules for name in words_functions(module.tree)}
    hits = []
    for module in modules:
        places = [(name, node) for name, find in PATTERNS.items() for node in find(module.tree)]
        places += [(WORDS, node) for node in lists_as_text(module.tree, helpers)]
        for name, node in sorted(
            places, key=lambda place: (getattr(place[1], "lineno", 0), place[0])
        ):
            hits.append(Hit(name, module.package, f"{module.file}:{getattr(node, 'lineno', 0)}"))
    return hits
