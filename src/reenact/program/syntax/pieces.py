"""The words in which questions are put to a piece of a file: what it holds, what is called in it, with what,
and where it is. A node of an indexed file knows its file."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias, TypeGuard

from reenact.program.syntax.calls import argument as argument
from reenact.program.syntax.calls import keyword as keyword
from reenact.program.syntax.excerpt import key_of
from reenact.program.syntax.index import FileIndex, N
from reenact.program.syntax.scope import Scope, scope_of
from reenact.types import Place

Node: TypeAlias = ast.expr | ast.stmt
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Found: TypeAlias = Iterator[tuple[Node, str]]
"""Where something is wrong in a file, and what says so."""
NAMES = (ast.Name, ast.Attribute)
LIBRARIES = ("np", "numpy", "torch", "jnp", "tf", "ops")


def file_of(node: ast.AST) -> FileIndex:
    """The file that a node is in."""
    return scope_of(node).index


def place_of(node: Node) -> Place:
    """Where a piece of a file is."""
    return Place(
        file_of(node).source.path,
        node.lineno,
        node.col_offset,
        node.end_lineno or node.lineno,
        node.end_col_offset or 0,
    )


def all_parts(node: ast.AST) -> Iterable[ast.AST]:
    """Every part, the thing itself as well; also of what was parsed by itself."""
    scope: Scope | None = getattr(node, "scope", None)
    if scope is None:
        return ast.walk(node)
    return scope.index.parts(node)


def within(node: ast.AST, kind: type[N]) -> Sequence[N]:
    """Every part of this kind."""
    scope: Scope | None = getattr(node, "scope", None)
    if scope is None:
        return [part for part in ast.walk(node) if isinstance(part, kind)]
    return scope.index.parts_of(node, kind)


def around(node: ast.expr) -> Iterator[ast.AST]:
    """An expression, and what it is a part of, up to its statement."""
    yield node
    for one in file_of(node).ancestors(node):
        if isinstance(one, ast.stmt):
            return
        yield one


def function_of(node: ast.AST) -> Function | ast.Module:
    """The function that a piece of a file stands in, or the whole file."""
    index = file_of(node)
    for one in index.ancestors(node):
        if isinstance(one, Function):
            return one
    return index.tree


def block_of(statement: ast.stmt) -> list[ast.stmt]:
    """The statements of the block that a statement is in."""
    parent, name = file_of(statement).block_of(statement)
    block = getattr(parent, name, None) if name else None
    return block if isinstance(block, list) else []


def loops_of(node: Node) -> list[ast.For | ast.AsyncFor | ast.While]:
    """The loops that repeat a piece of a file."""
    around = []
    for loop in file_of(node).loops:
        last = loop.end_lineno or 0
        if loop.lineno < node.lineno <= last:
            around.append(loop)
    return around


def statement_line(index: FileIndex, line: int) -> int:
    """The line on which the statement begins that this line is of; the line itself for what is of
    none, such as `else:`.
    """
    statements = (node for node in index.nodes if isinstance(node, ast.stmt))
    around = [one for one in statements if one.lineno <= line <= (one.end_lineno or one.lineno)]
    if not around:
        return line
    innermost = max(around, key=lambda one: (one.lineno, one.col_offset))
    block = (one.lineno for one in within(innermost, ast.stmt) if one is not innermost)
    return innermost.lineno if line < min(block, default=line + 1) else line


def scopes(index: FileIndex) -> Iterator[ast.Module | ast.FunctionDef]:
    """The file and every function in it."""
    yield index.tree
    for one in index.functions:
        if isinstance(one.node, ast.FunctionDef):
            yield one.node


def is_method(function: ast.AST) -> bool:
    """Whether a function is defined in a class."""
    parents = file_of(function).parents
    return isinstance(parents.get(function), ast.ClassDef)


def returned(function: ast.AST) -> list[ast.expr]:
    """What a function gives back."""
    answers = within(function, ast.Return)
    return [one.value for one in answers if one.value is not None]


def flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements in the order of the text, those of branches and loops too, those of functions
    not.
    """
    for statement in body:
        if not isinstance(statement, Function | ast.ClassDef):
            yield statement
            for part in ("body", "orelse", "finalbody"):
                yield from flat(getattr(statement, part, []))


def last_word(node: ast.AST | None) -> str:
    """`weight` of `model.head.weight`; empty for what is neither a variable nor an attribute."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def called(node: ast.AST | None) -> str:
    """The last word of what is called: `softmax` of `F.softmax(x)` and of `scores.softmax(-1)`."""
    if isinstance(node, ast.Call):
        return last_word(node.func)
    return ""


def is_call(node: ast.AST | None, *names: str) -> TypeGuard[ast.Call]:
    """Whether something is called, by one of these names where there are any."""
    if not isinstance(node, ast.Call):
        return False
    return not names or called(node) in names


def calls_in(node: ast.AST, *names: str) -> list[ast.Call]:
    """Every call of one of these names in a piece of a file; of any where none is given."""
    return [call for call in within(node, ast.Call) if is_call(call, *names)]


def given_to(call: ast.Call) -> list[ast.expr]:
    """All arguments of a call."""
    named = [word.value for word in call.keywords]
    return [*call.args, *named]


def given_as(calls: Iterable[ast.Call], *names: str) -> list[ast.expr]:
    """What calls are given by one of these keywords."""
    values: list[ast.expr] = []
    for call in calls:
        values += [word.value for word in call.keywords if word.arg in names]
    return values


def owner_of(call: ast.AST | None) -> ast.expr | None:
    """What a method is called on: `scores` of `scores.softmax(-1)`, `F` of `F.softmax(x)`."""
    match call:
        case ast.Call(ast.Attribute(owner)):
            return owner
    return None


def subject_of(call: ast.Call) -> ast.expr | None:
    """What a function is applied to: `rows` of `rows.mean(0)` and of `np.mean(rows, 0)`."""
    owner = owner_of(call)
    of_library = isinstance(owner, ast.Name) and owner.id in LIBRARIES
    if owner is not None and not of_library:
        return owner
    return call.args[0] if call.args else None


def is_sum(node: ast.AST | None, *operators: type[ast.operator]) -> TypeGuard[ast.BinOp]:
    """Whether two things are added, divided or so on."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, operators)


def is_minus(node: ast.AST | None) -> TypeGuard[ast.UnaryOp]:
    """Whether it is `-x`, or a negative number."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def is_constant(node: ast.AST | None, *values: object) -> bool:
    """Whether it is one of these literals."""
    if not isinstance(node, ast.Constant):
        return False
    found = node.value
    return any(type(found) is type(value) and found == value for value in values)


def elements(node: ast.AST | None) -> list[ast.expr]:
    """The parts of a tuple or list; none for anything else."""
    if isinstance(node, ast.Tuple | ast.List):
        return node.elts
    return []


def names(node: ast.AST, context: type[ast.expr_context] = ast.expr_context) -> set[str]:
    """Variables that occur, or are read or stored."""
    variables = within(node, ast.Name)
    return {one.id for one in variables if isinstance(one.ctx, context)}


def names_read(node: ast.AST) -> list[str]:
    """Variables and attributes that an expression reads, each with all its words."""
    return [key_of(one) for one in all_parts(node) if isinstance(one, NAMES)]


def words(node: ast.AST) -> Iterator[str]:
    """Every variable, attribute and text in an expression."""
    for one in all_parts(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value
        elif word := last_word(one):
            yield word
