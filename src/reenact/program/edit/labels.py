"""Labels that fit a loss: numbers of classes, or one column a class. Changed where they meet the loss."""

from __future__ import annotations

import ast

from reenact.program.edit.source_editor import SourceEditor
from reenact.program.lines import Span
from reenact.program.read.analysis import Site
from reenact.program.read.ends import Spot
from reenact.program.read.label_places import Meeting, meetings
from reenact.program.read.scope import Scope


def as_classes(editor: SourceEditor, site: Site) -> None:
    """One column a class becomes the number of the class."""
    column = ".argmax(1)" if site.library == "torch" else ".argmax(-1)"
    for place in meetings(editor.analysis, site):
        _suffix(editor, place.labels, place.scope, column)


def as_columns(editor: SourceEditor, site: Site, classes: int | None) -> None:
    """Numbers of classes become one column a class, when the output is wider than one."""
    for place in meetings(editor.analysis, site):
        if site.library == "torch" and classes == 1:
            _suffix(editor, place.labels, place.scope, ".float().unsqueeze(1)")
        elif site.library == "torch":
            _one_hot(editor, place, classes)
        elif classes != 1:
            name = editor.name_for("keras.utils.to_categorical", place.scope, place.labels)
            _around(editor, place.labels, place.scope, f"{name}(", f", {classes})")


def _one_hot(editor: SourceEditor, place: Meeting, classes: int | None) -> None:
    name = editor.name_for("torch.nn.functional.one_hot", place.scope, place.labels)
    count = str(classes)
    if classes is None:
        assert place.outputs is not None
        count = f"{editor.text(place.outputs, place.scope)}.size(-1)"
    _around(editor, place.labels, place.scope, f"{name}(", f", {count}).float()")


def _suffix(editor: SourceEditor, node: ast.expr, scope: Scope, text: str) -> None:
    if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        span = editor.analysis.spot(node, scope).span
        editor.replace(Spot(scope.file, Span(span.end, span.end)), text)
        return
    _around(editor, node, scope, "(", ")" + text)


def _around(editor: SourceEditor, node: ast.expr, scope: Scope, front: str, back: str) -> None:
    span = editor.analysis.spot(node, scope).span
    editor.wrap(scope.file, span, front, back)
