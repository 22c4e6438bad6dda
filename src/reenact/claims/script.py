"""What the script of a check may do: reach into the program by our means, and leave values.

It is read before it runs. Refused is what could take the watcher apart, read the source, change the
program, ask which version it runs on, or restate the edit: then green after it says nothing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from reenact.claims.check import Check
from reenact.claims.forbidden import ATTRIBUTES, CALLS, DOTTED, MODULES, SOURCE_FILE
from reenact.codegen.project import Problem
from reenact.codegen.static_checks import does_not_parse, lint
from reenact.codegen.syntax import FunctionNode, bound_names, imported_names, targets_of, top_level

STAGE = "check"
REACH = "reenact_reach"
WAYS = frozenset({"module", "until", "at", "steps"})
MOST_LINES = 80
_ASKS = frozenset({"hasattr", "getattr", "callable", "open"})
"""Builtins by which a script could find out which version it runs on, or read a file."""
_TRIES = (ast.Try, *((ast.TryStar,) if sys.version_info >= (3, 11) else ()))


def objections(text: str, check: Check) -> tuple[Problem, ...]:
    """What is wrong with a script; empty when it may be run."""
    broken = does_not_parse(STAGE, text)
    if broken is not None:
        return (broken,)
    lines = sum(bool(line.strip()) for line in text.splitlines())
    if lines > MOST_LINES:
        return (Problem(STAGE, f"A check has at most {MOST_LINES} lines; this one has {lines}."),)
    tree = ast.parse(text)
    found = [Problem(STAGE, one) for one in _leaves(tree, check)]
    found += [Problem(STAGE, one, line=at) for one, at in _beyond(tree)]
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        found += [Problem(STAGE, one, line=line) for one in _wrong(node)]
    return (*dict.fromkeys(found), *lint(STAGE, text.replace("SEED", "0")))


def _leaves(tree: ast.Module, check: Check) -> Iterator[str]:
    """It reaches the program, and leaves the values that the check looks at."""
    imported = {
        one.module.partition(".")[0] for node in ast.walk(tree) for one in imported_names(node)
    }
    if REACH not in imported:
        yield f"The check does not reach the program: it imports no `{REACH}`."
    top = {name for statement in top_level(tree.body) for name in bound_names(statement)}
    wanted = ("observed", "reference") if check.needs_reference else ("observed",)
    for one in wanted:
        if one not in top:
            yield f"The check must leave a top-level value named `{one}`."


def _beyond(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """What it takes of our module besides the ways into a program."""
    aliases = {
        one.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for one in imported_names(node)
        if one.module == REACH
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            continue
        if node.value.id in aliases and node.attr not in WAYS:
            ways = ", ".join(sorted(WAYS))
            yield (
                f"`{ast.unparse(node)}` is not a way into a program; there are {ways}.",
                node.lineno,
            )


def _wrong(node: ast.AST) -> Iterator[str]:
    yield from _imports(node)
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        yield from _patches(node)
    elif isinstance(node, ast.Name) and node.id in CALLS | ATTRIBUTES | _ASKS:
        yield f"A check may not use `{node.id}`."
    elif isinstance(node, ast.Attribute):
        yield from _attribute(node)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        if SOURCE_FILE.fullmatch(node.value) and not _names_file(node.value):
            yield "A check may not name files outside of the program."
    elif isinstance(node, _TRIES) and node.handlers:
        yield "A check may not catch what the program raises; let it come out."
    elif isinstance(node, FunctionNode) and node.name in ("__exit__", "__aexit__"):
        yield "A check may not make a context manager: it could swallow exceptions."


def _imports(node: ast.AST) -> Iterator[str]:
    for one in imported_names(node):
        first = one.module.partition(".")[0]
        last = one.target.rpartition(".")[2]
        if first in MODULES or one.module in DOTTED or last in ATTRIBUTES:
            yield f"A check may not use `{one.module}`."
        elif first == REACH and isinstance(node, ast.ImportFrom) and last not in WAYS:
            yield f"`{REACH}` has {', '.join(sorted(WAYS))}, not `{last}`."


def _attribute(node: ast.Attribute) -> Iterator[str]:
    dotted = ast.unparse(node)
    if node.attr in ATTRIBUTES or dotted in DOTTED:
        yield f"A check may not touch `{dotted}`."


def _names_file(text: str) -> bool:
    """A file of the program, by its name alone: `reach.module("model.py")`."""
    return text.endswith(".py") and ".." not in text and not text.startswith("/")


def _patches(node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> Iterator[str]:
    plain = isinstance(node.value, ast.Constant)
    for target in targets_of(node):
        if isinstance(target, ast.Attribute) and not plain:
            what = ast.unparse(target)
            yield f"`{what}` is changed from outside: the program must stay as it is."
