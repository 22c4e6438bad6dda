"""Labels that fit a loss: numbers of classes, or one column a class. Changed where they meet the loss."""

from __future__ import annotations

import ast

from reenact.program.edit.workshop import Workshop
from reenact.program.lines import Span
from reenact.program.read.desk import Site
from reenact.program.read.ends import Spot
from reenact.program.read.label_places import Meeting, meetings
from reenact.program.read.scope import Scope


def as_classes(shop: Workshop, site: Site) -> None:
    """One column a class becomes the number of the class."""
    column = ".argmax(1)" if site.library == "torch" else ".argmax(-1)"
    for place in meetings(shop.desk, site):
        _suffix(shop, place.labels, place.scope, column)


def as_columns(shop: Workshop, site: Site, classes: int | None) -> None:
    """Numbers of classes become one column a class, when the output is wider than one."""
    for place in meetings(shop.desk, site):
        if site.library == "torch" and classes == 1:
            _suffix(shop, place.labels, place.scope, ".float().unsqueeze(1)")
        elif site.library == "torch":
            _one_hot(shop, place, classes)
        elif classes != 1:
            name = shop.name_for("keras.utils.to_categorical", place.scope, place.labels)
            _around(shop, place.labels, place.scope, f"{name}(", f", {classes})")


def _one_hot(shop: Workshop, place: Meeting, classes: int | None) -> None:
    name = shop.name_for("torch.nn.functional.one_hot", place.scope, place.labels)
    count = str(classes)
    if classes is None:
        assert place.outputs is not None
        count = f"{shop.text(place.outputs, place.scope)}.size(-1)"
    _around(shop, place.labels, place.scope, f"{name}(", f", {count}).float()")


def _suffix(shop: Workshop, node: ast.expr, scope: Scope, text: str) -> None:
    if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        span = shop.desk.spot(node, scope).span
        shop.replace(Spot(scope.file, Span(span.end, span.end)), text)
        return
    _around(shop, node, scope, "(", ")" + text)


def _around(shop: Workshop, node: ast.expr, scope: Scope, front: str, back: str) -> None:
    span = shop.desk.spot(node, scope).span
    shop.wrap(scope.file, span, front, back)
