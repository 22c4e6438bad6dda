"""Whether a check restates the edit: then it is green after the edit whatever that does.

A check that reads a value which the edit writes says only that the edit was made. So does one whose
`reference` is computed by the function that the edit changes while `observed` is not, and one that
has the edit's own lines in it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from reenact.claims.claim import Claim
from reenact.claims.edit import lines_between
from reenact.codegen.syntax import Definition, FunctionNode, targets_of
from reenact.program.program import Program

LARGE = 12
"""Nodes of an expression from which on it is not an accident that a check has it too."""


def restated(claim: Claim, program: Program) -> str:
    """How the check restates the edit, in words; empty where it does not."""
    tree = ast.parse(claim.script)
    patched = claim.patch.apply(program)
    before = list(_on(program, lines_between(program, patched)))
    after = list(_on(patched, lines_between(patched, program)))
    names = {name for name, _ in _constants(before) ^ _constants(after)}
    for node in ast.walk(tree):
        name = _read(node)
        if name in names:
            return f"it reads `{name}`, a value that the edit itself writes"
    own = {_shape(node) for node in after} - {_shape(node) for node in before} - {""}
    for node in ast.walk(tree):
        if _shape(node) in own:
            return f"it computes what the edit writes, in the same words: `{_short(node)}`"
    functions = _functions(program, patched)
    observed = _calls_behind(tree, "observed")
    reference = _calls_behind(tree, "reference")
    shared = reference & functions
    if shared and not observed & functions:
        return f"its reference is computed by `{min(shared)}`, which the edit changes"
    return ""


def _on(program: Program, lines: dict[str, frozenset[int]]) -> Iterator[ast.AST]:
    """Nodes that are wholly on these lines."""
    for name, wanted in lines.items():
        file = program.file(name)
        if file is None:
            continue
        text = program.script() if file is program.entry_file else file.text
        with suppress(SyntaxError):
            for node in ast.walk(ast.parse(text)):
                first = getattr(node, "lineno", None)
                last = getattr(node, "end_lineno", None)
                if first is not None and last is not None and {first, last} <= wanted:
                    yield node


def _constants(nodes: list[ast.AST]) -> frozenset[tuple[str, str]]:
    """Names that are given a plain value there, with it: by assignment, as a keyword, as a
    default.
    """
    return frozenset(
        (name, ast.unparse(value))
        for node in nodes
        for name, value in _given(node)
        if value is not None and _is_plain(value)
    )


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        for target in targets_of(node):
            name = target.attr if isinstance(target, ast.Attribute) else ast.unparse(target)
            yield name, node.value
    elif isinstance(node, ast.keyword) and node.arg:
        yield node.arg, node.value
    elif isinstance(node, ast.arguments):
        positional = [*node.posonlyargs, *node.args][::-1]
        for one, value in zip(positional, node.defaults[::-1], strict=False):
            yield one.arg, value
        for one, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
            yield one.arg, default


def written(program: Program, patched: Program) -> tuple[frozenset[float], frozenset[float]]:
    """Numbers that the edit takes out, and that it puts in: an observed one of them is not
    observation.
    """
    before = _numbers(_on(program, lines_between(program, patched)))
    after = _numbers(_on(patched, lines_between(patched, program)))
    return before - after, after - before


def _numbers(nodes: Iterator[ast.AST]) -> frozenset[float]:
    return frozenset(
        float(node.value)
        for node in nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
    )


def _is_plain(node: ast.expr | None) -> bool:
    if node is None:
        return False
    with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        ast.literal_eval(node)
        return True
    return False


def _read(node: ast.AST) -> str:
    """The name that a script reads of the program: an attribute, or an item by its name."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return ""


def _shape(node: ast.AST) -> str:
    """An expression whatever its names are; empty for a small one."""
    if not isinstance(node, ast.expr) or sum(1 for _ in ast.walk(node)) < LARGE:
        return ""
    copied = ast.parse(ast.unparse(node), mode="eval")
    for one in ast.walk(copied):
        if isinstance(one, ast.Name):
            one.id = "_"
    return ast.dump(copied)


def _short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _functions(program: Program, patched: Program) -> frozenset[str]:
    """Functions in which the edit lies, by their own names."""
    found: set[str] = set()
    for name, lines in lines_between(program, patched).items():
        file = program.file(name)
        if file is None:
            continue
        text = program.script() if file is program.entry_file else file.text
        with suppress(SyntaxError):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, FunctionNode) and any(
                    node.lineno <= line <= (node.end_lineno or 0) for line in lines
                ):
                    found.add(node.name)
    return frozenset(found)


def _calls_behind(tree: ast.Module, name: str) -> frozenset[str]:
    """Last names of all that is called on the way to a top-level value."""
    wanted = {name}
    found: set[str] = set()
    for statement in reversed(tree.body):
        if not _binds(statement) & wanted:
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                wanted.add(node.id)
            if isinstance(node, ast.Call):
                found.add(ast.unparse(node.func).rpartition(".")[2])
    return frozenset(found)


def _binds(statement: ast.stmt) -> set[str]:
    stored = (
        one.id
        for one in ast.walk(statement)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    )
    if isinstance(statement, Definition):
        return {*stored, statement.name}
    return set(stored)
