"""The models of a program as its text makes them: layers, their order, and what activates their output;
and the widths of torch layers, which hang together: what must follow when one of them changes.
"""

import ast
from dataclasses import dataclass
from functools import cached_property

from reenact.program.flow.constants import read_through
from reenact.program.flow.ends import is_number, literal, spot_of
from reenact.program.hyperparameter import Kind
from reenact.program.syntax.calls import argument, is_name, method_name
from reenact.program.syntax.scope import Scope, bindings_of, scope_of
from reenact.program.syntax.source import Span
from reenact.program.training import lexicon
from reenact.program.training.analysis import Draft, ProgramAnalysis, Style
from reenact.program.training.forward import NOTHING, Flow
from reenact.program.training.layers import Applied, LayerSite, find_layers
from reenact.program.training.positions import SEQUENTIAL, ContainerKind
from reenact.program.training.vocabulary import Family

FORWARD = ("forward", "call")
MODEL_CLASSES = lexicon.TORCH_MODULE_BASES | lexicon.KERAS_MODEL_BASES


class Models:
    """All layers of a program and what was learned about them."""

    def __init__(self, analysis: ProgramAnalysis) -> None:
        self.analysis = analysis
        self.layers = find_layers(analysis.sources, analysis.callees, analysis.values)
        self.applied = Applied(analysis.callees, self.layers)
        self.flow = Flow(analysis.sources, self.applied)
        self._walk_classes()
        self._walk_functions()
        self._walk_sequences()

    @cached_property
    def classes(self) -> list[Scope]:
        """Classes of the program that are models or layers."""
        sources = self.analysis.sources
        owners = [owner for index in sources.indexes.values() for owner in index.classes]
        return [owner for owner in owners if sources.inherits(owner, MODEL_CLASSES)]

    @cached_property
    def width_users(self) -> dict[Span, list[LayerSite]]:
        """For every place that a width comes from, the layers that take it."""
        users: dict[Span, list[LayerSite]] = {}
        for layer in self.layers:
            for slot in [slot for slot in layer.spec.slots if slot.kind in WIDTHS]:
                for found in self.analysis.values.find(layer.filling(slot)):
                    users.setdefault(found.spot, []).append(layer)
        return users

    def _walk_classes(self) -> None:
        for owner in self.classes:
            methods = (self.analysis.sources.own_method(owner, name) for name in FORWARD)
            for function in filter(None, methods):
                returned = self.flow.walk(function)
                if not self._is_part(owner):
                    _mark_output(returned.made_by, returned.open)

    def _is_part(self, owner: Scope) -> bool:
        """True when another model of the program is made of it."""
        sources = self.analysis.sources
        inside = set(self.classes) - {owner}
        calls = [call for call in self.analysis.calls() if not is_name(call.func, "super")]
        given = [part for call in calls for part in call.args if is_name(part, owner.name)]
        makers = [scope_of(call).enclosing_class() for call in sources.sites.get(owner, [])]
        return any(sources.meaning(part) is owner for part in given) or any(
            one in inside for one in makers
        )

    def _walk_functions(self) -> None:
        """Functions, or the module itself, that build a functional Keras model."""
        keras = [layer for layer in self.layers if layer.library == "keras"]
        applied = [layer for layer in keras if layer.position.kind is ContainerKind.APPLIED]
        for scope in dict.fromkeys(layer.scope for layer in applied):
            if scope.enclosing_class() is not None or isinstance(scope.node, ast.comprehension):
                continue
            self.flow.walk(scope)
            # Layers applied in this scope whose result no other layer takes.
            own = [layer for layer in applied if layer.scope is scope and layer.spec.weighted]
            last = frozenset(layer for layer in own if layer not in self.flow.taken)
            _mark_output(
                last,
                frozenset(layer for layer in last if layer.activation is None),
            )

    def _walk_sequences(self) -> None:
        sources = self.analysis.sources
        calls = [call for call in self.analysis.calls() if sources.dotted(call.func) in SEQUENTIAL]
        runs = [
            (
                self.applied.layers(call) or [],
                call,
            )
            for call in calls
        ]
        # The longest first: a block that is inside another is then gone through as part of it.
        for run, call in sorted(
            runs,
            key=lambda item: -len(item[0]),
        ):
            if all(layer.seen for step in run for layer in step):
                continue
            returned = self.flow.through(run, NOTHING)
            owner = scope_of(call).enclosing_class()
            if owner is None or not any(name in owner.bindings for name in FORWARD):
                _mark_output(returned.made_by, returned.open)


def _mark_output(layers: frozenset[LayerSite], bare: frozenset[LayerSite]) -> None:
    for layer in layers:
        layer.output = True
        layer.bare_output = layer in bare


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
    if draft.kind is Kind.KERNEL_SIZE and _is_counted(site.layer):
        return COUNTED
    return ""


def why_layer_stays(layer: LayerSite | None) -> str:
    """Why a layer cannot be taken out or repeated; empty when it can."""
    if layer is None:
        return "it is not a layer of its own"
    if layer.output:
        return "the output layer gives the answer"
    if layer.spec.family in (Family.RECURRENT, Family.EMBEDDING, Family.COMPOSITE):
        return "what comes out of it has another form than what goes in"
    torch = layer.library == "torch" and layer.spec.family is Family.CONV
    return COUNTED if torch and _is_counted(layer) else ""


def _is_counted(layer: LayerSite) -> bool:
    """A dense layer counts what comes out, and no padding (`"same"`, or computed) makes up for
    the kernel.
    """
    written = argument(layer.call, 4, "padding")
    if written is None:
        return layer.counted
    padding = literal(read_through(written))
    return is_number(padding) and layer.counted


def followers(
    models: Models,
    layer: LayerSite,
    spot: Span,
) -> list[Follows] | str:
    """Numbers that must follow when the width at `spot` changes; a sentence when no one can
    tell.
    """
    found: dict[Span, Follows] = {}
    for user in models.width_users.get(spot) or [layer]:
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


def _follow(
    models: Models,
    layer: LayerSite,
    taker: LayerSite,
    spot: Span,
) -> list[Follows] | str:
    """How the input width of the layer that takes the output follows."""
    if taker.spec.width_in is None:
        if taker.spec.family is not Family.COMPOSITE:
            return []
        return f"{taker.path} is made for one width"
    value = taker.filling(taker.spec.width_in)
    if value is None:
        return f"the input width of {taker.path} is not written"
    if depends_on(models.analysis, value, spot):
        return []
    old = width_value(models.analysis, layer)
    if old is None:
        return f"the width of {layer.path} is not a number in the source"
    part = _factor_spot(
        value,
        old,
        flattened=taker.spec.family is Family.DENSE,
    )
    shapes = _shapes(models, taker, value, old)
    if part is not None and shapes is not None:
        return [part, *shapes]
    return f"the input width of {taker.path} follows from it and cannot be computed"


def width_value(analysis: ProgramAnalysis, layer: LayerSite) -> int | None:
    number = analysis.values.compute(layer.given(*WIDTHS))
    return number if isinstance(number, int) else None


def _shapes(
    models: Models,
    taker: LayerSite,
    value: ast.expr,
    old: int,
) -> list[Follows] | None:
    """`x.view(-1, 64 * 7 * 7)` before the layer must follow too; none when it cannot."""
    analysis = models.analysis
    owner = taker.scope.enclosing_class()
    width = analysis.values.compute(value)
    calls = [call for call in models.flow.functions if method_name(call) in ("view", "reshape")]
    own = [
        call for call in calls if width is not None and scope_of(call).enclosing_class() is owner
    ]
    parts = [part for call in own for part in call.args if analysis.values.compute(part) == width]
    spots = [_factor_spot(part, old, flattened=True) for part in parts]
    found = [spot for spot in spots if spot is not None]
    return found if len(found) == len(spots) else None


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
        return [
            *_factors(node.left),
            *_factors(node.right),
        ]
    return [node]


def depends_on(
    analysis: ProgramAnalysis,
    node: ast.AST,
    spot: Span,
    depth: int = 0,
) -> bool:
    """True when an expression is computed from the value at a spot, whatever happens in between."""
    deeper: list[ast.AST] = []
    for part in ast.walk(node):
        if not isinstance(part, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            continue
        ends = [end for end in analysis.follower.follow(part) if end.node is not part]
        if any(
            isinstance(end.node, ast.expr) and analysis.values.spot(end) == spot for end in ends
        ):
            return True
        for end in ends:
            if isinstance(end.node, ast.BinOp):
                deeper.append(end.node)
        # `width_in = width` at the end of a loop: a name with several values, one of which comes
        # from there.
        several = bindings_of(part)
        deeper += (
            [one.value for one in several if one.value is not None] if len(several) > 1 else []
        )
    return depth < 4 and any(depends_on(analysis, part, spot, depth + 1) for part in deeper)
