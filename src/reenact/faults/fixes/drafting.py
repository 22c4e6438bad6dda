"""One edit of a program's code: what it does in words, and the patch that does it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Concatenate, ParamSpec, TypeAlias

from reenact.errors import NotChangeable, PatchConflict, PatchRefused
from reenact.faults import Cure, Evidence, Finding, Place, Refused, Suggestion
from reenact.program.edit.rewriting import rewrites
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.ends import spot_of
from reenact.program.patch import Patch
from reenact.program.syntax.index import N
from reenact.program.syntax.pieces import Node, within
from reenact.program.syntax.scope import scope_of
from reenact.program.syntax.source import Span
from reenact.program.training.reading import Reading, read

Fixes: TypeAlias = tuple[Cure, ...]
"""Edits of code, the likeliest first, and why others are not offered."""
Given = ParamSpec("Given")
Write: TypeAlias = Callable[Concatenate[SourceEditor, Given], None]
"""What collects the edits; raises NotChangeable where they cannot be made safely."""


def edit(
    evidence: Evidence,
    does: str,
    write: Write[Given],
    *given: Given.args,
    **named: Given.kwargs,
) -> Fixes:
    """The edit that `write` collects; nothing where it changes nothing."""
    if evidence.program is None:
        return ()
    editor = SourceEditor(read(evidence.program))
    try:
        write(editor, *given, **named)
        changes = rewrites(editor)
        patch = Patch(changes)
        patch.apply(evidence.program)
    except (NotChangeable, PatchConflict, PatchRefused) as error:
        return (Refused(error.sentence),)
    return (Suggestion(patch, None, None, None, does),) if changes else ()


def with_fixes(finding: Finding, fixes: Fixes) -> Finding:
    """The finding with these edits of code."""
    return finding.refined(
        candidates=tuple(one for one in fixes if isinstance(one, Suggestion)),
        refused=tuple(one for one in fixes if isinstance(one, Refused)),
    )


def reading_of(evidence: Evidence) -> Reading | None:
    """What the text of the program tells."""
    return read(evidence.program) if evidence.program is not None else None


def refused(reason: str) -> Fixes:
    """No edit is offered, for this reason."""
    return (Refused(reason),)


def offered(*groups: Iterable[Cure]) -> Fixes:
    """Candidates in order; why one is refused is given only where none is offered."""
    every = tuple(dict.fromkeys(fix for group in groups for fix in group))
    edits = tuple(one for one in every if isinstance(one, Suggestion))
    return edits or every[:1]


def nodes_at(evidence: Evidence, place: Place | None, kind: type[N]) -> Sequence[N]:
    """Everything of a kind that begins in the lines of a place, the nearest to its column first."""
    for index in evidence.files:
        if place is not None and index.source.path == place.file:
            return sorted(
                (
                    one
                    for one in within(index.tree, kind)
                    # An annotation is no part of any statement.
                    if _begins_in(place, one) and one in index.parents
                ),
                key=lambda one: abs(getattr(one, "col_offset", 0) - place.column),
            )
    return ()


def _begins_in(place: Place, node: ast.AST) -> bool:
    line = getattr(node, "lineno", 0)
    return place.line <= line <= max(place.line, place.end_line)


def statement_at(evidence: Evidence, place: Place | None) -> ast.stmt | None:
    """The innermost statement of a line."""
    found = list(nodes_at(evidence, place, ast.stmt))
    if found or place is None:
        return found[0] if found else None
    for index in evidence.files:
        if index.source.path == place.file:
            around = [
                one
                for one in within(index.tree, ast.stmt)
                if one.lineno <= place.line <= (one.end_lineno or one.lineno)
            ]
            return max(around, key=lambda one: one.lineno, default=None)
    return None


def replace(editor: SourceEditor, node: Node, text: str) -> None:
    """Put a text in the place of a piece of code."""
    editor.replace(spot_of(node), text)


def behind(editor: SourceEditor, whole: ast.expr, inner: ast.expr, text: str) -> None:
    """Put a text in the place of what is after a part of an expression, and after its brackets."""
    here = spot_of(whole)
    editor.replace(Span(bracketed(inner).end, here.end, here.file), text)


def in_front(editor: SourceEditor, whole: ast.expr, inner: ast.expr, text: str) -> None:
    """Put a text in the place of what is before a part of an expression, and before its brackets."""
    here = spot_of(whole)
    editor.replace(Span(here.start, bracketed(inner).start, here.file), text)


def bracketed(node: ast.expr) -> Span:
    """Where an operand or the owner of a method is, with the brackets around it."""
    index = scope_of(node).index
    spot = spot_of(node)
    parent = index.parents.get(node)
    if not isinstance(
        parent, ast.Attribute | ast.Subscript | ast.BinOp | ast.UnaryOp | ast.Compare
    ):
        return spot
    limits = spot_of(parent)
    start, end = spot.start, spot.end
    while True:
        before = index.text[limits.start : start].rstrip()
        after = index.text[end : limits.end].lstrip()
        if not (before.endswith("(") and after.startswith(")")):
            return Span(start, end, spot.file)
        start = limits.start + len(before) - 1
        end = limits.end - len(after) + 1


def insert_before(editor: SourceEditor, statement: ast.stmt, line: str) -> None:
    """Put a line before a statement."""
    editor.before(statement, line)


def code_of(node: Node) -> str:
    """A piece of code as it is written."""
    return scope_of(node).index.text_of(node)


def with_method(editor: SourceEditor, node: ast.expr, method: str) -> None:
    """`x` becomes `x.method`; what binds less strongly gets brackets first."""
    if _binds(node):
        editor.wrap(node, "", method)
    else:
        editor.wrap(node, "(", f"){method}")


def _binds(node: ast.expr) -> bool:
    whole = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.List
    return isinstance(node, whole)


def operand(text: str, node: ast.expr) -> str:
    """The text of an expression as a factor or the owner of a method."""
    return text if _binds(node) or isinstance(node, ast.Constant) else f"({text})"


def dedented(editor: SourceEditor, block: ast.With | ast.AsyncWith) -> None:
    """The statements of a block in the place of the block: each line one level out."""
    index = scope_of(block).index
    lines = index.lines
    first = block.body[0]
    if first.lineno == block.lineno:
        raise NotChangeable("The block is written on one line.")
    outer = lines.indent(index.span(block).start)
    inner = lines.indent(index.span(first).start)
    start = lines.line_start(index.span(block).start)
    body = lines.line_start(index.span(first).start)
    end = index.span(block.body[-1]).end
    if _has_long_text(block):
        raise NotChangeable("The block holds a text over several lines, whose spaces count.")
    header = index.text[start:body].splitlines(keepends=True)
    comments = [line for line in header if line.lstrip().startswith("#")]
    moved = [
        outer + line[len(inner) :] if line.startswith(inner) else line
        for line in [*comments, *index.text[body:end].splitlines(keepends=True)]
    ]
    editor.replace(Span(start, end, index.path), "".join(moved))


def _has_long_text(block: ast.AST) -> bool:
    texts = within(block, ast.Constant)
    return any(isinstance(one.value, str) and one.end_lineno != one.lineno for one in texts)


def fresh_name(near: ast.AST, word: str) -> str:
    """A name that a file does not use."""
    used = {one.id for one in within(scope_of(near).index.tree, ast.Name)}
    if word not in used:
        return word
    return next(f"{word}_{number}" for number in count(2) if f"{word}_{number}" not in used)
