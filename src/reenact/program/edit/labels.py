"""Labels that fit a loss: numbers of classes, or one column a class. Changed where they meet the loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.edit.workshop import Workshop
from reenact.program.knob import Kind
from reenact.program.lines import Span
from reenact.program.read.calls import argument, keyword, method_name
from reenact.program.read.desk import Site
from reenact.program.read.ends import Spot
from reenact.program.read.names import last_name
from reenact.program.read.scope import Scope
from reenact.types import JsonValue

ENCODERS = frozenset(("one_hot", "to_categorical", "get_dummies", "LabelBinarizer", "OneHotEncoder"))
FITS = frozenset(("fit", "evaluate", "fit_generator", "train_on_batch", "test_on_batch"))


def as_classes(shop: Workshop, site: Site) -> None:
    """One-hot labels become numbers of classes; labels that are none already stay as they are."""
    if not _encoded(shop):
        return
    if site.library == "torch":
        for target, scope in _torch_targets(shop, site):
            _suffix(shop, target, scope, ".argmax(1)")
    else:
        for label, scope in _keras_labels(shop, site):
            _suffix(shop, label, scope, ".argmax(-1)")


def as_one_hot(shop: Workshop, site: Site) -> None:
    """Numbers of classes become one column a class, when the output is wider than one."""
    classes = _classes(shop, site)
    if not isinstance(classes, int):
        return
    if site.library == "torch":
        for target, scope in _torch_targets(shop, site):
            if classes == 1:
                _suffix(shop, target, scope, ".float().unsqueeze(1)")
                continue
            name = shop.name_for("torch.nn.functional.one_hot", scope, target)
            _around(shop, target, scope, f"{name}(", f", {classes}).float()")
    elif classes > 1:
        for label, scope in _keras_labels(shop, site):
            name = shop.name_for("keras.utils.to_categorical", scope, label)
            _around(shop, label, scope, f"{name}(", f", {classes})")


def _encoded(shop: Workshop) -> bool:
    for call, scope, _ in shop.desk.calls():
        name = last_name(shop.desk.sources.dotted(call.func, scope)) or method_name(call)
        if name in ENCODERS:
            return True
    return any(
        "np.eye(" in index.text or "torch.eye(" in index.text for index in shop.desk.sources.indexes.values()
    )


def _classes(shop: Workshop, site: Site) -> JsonValue:
    widths = [
        knob.in_force
        for knob in shop.reading.knobs
        if knob.kind is Kind.UNITS and knob.role == "output" and knob.library == site.library
    ]
    return widths[0] if len(set(map(str, widths))) == 1 else None


def _torch_targets(shop: Workshop, site: Site) -> Iterator[tuple[ast.expr, Scope]]:
    """The second argument wherever the loss is called."""
    call = site.call
    assert call is not None
    assert site.callee is not None
    if site.callee.dotted.startswith("torch.nn.functional."):
        target = argument(call, 1, "target")
        if target is not None:
            yield target, site.scope
        return
    for other, scope, _ in shop.desk.calls():
        if other is call or len(other.args) < 2 or not isinstance(other.func, ast.Name | ast.Attribute):
            continue
        if any(made.call is call for made in shop.desk.callees.made(other.func, scope)):
            yield other.args[1], scope


def _keras_labels(shop: Workshop, site: Site) -> Iterator[tuple[ast.expr, Scope]]:
    """Labels given to fit and evaluate, inside `validation_data`, and to the loss object itself."""
    for call, scope, _ in shop.desk.calls():
        if method_name(call) in FITS:
            label = argument(call, 1, "y")
            if label is not None and not isinstance(label, ast.Dict):
                yield label, scope
            held = keyword(call, "validation_data")
            if isinstance(held, ast.Tuple | ast.List) and len(held.elts) >= 2:
                yield held.elts[1], scope
        elif (
            call is not site.call and len(call.args) >= 2 and isinstance(call.func, ast.Name | ast.Attribute)
        ) and any(made.call is site.call for made in shop.desk.callees.made(call.func, scope)):
            yield call.args[0], scope


def _suffix(shop: Workshop, node: ast.expr, scope: Scope, text: str) -> None:
    if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        span = shop.desk.spot(node, scope).span
        shop.replace(Spot(scope.file, Span(span.end, span.end)), text)
        return
    _around(shop, node, scope, "(", ")" + text)


def _around(shop: Workshop, node: ast.expr, scope: Scope, front: str, back: str) -> None:
    span = shop.desk.spot(node, scope).span
    shop.wrap(scope.file, span, front, back)
