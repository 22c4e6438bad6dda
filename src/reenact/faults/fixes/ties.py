"""Weights that are to be one parameter and are two."""

from __future__ import annotations

import ast

from reenact.errors import NotChangeable
from reenact.faults import Evidence, Place
from reenact.faults.fixes.drafting import Fixes, edit, nodes_at, offered, refused
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.ends import spot_of
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import statement_of
from reenact.program.syntax.pieces import block_of, called, owner_of, within

TURNS = ("t", "T", "mT", "transpose")


def tie_weights(evidence: Evidence, place: Place | None) -> Fixes:
    """A copy of a weight becomes the weight itself; a tie that is undone later is made again after
    that, or what undoes it goes.
    """
    found: list[Fixes] = [_again(evidence, one) for one in _ties(evidence)]
    for statement in nodes_at(evidence, place, ast.Assign):
        target = _weight(statement.targets[0])
        source = _copied(statement.value)
        if target is not None and source is not None:
            found.append(_tied(evidence, statement, target, source))
    for call in nodes_at(evidence, place, ast.Call):
        target, source = _filled(call)
        if target is not None and source is not None:
            found.append(_tied(evidence, statement_of(call), target, source))
    return offered(*found, refused("Where one weight is copied to the other is not seen."))


def _weight(node: ast.expr | None) -> ast.Attribute | None:
    """`head.weight` of `head.weight` and `head.weight.data`."""
    if isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    if isinstance(node, ast.Attribute) and node.attr in ("weight", "kernel"):
        return node
    return None


def _copied(value: ast.expr) -> ast.Attribute | None:
    """The weight that a copy is made of; none for the weight itself."""
    if isinstance(value, ast.Attribute) and value.attr != "data":
        return None
    weights = [_weight(one) for one in within(value, ast.Attribute)]
    return next((one for one in weights if one is not None), None)


def _filled(call: ast.Call) -> tuple[ast.Attribute | None, ast.Attribute | None]:
    """`head.weight.data.copy_(embed.weight)`."""
    if called(call) != "copy_" or not call.args:
        return None, None
    given = call.args[0]
    return _weight(owner_of(call)), _weight(given) or _copied(given)


def _tied(
    evidence: Evidence, statement: ast.stmt, target: ast.Attribute, source: ast.Attribute
) -> Fixes:
    words = {one.attr for one in within(statement, ast.Attribute)}
    if not words.isdisjoint(TURNS):
        return refused("One weight is the other turned round: they cannot be one parameter.")
    if not isinstance(statement, ast.Assign | ast.Expr):
        return refused("The copy is made inside another statement.")
    return edit(
        evidence,
        f"make {excerpt(target)} the very parameter {excerpt(source)}",
        _assign,
        statement,
        target,
        source,
    )


def _assign(editor: SourceEditor, statement: ast.stmt, target: ast.expr, source: ast.expr) -> None:
    text = f"{editor.text(target)} = {editor.text(source)}"
    editor.replace(spot_of(statement), text)


def _ties(evidence: Evidence) -> list[ast.Assign]:
    return [
        one
        for index in evidence.files
        for one in within(index.tree, ast.Assign)
        if _weight(one.targets[0]) is not None
        and isinstance(one.value, ast.Attribute)
        and _weight(one.value) is not None
    ]


def _again(evidence: Evidence, tied: ast.Assign) -> Fixes:
    """A later statement gives one of the two another weight, or makes its layer again."""
    ends = [_weight(tied.targets[0]), _weight(tied.value)]
    block = block_of(tied)
    later = block[block.index(tied) + 1 :] if tied in block else []
    for statement in reversed(later):
        if any(_undoes(statement, end) for end in ends if end is not None):
            return edit(
                evidence,
                f"tie the weights after {excerpt(statement, 40)}",
                _moved,
                tied,
                statement,
            )
    return offered(*(_outside(evidence, tied, one) for one in _replaced_outside(evidence, tied)))


def _undoes(statement: ast.stmt, end: ast.Attribute) -> bool:
    if not isinstance(statement, ast.Assign):
        return False
    target = statement.targets[0]
    return same(_weight(target) or target, end) or same(target, end.value)


def _moved(editor: SourceEditor, tied: ast.stmt, after: ast.stmt) -> None:
    editor.after(after, editor.text(tied))
    editor.remove_statement(tied)


def _replaced_outside(evidence: Evidence, tied: ast.Assign) -> list[ast.Assign]:
    """Statements outside of the class that replace one of the layers: `model.embed = ...`."""
    words = {
        getattr(end.value, "attr", "")
        for end in (_weight(tied.targets[0]), _weight(tied.value))
        if end is not None
    }
    found = []
    for index in evidence.files:
        for one in within(index.tree, ast.Assign):
            target = one.targets[0]
            layer = target.value if _weight(target) is not None else target  # type: ignore[attr-defined]
            own = isinstance(layer, ast.Attribute) and layer.attr in words - {""}
            outside = isinstance(layer, ast.Attribute) and _base(layer) != "self"
            makes = isinstance(one.value, ast.Call)
            if own and outside and makes:
                found.append(one)
    return found


def _base(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _outside(evidence: Evidence, tied: ast.Assign, replaced: ast.Assign) -> Fixes:
    return edit(
        evidence,
        f"tie the weights after {excerpt(replaced, 40)}",
        _tie_after,
        tied,
        replaced,
    )


def _tie_after(editor: SourceEditor, tied: ast.Assign, replaced: ast.Assign) -> None:
    """The same tie, of the object that the layer was replaced in."""
    target = replaced.targets[0]
    layer = target.value if _weight(target) is not None else target  # type: ignore[attr-defined]
    if not isinstance(layer, ast.Attribute):
        raise NotChangeable("The layer is replaced in a way that names no object.")
    owner = editor.text(layer.value)
    texts = []
    for end in (tied.targets[0], tied.value):
        text = editor.text(end)
        if not text.startswith("self."):
            raise NotChangeable("The tie is not made between two layers of one model.")
        texts.append(f"{owner}{text.removeprefix('self')}")
    editor.after(replaced, " = ".join(texts))
