"""Code moved into helpers, and out of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.blind.rewrites.scopes import Scope, Scopes, Use, parameters_of
from benchmarks.blind.rewrites.substitute import written
from benchmarks.blind.rewrites.text import (
    Edit,
    Origins,
    Project,
    Source,
    blocks,
    fresh_names,
    is_text,
)

BACKWARD = frozenset({"backward", "manual_backward", "scale"})
"""Methods that are given a loss, or are its own."""
LATER = (
    ast.Lambda,
    ast.IfExp,
    ast.BoolOp,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Await,
    ast.Yield,
    ast.YieldFrom,
    ast.NamedExpr,
    ast.JoinedStr,
    ast.Starred,
)
"""What evaluates a part later or not at all, or binds names."""


def split_losses(project: Project) -> Project:
    """The expression of each loss that is differentiated becomes a function of its variables."""
    names = fresh_names(project, "helper_")
    return project.with_files(
        {path: _split(source, names) for path, source in project.files.items()}
    )


def _split(source: Source, names: Iterator[str]) -> Source:
    scopes = Scopes(source.tree)
    edits = []
    for assignment in _losses(source.tree):
        value = assignment.value
        variables = _variables(value, scopes)
        if variables is None:
            continue
        name = next(names)
        given = ", ".join(variables)
        edits.append(Edit(source.start_of(value), source.end_of(value), f"{name}({given})"))
        top = _top_of(source.tree, assignment)
        text = f"def {name}({given}):\n    return ({source.segment(value)})\n\n\n"
        origins = source.origins_of(value)
        nothing: Origins = frozenset()
        edits.append(Edit((top, 0), (top, 0), text, (origins[0], *origins, nothing, nothing)))
    return source.edited(_merged(edits))


def _merged(edits: Sequence[Edit]) -> list[Edit]:
    """Two insertions at one place are one."""
    found: dict[tuple[object, object], Edit] = {}
    for edit in edits:
        key = edit.start, edit.end
        known = found.get(key)
        if known is not None and edit.start == edit.end:
            edit = Edit(
                edit.start, edit.end, known.text + edit.text, (*known.origins, *edit.origins)
            )
        found[key] = edit
    return list(found.values())


def _losses(tree: ast.Module) -> Iterator[ast.Assign]:
    """`name = call(...)` whose name is differentiated further down in the same statements."""
    seen: set[ast.Assign] = set()
    for block in blocks(tree):
        for number, statement in enumerate(block):
            if (
                isinstance(statement, ast.Assign)
                and len(statement.targets) == 1
                and isinstance(statement.targets[0], ast.Name)
                and isinstance(statement.value, ast.Call | ast.BinOp)
                and statement not in seen
                and _is_differentiated(statement.targets[0].id, block[number + 1 :])
            ):
                seen.add(statement)
                yield statement


def _is_differentiated(name: str, statements: Sequence[ast.stmt]) -> bool:
    for statement in statements:
        for node in ast.walk(statement):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in BACKWARD and any(
                isinstance(part, ast.Name) and part.id == name
                for one in (node.func.value, *node.args)
                for part in ast.walk(one)
            ):
                return True
    return False


def _variables(value: ast.expr, scopes: Scopes) -> list[str] | None:
    """What it reads that is no import, definition or builtin; none where it cannot be moved."""
    found = []
    for node in ast.walk(value):
        if isinstance(node, LATER) or _is_private(node):
            return None
        if not isinstance(node, ast.Name):
            continue
        if node.id in ("super", "locals", "__class__") or not isinstance(node.ctx, ast.Load):
            return None
        owner = scopes.around[node].owner(node.id)
        is_defined = owner is None or (owner is scopes.module and _is_defined_once(node.id, scopes))
        if not is_defined and owner is not None and owner.is_class:
            return None
        if not is_defined and node.id not in found:
            found.append(node.id)
        if owner is not scopes.module and owner is not None and node.id in owner.imported:
            return None
    return found


def _is_private(node: ast.AST) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else ""
    return name.startswith("__") and not name.endswith("__")


def _is_defined_once(name: str, scopes: Scopes) -> bool:
    """Whether a name of the module is bound by one import or definition alone."""
    uses = [use for use in scopes.uses if use.name == name and use.owner is scopes.module]
    bindings = [use for use in uses if not _reads(use)]
    return len(bindings) == 1 and isinstance(
        bindings[0].node, ast.alias | ast.FunctionDef | ast.ClassDef
    )


def _reads(use: Use) -> bool:
    return isinstance(use.node, ast.Name) and isinstance(use.node.ctx, ast.Load)


def _top_of(tree: ast.Module, inner: ast.stmt) -> int:
    """Line, from 0, of the statement at the top of the file that holds another."""
    for statement in tree.body:
        last = statement.end_lineno or statement.lineno
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(one.lineno for one in decorators)])
        if first <= inner.lineno <= last:
            return first - 1
    raise ValueError(f"No statement holds this line. Received: {inner.lineno}.")


@dataclass(frozen=True, slots=True)
class Helper:
    """A function that returns one expression of its parameters."""

    node: ast.FunctionDef
    value: ast.expr
    parameters: tuple[str, ...]


def inlined(project: Project) -> Project:
    """The call of a small helper becomes what the helper returns."""
    return project.with_files({path: _inlined(source) for path, source in project.files.items()})


def _inlined(source: Source) -> Source:
    scopes = Scopes(source.tree)
    edits: list[Edit] = []
    gone: list[ast.FunctionDef] = []
    for helper in _helpers(source, scopes):
        calls = _calls(source, helper, scopes)
        uses = [use for use in scopes.uses if use.name == helper.node.name]
        is_whole = len(calls) == len(uses) - 1
        changed = [edit for call in calls if (edit := _instead(source, helper, call, scopes))]
        if not changed or any(_crosses(edit, edits) for edit in changed):
            continue
        if any(_within(call, helper.node) or _within_any(call, gone) for call in calls):
            continue
        edits += changed
        if is_whole and len(changed) == len(calls) and not _holds(source, helper.node, edits):
            gone.append(helper.node)
            edits.append(_without(source, helper.node))
    return source.edited(edits)


def _helpers(source: Source, scopes: Scopes) -> Iterator[Helper]:
    for node in source.tree.body:
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            continue
        body = node.body[1:] if is_text(node.body[0]) else node.body
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.defaults or arguments.kwonlyargs:
            continue
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
            continue
        value = body[0].value
        if any(isinstance(part, LATER) for part in ast.walk(value)):
            continue
        if _is_defined_once(node.name, scopes):
            names = tuple(one.arg for one in parameters_of(arguments))
            yield Helper(node, value, names)


def _calls(source: Source, helper: Helper, scopes: Scopes) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == helper.node.name
        and node in scopes.around
        and scopes.around[node].owner(node.func.id) is scopes.module
    ]


def _instead(source: Source, helper: Helper, call: ast.Call, scopes: Scopes) -> Edit | None:
    """What is written for one call; none where that could mean something else."""
    arguments = list(call.args)
    if call.keywords or len(arguments) != len(helper.parameters):
        return None
    if not all(_is_simple(argument) for argument in arguments):
        return None
    if _is_in_fstring(source.tree, call) or not _means_the_same(
        helper, scopes.around[call], scopes
    ):
        return None
    given = {
        name: source.segment(argument)
        for name, argument in zip(helper.parameters, arguments, strict=True)
    }
    words: dict[ast.AST, dict[str, str]] = {
        part: given
        for part in ast.walk(helper.value)
        if isinstance(part, ast.Name) and part.id in given
    }
    text = f"({written(helper.value, words)})"
    everything: Origins = frozenset().union(
        *source.origins_of(helper.value), *source.origins_of(call)
    )
    return Edit(source.start_of(call), source.end_of(call), text, (everything,))


def _is_simple(argument: ast.expr) -> bool:
    """Whether it may be evaluated twice, or not at all."""
    return isinstance(argument, ast.Name | ast.Constant)


def _is_in_fstring(tree: ast.Module, call: ast.Call) -> bool:
    fstrings = (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr))
    return any(call in ast.walk(fstring) for fstring in fstrings)


def _means_the_same(helper: Helper, at: Scope, scopes: Scopes) -> bool:
    """Whether the names of the module that it reads are the module's at the call too."""
    free = {
        node.id
        for node in ast.walk(helper.value)
        if isinstance(node, ast.Name) and node.id not in helper.parameters
    }
    return all(at.owner(name) in (None, scopes.module) for name in free)


def _crosses(edit: Edit, others: Sequence[Edit]) -> bool:
    return any(edit.start < other.end and other.start < edit.end for other in others)


def _holds(source: Source, node: ast.FunctionDef, edits: Sequence[Edit]) -> bool:
    """Whether something inside is changed as well."""
    start, end = source.start_of(node), source.end_of(node)
    return any(start < edit.end and edit.start < end for edit in edits)


def _within(call: ast.Call, node: ast.FunctionDef) -> bool:
    return node.lineno <= call.lineno <= (node.end_lineno or node.lineno)


def _within_any(call: ast.Call, nodes: Sequence[ast.FunctionDef]) -> bool:
    return any(_within(call, node) for node in nodes)


def _without(source: Source, node: ast.FunctionDef) -> Edit:
    last = node.end_lineno or node.lineno
    if last < len(source.lines):
        return Edit((node.lineno - 1, 0), (last, 0), "")
    return Edit((node.lineno - 1, 0), source.end_of(node), "")
