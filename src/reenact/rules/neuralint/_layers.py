"""Which layers surely stand in a row, what the order rules walk along; and the sizes layers are given."""

import math
from collections.abc import Callable, Iterator, Sequence

from reenact.program.change import Remove
from reenact.program.patch import Patch
from reenact.rules import Evidence, Kind, LayerView, Suggestion

_OPAQUE = frozenset({"", "merge", "composite", "wrapper", "input"})
"""Families behind which nobody knows whose output goes on."""
DEEP = 10
"""Convolution and pooling layers from which NeuraLint calls a network deep."""


def rows(evidence: Evidence) -> Iterator[tuple[LayerView, ...]]:
    """Layers of which each takes what the one before gives.

    A live model tells the order of execution; the text of a Keras model tells it as well, unless it has a
    `call` of its own. In the text of a torch module only numbered parts of a `Sequential` are sure to stand
    in a row.
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


def _joins(evidence: Evidence, first: LayerView, second: LayerView) -> bool:
    if _opaque(second) or (first.role == "output" and second.weighted):
        return False
    if _parent(first) != _parent(second):
        return False
    if evidence.graph is not None or (is_keras(evidence) and not mentions(evidence, "def call(")):
        return _fits(first, second)
    return numbered(first, second) and _number(second) == _number(first) + 1


def _number(layer: LayerView) -> int:
    tail = layer.name.rpartition(".")[2]
    return int(tail) if tail.isdigit() else -1


def _opaque(layer: LayerView) -> bool:
    if layer.functional:
        return layer.type.startswith(("linear", "conv", "embedding"))
    return layer.family in _OPAQUE


def _fits(first: LayerView, second: LayerView) -> bool:
    """Whether a layer's output can be what the next one was given; unknown shapes fit."""
    if first.output_shape is None or second.input_shape is None:
        return True
    given, taken = first.output_shape[1:], second.input_shape[1:]
    if None in given or None in taken:
        return True
    return math.prod(n or 1 for n in given) == math.prod(n or 1 for n in taken)


def is_keras(evidence: Evidence) -> bool:
    if evidence.graph is not None:
        return evidence.graph.framework == "keras"
    return evidence.static is not None and "keras" in evidence.static.framework.value


def mentions(evidence: Evidence, *words: str) -> bool:
    """Whether a file of the program holds one of these words."""
    if evidence.program is None:
        return False
    texts = [file.text.lower() for file in evidence.program.files]
    return any(word in text for word in words for text in texts)


def _parent(layer: LayerView) -> str:
    return layer.name.partition(">")[0].rpartition(".")[0]


def numbered(first: LayerView, second: LayerView) -> bool:
    """Parts of one `Sequential`, the second later than the first."""
    one, two = first.name.rpartition("."), second.name.rpartition(".")
    return one[0] == two[0] and one[2].isdigit() and two[2].isdigit() and int(one[2]) < int(two[2])


def sure(evidence: Evidence, first: LayerView, second: LayerView) -> bool:
    """Whether nothing unseen, such as an addition in `forward`, can stand between two layers of a row."""
    return is_keras(evidence) or numbered(first, second)


def until_weights(row: Sequence[LayerView], number: int) -> tuple[LayerView, ...]:
    """What follows a layer, up to the next one with weights and without it."""
    found: list[LayerView] = []
    for layer in row[number + 1 :]:
        if layer.weighted:
            break
        found.append(layer)
    return tuple(found)


def unbent(evidence: Evidence) -> Iterator[tuple[LayerView, LayerView, bool]]:
    """Hidden dense and convolution layers whose output reaches the next such layer unbent, that layer, and
    whether it may be meant so: at a waist, or where most layers are bent, and one takes little away."""
    found = tuple(_unbent(evidence))
    hidden = [bent(layer) for layer in evidence.weighted if layer.role == "hidden"]
    few = 2 * len(found) <= len(hidden) and any(hidden)
    for layer, taker in found:
        yield layer, taker, few or narrows(layer, taker)


def _unbent(evidence: Evidence) -> Iterator[tuple[LayerView, LayerView]]:
    for number, layer in enumerate(evidence.layers):
        if layer.role != "hidden" or layer.family not in ("dense", "conv") or bent(layer):
            continue
        taker = _taker(evidence, number, layer)
        if taker is not None and not _split(layer) and not _split(taker):
            yield layer, taker


def bent(layer: LayerView) -> bool:
    return any(word not in (None, "linear", "identity") for word in (layer.own_activation, layer.activation))


def _taker(evidence: Evidence, number: int, layer: LayerView) -> LayerView | None:
    """The next layer with weights, if it is sure that it takes this layer's output and nothing else."""
    behind = evidence.layers[number + 1 :]
    param = evidence.hyperparameter(Kind.ACTIVATION, layer)
    if layer.feeds:
        taken = [other for other in behind if other.name in layer.feeds and other.weighted]
        plain = param is not None and param.absent and param.in_force in (None, "linear")
        return taken[0] if len(taken) == 1 and plain and taken[0].family in ("dense", "conv") else None
    for row in rows(evidence) if evidence.graph is not None else ():
        if layer in row:
            following = next((other for other in row[row.index(layer) + 1 :] if other.weighted), None)
            if following is None or following.family not in ("dense", "conv"):
                return None
            return following if numbered(layer, following) or _sequential(evidence) else None
    return None


def _sequential(evidence: Evidence) -> bool:
    return is_keras(evidence) and evidence.graph is not None and evidence.graph.model == "Sequential"


def _split(layer: LayerView) -> bool:
    """One half of a factored convolution, which is linear on purpose."""
    groups = layer.settings.get("groups")
    return "Depthwise" in layer.type or "Separable" in layer.type or (isinstance(groups, int) and groups > 1)


def narrows(first: LayerView, second: LayerView) -> bool:
    """A waist: narrower than what comes in and what follows, as the code of an autoencoder is."""
    before = first.settings.get("in_features") or (first.input_shape[-1] if first.input_shape else None)
    if not isinstance(before, int) or first.width is None or second.width is None:
        return False
    return first.width < before and first.width < second.width


def directly_before(
    evidence: Evidence, wanted: Callable[[LayerView], bool]
) -> Iterator[tuple[LayerView, LayerView]]:
    """Dropout layers and what stands behind them, with at most an activation between."""
    for row in rows(evidence):
        for number, layer in enumerate(row):
            behind = [part for part in row[number + 1 : number + 3] if part.family != "activation"]
            if is_dropout(layer) and behind and wanted(behind[0]):
                yield layer, behind[0]


def is_dropout(layer: LayerView) -> bool:
    return layer.family == "dropout" or (layer.functional and "dropout" in layer.type)


def without(evidence: Evidence, layer: LayerView) -> tuple[Suggestion, ...]:
    """Take a layer out, where the text allows it."""
    param = evidence.hyperparameter(Kind.LAYER, layer)
    if param is None or not param.changeable:
        return ()
    return (Suggestion(Patch((Remove(param.id),)), param.id, layer.type, None),)


def window(layer: LayerView) -> int | None:
    """Side of a convolution's window; the longest when they differ."""
    value = layer.settings.get("kernel_size")
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    sides = [side for side in value if isinstance(side, int)] if isinstance(value, list) else []
    return max(sides, default=None)


def filters(layer: LayerView) -> int | None:
    for name in ("filters", "out_channels"):
        value = layer.settings.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def strided(layer: LayerView) -> bool:
    """Whether a convolution shrinks what it is given."""
    value = layer.settings.get("strides", layer.settings.get("stride", 1))
    sides = value if isinstance(value, list) else [value]
    return any(side != 1 for side in sides)


def convolutions(evidence: Evidence) -> tuple[LayerView, ...]:
    """Convolutions that narrow: not the transposed ones of a decoder."""
    found = tuple(layer for layer in evidence.layers if layer.family == "conv")
    return () if any("Transpose" in layer.type for layer in found) else found


def is_pooling(layer: LayerView) -> bool:
    return layer.family == "pool" or (layer.functional and "pool" in layer.type)


def is_max_pooling(layer: LayerView) -> bool:
    return is_pooling(layer) and "max" in layer.type.lower()


def is_deep(evidence: Evidence) -> bool:
    return sum(layer.family == "conv" or is_pooling(layer) for layer in evidence.layers) >= DEEP
