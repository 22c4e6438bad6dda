"""Layers in lists: put another one behind or in front of a layer, or take it out, however the list is
written."""

from __future__ import annotations

import ast

from reenact.errors import NotChangeable
from reenact.program.edit.source_editor import Bracketed, SourceEditor
from reenact.program.read.index import FileIndex
from reenact.program.read.layers import LayerSite
from reenact.program.read.seats import LISTS, Sitting


def insert_after(editor: SourceEditor, layer: LayerSite, text: str, suffix: str = "next") -> None:
    """Put the source text of another layer right behind this one."""
    _insert(editor, layer, text, suffix, before=False)


def insert_before(editor: SourceEditor, layer: LayerSite, text: str, suffix: str = "before") -> None:
    """Put the source text of another layer right in front of this one."""
    _insert(editor, layer, text, suffix, before=True)


def _insert(editor: SourceEditor, layer: LayerSite, text: str, suffix: str, *, before: bool) -> None:
    index, seat = editor.index(layer.scope), layer.seat
    if seat.sitting is Sitting.ELEMENT:
        holder, number = _holder(editor, index, layer)
        editor.work(holder, layer.scope).insert.append((number - 1 if before else number, text))
    elif seat.sitting is Sitting.NAMED:
        _insert_named(editor, index, layer, text, suffix, before=before)
    elif seat.sitting in (Sitting.ADD, Sitting.APPEND):
        _insert_statement(editor, index, layer, text, before=before)
    elif seat.sitting is Sitting.VARIABLE:
        holder, number = _holder_by_name(index, layer)
        editor.work(holder, layer.scope).insert.append((number - 1 if before else number, text))
    else:
        raise NotChangeable(f"{layer.path} does not stand in a list of layers that another could join.")


def remove_item(editor: SourceEditor, layer: LayerSite) -> None:
    """Take a layer out of the list it stands in."""
    index, seat = editor.index(layer.scope), layer.seat
    if seat.sitting is Sitting.ELEMENT:
        holder, number = _holder(editor, index, layer)
        editor.work(holder, layer.scope).drop.add(number)
    elif seat.sitting is Sitting.NAMED:
        pairs, place, _ = _named_holder(index, layer)
        if pairs is None:
            editor.remove_statement(index.statement(layer.call), layer.scope)
        else:
            editor.work(pairs, layer.scope).drop.add(place)
    elif seat.sitting in (Sitting.ADD, Sitting.APPEND):
        statement = index.statement(layer.call)
        holder_node = index.parents[layer.call]
        if isinstance(holder_node, ast.List) and len(holder_node.elts) > 1:
            editor.work(holder_node, layer.scope).drop.add(holder_node.elts.index(layer.call))
        else:
            editor.remove_statement(statement, layer.scope)
    else:
        raise NotChangeable(f"{layer.path} does not stand in a list that it could be taken out of.")


def _holder(editor: SourceEditor, index: FileIndex, layer: LayerSite) -> tuple[Bracketed, int]:
    """The call or list whose item the layer is, and which one; lists that are indexed or looped over are
    left alone."""
    node: ast.AST = layer.call
    parent = index.parents[node]
    while not isinstance(parent, ast.Call | ast.List | ast.Tuple):
        node, parent = parent, index.parents[parent]
    around = index.parents.get(parent)
    for call in (parent, around):
        if isinstance(call, ast.Call) and editor.analysis.sources.dotted(call.func, layer.scope) in LISTS:
            raise NotChangeable(
                f"{layer.path} stands in a ModuleList; how its items are used is for the program to say."
            )
    if isinstance(parent, ast.Call):
        if node not in parent.args:
            raise NotChangeable(f"{layer.path} is not a positional argument.")
        return parent, parent.args.index(node)
    return parent, parent.elts.index(node)  # type: ignore[arg-type]


def _holder_by_name(index: FileIndex, layer: LayerSite) -> tuple[Bracketed, int]:
    """The call or list that takes a layer by its variable, when just one does: `Sequential(..., head)`."""
    statement = index.statement(layer.call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    uses = [
        node
        for node in index.parents
        if isinstance(node, ast.Name)
        and isinstance(target, ast.Name)
        and node.id == target.id
        and isinstance(node.ctx, ast.Load)
    ]
    parent = index.parents[uses[0]] if len(uses) == 1 else None
    if isinstance(parent, ast.Call) and uses[0] in parent.args:
        return parent, parent.args.index(uses[0])
    if isinstance(parent, ast.List | ast.Tuple):
        return parent, parent.elts.index(uses[0])
    raise NotChangeable(f"{layer.path} is used by its name in a way that cannot be followed.")


def _named_holder(index: FileIndex, layer: LayerSite) -> tuple[Bracketed | None, int, str]:
    """The list of pairs or the OrderedDict call that names the layer; none for `add_module`."""
    parent = index.parents[layer.call]
    if isinstance(parent, ast.Tuple):
        pairs = index.parents[parent]
        if isinstance(pairs, ast.List | ast.Tuple):
            return pairs, pairs.elts.index(parent), _word(parent.elts[0])
    if isinstance(parent, ast.keyword):
        call = index.parents[parent]
        if isinstance(call, ast.Call):
            return call, len(call.args) + call.keywords.index(parent), parent.arg or ""
    if isinstance(parent, ast.Call) and parent.args:
        return None, 0, _word(parent.args[0])
    raise NotChangeable(f"{layer.path} is named in a way that cannot be followed.")


def _word(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _insert_named(
    editor: SourceEditor, index: FileIndex, layer: LayerSite, text: str, suffix: str, *, before: bool
) -> None:
    holder, number, name = _named_holder(index, layer)
    new = f"{name}_{suffix}"
    if holder is None:
        statement = index.statement(layer.call)
        parent = index.parents[layer.call]
        assert isinstance(parent, ast.Call)
        line = f'{editor.text(parent.func, layer.scope)}("{new}", {text})'
        (editor.before if before else editor.after)(statement, layer.scope, [line])
        return
    piece = f"{new}={text}" if isinstance(holder, ast.Call) else f'("{new}", {text})'
    editor.work(holder, layer.scope).insert.append((number - 1 if before else number, piece))


def _insert_statement(
    editor: SourceEditor, index: FileIndex, layer: LayerSite, text: str, *, before: bool
) -> None:
    parent = index.parents[layer.call]
    if isinstance(parent, ast.List):
        number = parent.elts.index(layer.call)
        editor.work(parent, layer.scope).insert.append((number - 1 if before else number, text))
        return
    if not isinstance(parent, ast.Call):
        raise NotChangeable(f"{layer.path} is added in a way that cannot be followed.")
    line = f"{editor.text(parent.func, layer.scope)}({text})"
    (editor.before if before else editor.after)(index.statement(layer.call), layer.scope, [line])


def chain(editor: SourceEditor, layer: LayerSite, front: str, back: str) -> None:
    """`self.fc = nn.Linear(8, 4)` becomes `self.fc = nn.Sequential(nn.Linear(8, 4), ...)`."""
    editor.claim_place(layer.call, layer.path, wraps=True)
    name = editor.name_for("torch.nn.Sequential", layer.scope, layer.call)
    span = editor.analysis.spot(layer.call, layer.scope).span
    editor.wrap(layer.scope.file, span, f"{name}({front}", back)
