"""Which layers surely stand in a row, what the order rules walk along; and the sizes layers are given."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from reenact.faults import Detector, Evidence, Findings, Kind, LayerView, Suggestion
from reenact.faults.facts.api import WEIGHTED_FUNCTIONS
from reenact.program.edit.change import Remove
from reenact.program.flow.library_uses import has_own_call
from reenact.program.patch import Patch

_OPAQUE = frozenset({"", "merge", "composite", "wrapper", "input"})
"""Families behind which nobody knows whose output goes on."""
DEEP = 10
"""Convolution and pooling layers from which NeuraLint calls a network deep."""


def rows(evidence: Evidence) -> Iterator[tuple[LayerView, ...]]:
    """Layers of which each takes what the one before gives. A live model tells the order of
    execution; the text of a Keras model tells it as well, unless it has a `call` of its own. In the
    text of a torch module only numbered parts of a `Sequential` are sure to stand in a row.
    """
    row: list[LayerView] = []
    for layer in evidence.layers:
        if row and not _joins(evidence, row[-1], layer):
            yield tuple(row)
            row = []
        if not _opaque(layer):
            row.append(layer)
    if row:
        yield tuple(row)


def row_of(evidence: Evidence, layer: LayerView) -> tuple[LayerView, ...]:
    """The row that a layer is in; the layer alone where it is in none."""
    for row in rows(evidence):
        if layer in row:
            return row
    return (layer,)


def _joins(evidence: Evidence, first: LayerView, second: LayerView) -> bool:
    ends = _opaque(second) or (first.role == "output" and second.weighted)
    if ends or _parent(first) != _parent(second):
        return False
    sequential = evidence.framework == "keras" and not has_own_call(evidence.files)
    if evidence.graph is not None or sequential:
        return _sizes_fit(first, second)
    return apart(first, second) == 1


def _parent(layer: LayerView) -> str:
    """The path of what a layer is a part of."""
    path, _, _ = layer.name.partition(">")
    return path.rpartition(".")[0]


def _sizes_fit(first: LayerView, second: LayerView) -> bool:
    """Whether the output can be what the next one was given; unknown shapes fit."""
    given = (first.output_shape or (None, None))[1:]
    taken = (second.input_shape or (None, None))[1:]
    if None in given or None in taken:
        return True
    return math.prod(n or 1 for n in given) == math.prod(n or 1 for n in taken)


def _opaque(layer: LayerView) -> bool:
    if layer.functional:
        return layer.type in WEIGHTED_FUNCTIONS
    return layer.family in _OPAQUE


def apart(first: LayerView, second: LayerView) -> int:
    """How far the second part of one `Sequential` is behind the first; 0 for parts of something
    else.
    """
    one, _, before = first.name.rpartition(".")
    two, _, after = second.name.rpartition(".")
    if one == two and before.isdigit() and after.isdigit():
        return int(after) - int(before)
    return 0


def until_weights(
    row: Sequence[LayerView],
    number: int,
) -> tuple[LayerView, ...]:
    """What follows a layer, up to the next one with weights and without it."""
    return tuple(
        takewhile(
            lambda layer: not layer.weighted,
            row[number + 1 :],
        )
    )


def unbent(evidence: Evidence) -> list[tuple[LayerView, LayerView, bool]]:
    """Hidden dense and convolution layers whose output reaches the next such layer unbent, that
    layer, and whether it may be meant so: at a waist, or where most layers are bent, and one takes
    little away.
    """
    found = []
    for number, layer in enumerate(evidence.layers):
        hidden = layer.role == "hidden" and layer.family in ("dense", "conv")
        if not hidden or _bent(layer) or _split(layer):
            continue
        taker = _taker(evidence, number, layer)
        if taker is None or _split(taker):
            continue
        if not _shared_between(evidence, layer, taker):
            found.append((layer, taker))
    bent = [_bent(layer) for layer in evidence.weighted if layer.role == "hidden"]
    few = 2 * len(found) <= len(bent) and any(bent)
    return [(layer, taker, few or _narrows(layer, taker)) for layer, taker in found]


def _bent(layer: LayerView) -> bool:
    bare = {None, "linear", "identity"}
    return not {layer.own_activation, layer.activation} <= bare


def _taker(evidence: Evidence, number: int, layer: LayerView) -> LayerView | None:
    """The next layer with weights, if it is sure that it takes this layer's output and nothing
    else.
    """
    behind = evidence.layers[number + 1 :]
    param = evidence.hyperparameter(Kind.ACTIVATION, layer)
    if layer.feeds:
        taken = [other for other in behind if other.name in layer.feeds and other.weighted]
        plain = param is not None and param.absent and param.in_force in (None, "linear")
        if len(taken) == 1 and plain and taken[0].family in ("dense", "conv"):
            return taken[0]
        return None
    if evidence.graph is None:
        return None
    row = row_of(evidence, layer)
    behind = row[row.index(layer) + 1 :]
    following = next((other for other in behind if other.weighted), None)
    if following is None or following.family not in ("dense", "conv"):
        return None
    sequential = evidence.framework == "keras" and evidence.graph.model == "Sequential"
    if sequential or apart(layer, following) > 0:
        return following
    return None


def _shared_between(evidence: Evidence, layer: LayerView, taker: LayerView) -> bool:
    """Whether a place of their sequence has no layer of its own: one object, such as a ReLU, that
    stands at several places has the name of the first.
    """
    owner, dot, first = layer.name.rpartition(".")
    known = {one.name for one in evidence.layers}
    places = range(1, apart(layer, taker))
    return any(f"{owner}{dot}{int(first) + place}" not in known for place in places)


def _split(layer: LayerView) -> bool:
    """One half of a factored convolution, which is linear on purpose."""
    groups = layer.settings.get("groups")
    return (
        "Depthwise" in layer.type
        or "Separable" in layer.type
        or (isinstance(groups, int) and groups > 1)
    )


def _narrows(first: LayerView, second: LayerView) -> bool:
    """A waist: narrower than what comes in and what follows, as the code of an autoencoder is."""
    shape = first.input_shape or (None,)
    before = first.settings.get("in_features") or shape[-1]
    if not isinstance(before, int) or first.width is None or second.width is None:
        return False
    return first.width < min(before, second.width)


def features_given(dense: Sequence[LayerView]) -> int | None:
    """How many values a row has that the first of these dense layers is given."""
    given = dense[0].settings.get("in_features") if dense else None
    if given is None and dense and dense[0].weights:
        given = dense[0].weights[0].shape[0]
    return given if isinstance(given, int) else None


def dropout_before(
    detector: Detector, evidence: Evidence, wanted: Callable[[LayerView], bool]
) -> Findings:
    """Dropout with such a layer behind it, at most an activation between: to take out, if the
    text allows.
    """
    for row in rows(evidence):
        for number, layer in enumerate(row):
            following = row[number + 1 : number + 3]
            behind = [part for part in following if part.family != "activation"]
            if is_dropout(layer) and behind and wanted(behind[0]):
                saw = f"{layer.name} stands before {behind[0].type} {behind[0].name}"
                param = evidence.hyperparameter(Kind.LAYER, layer)
                cures: list[Suggestion] = []
                if param is not None and param.changeable:
                    removed = Patch((Remove(param.id),))
                    cures.append(Suggestion(removed, param.id, layer.type, None))
                yield detector.finding(evidence, saw, layer=layer, suggestions=cures)


def is_dropout(layer: LayerView) -> bool:
    return layer.family == "dropout" or (layer.functional and "dropout" in layer.type)


def window(layer: LayerView) -> int | None:
    """Side of a convolution's window; the longest when they differ."""
    value = layer.settings.get("kernel_size")
    if isinstance(value, bool):
        return None
    sides = value if isinstance(value, list) else [value]
    return max((side for side in sides if isinstance(side, int)), default=None)


def filters(layer: LayerView) -> int | None:
    """How many channels a convolution gives."""
    return layer.whole("filters", "out_channels")


def strided(layer: LayerView) -> bool:
    """Whether a convolution shrinks what it is given."""
    value = layer.setting("strides", "stride")
    sides = value if isinstance(value, list) else [value]
    return any(side not in (1, None) for side in sides)


def convolutions(evidence: Evidence) -> tuple[LayerView, ...]:
    """Convolutions that narrow: not the transposed ones of a decoder."""
    found = tuple(layer for layer in evidence.layers if layer.family == "conv")
    if any("Transpose" in layer.type for layer in found):
        return ()
    return found


def is_pooling(layer: LayerView) -> bool:
    return layer.family == "pool" or (layer.functional and "pool" in layer.type)


def is_max_pooling(layer: LayerView) -> bool:
    return is_pooling(layer) and "max" in layer.type.lower()


def is_deep(evidence: Evidence) -> bool:
    counted = [layer for layer in evidence.layers if layer.family == "conv" or is_pooling(layer)]
    return len(counted) >= DEEP
