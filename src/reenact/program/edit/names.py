"""Names of library classes and functions: one put in the place of another, prefix kept where both live
together."""

from __future__ import annotations

import ast

from reenact.errors import NotChangeable
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.edit.values import write_at
from reenact.program.read.analysis import Site
from reenact.program.read.callees import Callee
from reenact.program.read.calls import has_unpacking
from reenact.program.read.ends import Spot
from reenact.program.read.scope import Scope
from reenact.types import JsonValue


def rename(editor: SourceEditor, node: ast.expr, scope: Scope, old: str, new: str) -> None:
    """Put the library object `new` where the name of `old` stands."""
    spot = editor.analysis.spot(node, scope)
    home, _, name = new.rpartition(".")
    if isinstance(node, ast.Attribute) and old.rpartition(".")[0] == home:
        span = spot.span
        spot = Spot(spot.file, type(span)(span.end - len(node.attr), span.end))
        editor.replace(spot, name)
        return
    editor.replace(spot, editor.name_for(new, scope, node))


def rename_callee(editor: SourceEditor, callee: Callee, new: str) -> None:
    """Rename where the name is written, which may be far from where it is called."""
    node = callee.end.node
    if not isinstance(node, ast.Name | ast.Attribute):
        raise NotChangeable("The name of what is called is not written as a name.")
    rename(editor, node, callee.end.scope, callee.dotted, new)


def choose(editor: SourceEditor, site: Site, value: JsonValue) -> None:
    """Another word for `getattr(nn, word)` or `TABLE[word]`."""
    callee = site.callee
    assert callee is not None
    if callee.choices and value not in callee.choices:
        offered = ", ".join(callee.choices)
        raise NotChangeable(f"The table of the program offers {offered}. Received: {value!r}.")
    spot = editor.analysis.values.spot(callee.end)
    write_at(editor, callee.end, spot, editor.analysis.values.text(callee.end, spot), value)


def keep_arguments(
    editor: SourceEditor, call: ast.Call, scope: Scope, kept: frozenset[str], positional: int = 0
) -> None:
    """Drop all arguments but these keywords and the first positional ones."""
    if has_unpacking(call):
        raise NotChangeable("The call takes unpacked arguments; what would have to go cannot be told.")
    for number, part in enumerate(call.args):
        if number >= positional:
            editor.drop_argument(call, scope, part)
    for given in call.keywords:
        if given.arg not in kept:
            editor.drop_argument(call, scope, given.value)
