"""Programs that we make to control a check: rewritten without changing what they do, with an edit
that has nothing to do with the claim, and mutated somewhere else.

The check must be red on the unchanged program whatever it looks like, and after an irrelevant
edit; on the edited program it must stay green whatever that looks like, and with other settings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from reenact.claims.edit import lines_between
from reenact.codegen.syntax import FunctionNode
from reenact.errors import PatchRefused
from reenact.program.edit.change import Set
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.program.static_graph import hyperparameters_of
from reenact.program.syntax.source import Language

MUTANTS = 4
WITH = "with "
"""How the names of mutants begin."""
MARK = "_unrelated"
_FACTORS = {
    Kind.LEARNING_RATE: 0.5,
    Kind.BATCH_SIZE: 0.5,
    Kind.EPOCHS: 2.0,
    Kind.DROPOUT: 0.5,
    Kind.WEIGHT_DECAY: 0.5,
    Kind.MOMENTUM: 0.9,
}
"""What another setting is, of the settings that a sound property does not depend on."""


@dataclass(frozen=True, slots=True)
class Control:
    """A program that somebody who tests the check would try too."""

    name: str
    program: Program


def rewritten(program: Program, script: str) -> Program | None:
    """The same program in other words: no comments, other line numbers, other local names. Names
    that the script has stay. None where nothing can be rewritten.
    """
    kept = _words(script)
    files = []
    for file in program.files:
        if file.language is not Language.PYTHON:
            continue
        with suppress(SyntaxError, ValueError, RecursionError):
            tree = ast.parse(file.text)
            for function in (node for node in ast.walk(tree) if isinstance(node, FunctionNode)):
                _rename_locals(function, kept)
            text = ast.unparse(_filled(tree)) + "\n"
            files.append(replace(file, text=text))
    return program.with_files(files) if files else None


def irrelevant(program: Program, patched: Program) -> Program | None:
    """The program with as many lines put in as the edit changes, none of which does anything."""
    files = []
    for name, lines in lines_between(program, patched).items():
        file = program.file(name)
        if file is None or file.language is not Language.PYTHON:
            continue
        body = ast.parse(file.text).body
        after = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
        at = (after[-1].end_lineno or 0) if after else 0
        own = file.text.splitlines(keepends=True)
        new = [f"{MARK}_{number} = {number}\n" for number in range(len(lines))]
        files.append(replace(file, text="".join([*own[:at], *new, *own[at:]])))
    return program.with_files(files) if files else None


def mutants(program: Program, patched: Program) -> Iterator[Control]:
    """The edited program with one setting changed that the edit does not touch."""
    touched = lines_between(patched, program)
    count = 0
    for param in hyperparameters_of(patched):
        value = _other(param)
        here = touched.get(str(param.place.file), frozenset())
        if value is None or param.place.line in here or count >= MUTANTS:
            continue
        with suppress(PatchRefused):
            other = Patch((Set(param.id, value),)).apply(patched)
            if other.files != patched.files:
                count += 1
                yield Control(f"{WITH}{param.id} = {value}", other)


def _other(param: Hyperparameter) -> float | int | None:
    factor = _FACTORS.get(param.kind)
    value = param.in_force
    if factor is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        changed = max(1, round(value * factor))
        return changed if changed != value else None
    return value * factor


def _filled(tree: ast.Module) -> ast.Module:
    """With a statement that does nothing in front, so that every line has another number."""
    start = 1 if ast.get_docstring(tree) is not None else 0
    future = [
        number + 1
        for number, node in enumerate(tree.body)
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    at = max([start, *future])
    tree.body[at:at] = ast.parse(f"{MARK} = None\n").body
    return tree


def _rename_locals(function: ast.FunctionDef | ast.AsyncFunctionDef, kept: frozenset[str]) -> None:
    """Other names for what is local to a function and to no function around or within it."""
    inner = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef)
        and node is not function
    ]
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    if inner or any(one.id in ("locals", "vars", "eval", "exec") for one in names):
        return
    spec = function.args
    parameters = {one.arg for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    parameters |= {one.arg for one in (spec.vararg, spec.kwarg) if one is not None}
    declared = {
        name
        for node in ast.walk(function)
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    }
    bound_otherwise = {
        node.name
        for node in ast.walk(function)
        if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name
    } | {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    stored = {one.id for one in names if isinstance(one.ctx, ast.Store)}
    mapped = _mapping(stored - parameters - declared - bound_otherwise - kept)
    for one in names:
        one.id = mapped.get(one.id, one.id)


def _mapping(names: set[str]) -> Mapping[str, str]:
    return {name: f"{name}_renamed" for name in sorted(names)}


def _words(script: str) -> frozenset[str]:
    """Every name and every word in a text of the script: it may ask for a variable by either."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(script)):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(re.findall(r"\w+", node.value))
    return frozenset(found)
