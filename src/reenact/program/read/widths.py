"""Widths of torch layers hang together: what must follow when one of them changes, and when that cannot be
determined."""

import ast
from dataclasses import dataclass

from reenact.program.hyperparameter import Kind
from reenact.program.read.analysis import Draft, ProgramAnalysis, Style
from reenact.program.read.ends import is_number, literal, spot_of
from reenact.program.read.layers import LayerSite
from reenact.program.read.model import Models
from reenact.program.read.scope import argument, bindings_of, method_name, scope_of
from reenact.program.read.vocabulary import Family
from reenact.program.source import Span

WIDTHS = frozenset((Kind.UNITS, Kind.FILTERS))
COUNTED = "the size of what comes out changes with it, and a dense layer counts on that size"


@dataclass(frozen=True, slots=True)
class Follows:
    """A number that must change with a width: it is `factor` times the width."""

    spot: Span
    factor: int


def why_fixed(models: Models, draft: Draft) -> str:
    """Why a hyperparameter cannot be changed, or not alone; empty when it can."""
    site = draft.site
    if site.style is Style.FIXED or site.reason:
        return site.reason or "it is reported, not changed"
    if draft.kind is Kind.LAYER:
        return why_layer_stays(site.layer)
    if draft.param.absent or site.library != "torch" or site.layer is None:
        return ""
    if draft.kind in WIDTHS:
        found = followers(models, site.layer, draft.spot)
        return found if isinstance(found, str) else ""
    return COUNTED if draft.kind is Kind.KERNEL_SIZE and _is_counted(site.layer) else ""


def why_layer_stays(layer: LayerSite | None) -> str:
    """Why a layer cannot be taken out or repeated; empty when it can."""
    if layer is None:
        return "it is no layer of its own"
    if layer.output:
        return "the output layer gives the answer"
    if layer.spec.family in (Family.RECURRENT, Family.EMBEDDING, Family.COMPOSITE):
        return "what comes out of it has another form than what goes in"
    torch = layer.library == "torch" and layer.spec.family is Family.CONV
    return COUNTED if torch and _is_counted(layer) else ""


def _is_counted(layer: LayerSite) -> bool:
    """A dense layer counts what comes out, and no padding (`"same"`, or computed) makes up for the kernel."""
    padding = argument(layer.call, 4, "padding")
    padded = padding is not None and (literal(padding) == "same" or not is_number(literal(padding)))
    return not padded and any(taker.spec.family is Family.DENSE for taker in layer.reaches)


def followers(models: Models, layer: LayerSite, spot: Span) -> list[Follows] | str:
    """Numbers that must follow when the width at `spot` changes; a sentence when that cannot be
    determined."""
    found: dict[Span, Follows] = {}
    for user in _users(models).get(spot) or [layer]:
        if user.output:
            continue
        if user.tied:
            return f"what comes out of {user.path} is added to something of the same width"
        if not user.feeds:
            return f"it cannot be determined which layer takes the output of {user.path}"
        for taker in user.feeds:
            following = _follow(models, user, taker, spot)
            if isinstance(following, str):
                return following
            found |= {item.spot: item for item in following}
    return list(found.values())


def _users(models: Models) -> dict[Span, list[LayerSite]]:
    """For every place that a width comes from, the layers that take it; worked out once for a program."""
    if models.width_users is None:
        models.width_users = {}
        for layer in models.layers:
            for slot in layer.spec.slots:
                value = layer.filling(slot) if slot.kind in WIDTHS else None
                for found in models.analysis.values.find(value) if value is not None else ():
                    models.width_users.setdefault(found.spot, []).append(layer)
    return models.width_users


def _follow(models: Models, layer: LayerSite, taker: LayerSite, spot: Span) -> list[Follows] | str:
    """How the input width of the layer that takes the output follows."""
    if taker.spec.width_in is None:
        return [] if taker.spec.family is not Family.COMPOSITE else f"{taker.path} is made for one width"
    value = taker.filling(taker.spec.width_in)
    if value is None:
        return f"the input width of {taker.path} is not written"
    if depends_on(models.analysis, value, spot):
        return []
    old = width_value(models.analysis, layer)
    if old is None:
        return f"the width of {layer.path} is not a number in the source"
    flattened = taker.spec.family is Family.DENSE
    part = _factor_spot(value, old, flattened=flattened)
    shapes = _shapes(models, taker, value, old)
    if part is not None and shapes is not None:
        return [part, *shapes]
    return f"the input width of {taker.path} follows from it and cannot be computed"


def width_value(analysis: ProgramAnalysis, layer: LayerSite) -> int | None:
    value = layer.given(*WIDTHS)
    number = analysis.values.compute(value) if value is not None else None
    return number if isinstance(number, int) else None


def _shapes(models: Models, taker: LayerSite, value: ast.expr, old: int) -> list[Follows] | None:
    """`x.view(-1, 64 * 7 * 7)` before the layer must follow too; none when it cannot."""
    analysis, owner = models.analysis, taker.scope.enclosing_class()
    width = analysis.values.compute(value)
    found: list[Follows] = []
    for call in models.flow.functions:
        if method_name(call) not in ("view", "reshape") or scope_of(call).enclosing_class() is not owner:
            continue
        for part in call.args:
            if width is None or analysis.values.compute(part) != width:
                continue
            spot = _factor_spot(part, old, flattened=True)
            if spot is None:
                return None
            found.append(spot)
    return found


def _factor_spot(value: ast.expr, old: int, *, flattened: bool) -> Follows | None:
    """`nn.Linear(64, ...)` after 64 units; `64 * 7 * 7` or `3136` after 64 filters."""
    number = literal(value)
    if isinstance(number, int) and old > 0 and number % old == 0 and (number == old or flattened):
        return Follows(spot_of(value), number // old)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        for part in _factors(value):
            if literal(part) == old:
                return Follows(spot_of(part), 1)
    return None


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def depends_on(analysis: ProgramAnalysis, node: ast.AST, spot: Span, depth: int = 0) -> bool:
    """True when an expression is computed from the value at a spot, whatever happens in between."""
    for part in ast.walk(node):
        if not isinstance(part, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            continue
        for end in analysis.follower.follow(part):
            if end.node is part:
                continue
            if isinstance(end.node, ast.expr) and analysis.values.spot(end) == spot:
                return True
            deeper = isinstance(end.node, ast.BinOp) and depth < 4
            if deeper and depends_on(analysis, end.node, spot, depth + 1):
                return True
        if isinstance(part, ast.Name) and depth < 4 and _through_bindings(analysis, part, spot, depth):
            return True
    return False


def _through_bindings(analysis: ProgramAnalysis, name: ast.Name, spot: Span, depth: int) -> bool:
    """`width_in = width` at the end of a loop: a name with several values, one of which comes from there."""
    found = bindings_of(name)
    values = [binding.value for binding in found if binding.value is not None] if len(found) > 1 else []
    return any(depends_on(analysis, value, spot, depth + 1) for value in values)
