"""LY14 unusual-architecture

What
    A hidden layer far narrower than both its neighbours.
Why
    Everything the layers behind it know has passed through its few units; with fewer units than classes
    much is lost.
Symptom
    Training and validation are equally poor, whatever the rest of the model.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((8,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(2, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
Instead
    -     keras.layers.Dense(2, activation="relu"),
    +     keras.layers.Dense(32, activation="relu"),
Fix safety
    Unsafe: it changes what is trained. Leave the narrow middle of an autoencoder as it is.
Sources
    Humbatova et al., ICSE 2020 (wrong number of neurons).
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    LayerView,
    Needs,
    Observes,
    Place,
    Severity,
    Status,
)
from reenact.faults.facts.api import BATCH_NORMS, POOLS
from reenact.faults.facts.architecture import (
    convolutions,
    features_given,
    filters,
    is_deep,
    is_max_pooling,
    is_pooling,
    rows,
    strided,
    until_weights,
    window,
)
from reenact.program.flow.library_uses import uses

TIMES, TINY = 4, 8
FAULT = Fault(
    code="LY14",
    name="unusual-architecture",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "RE028",
    "bottleneck",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="All that later layers know has passed through these few units.",
    study=FaultType.LCN,
    confidence=0.3,
)
def bottleneck(detector: Detector, evidence: Evidence) -> Findings:
    """A hidden layer far narrower than both its neighbours.

    Humbatova et al., ICSE 2020 (wrong number of neurons).
    """
    dense = [layer for layer in evidence.layers if layer.family == "dense"]
    given = features_given(dense)
    # What comes out of an autoencoder is as wide as what goes in.
    if not dense or (given is not None and given == dense[-1].width and len(dense) > 2):
        return
    texts = evidence.static.layers if evidence.static is not None else ()
    models: dict[Place | None, str] = {text.place: text.model for text in reversed(texts)}
    for around in zip(dense, dense[1:], dense[2:], strict=False):
        before, layer, behind = around
        width = layer.width or 0
        beside = min(before.width or 0, behind.width or 0)
        if not 0 < width <= TINY or width * TIMES > beside:
            continue
        if len({models.get(one.place) for one in around}) > 1:
            continue
        yield detector.finding(
            evidence,
            f"{width} units between {before.width} and {behind.width}",
            layer=layer,
            kind=Kind.UNITS,
            values=(TIMES * width, 8 * width, beside),
            confidence=0.55 if width < (dense[-1].width or 0) else None,
        )


@FAULT.detector(
    "NL002",
    "lack-of-pooling",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Without pooling or strides maps stay large and the first dense layer holds most weights.",
    study=FaultType.LRM,
    severity=Severity.NOTE,
    status=Status.PREVIEW,
    confidence=0.1,
)
def lack_of_pooling(detector: Detector, evidence: Evidence) -> Findings:
    """A convolutional classifier has neither a pooling layer nor a convolution with a stride.

    {paper}, f002 of the release. The release looks for different spellings of 1-D and 3-D pooling
    than it writes, and so always misses them; strides, which do the same work, are not in its rule.
    """
    found = convolutions(evidence)
    dense = any(layer.family == "dense" for layer in evidence.layers)
    if not found or not dense or any(map(strided, found)) or any(map(is_pooling, evidence.layers)):
        return
    if evidence.graph is None and uses(evidence.files, *POOLS):
        return
    saw = f"{len(found)} convolution layers, no pooling and no stride"
    yield detector.finding(
        evidence,
        saw,
        layer=found[-1],
    )


@FAULT.detector(
    "NL005",
    "useless-bias",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Batch normalisation takes away what the bias adds.",
    severity=Severity.NOTE,
    status=Status.PREVIEW,
    confidence=0.15,
)
def useless_bias(detector: Detector, evidence: Evidence) -> Findings:
    """A layer with a bias is followed by batch normalisation with nothing non-linear between them.

    {paper}, f005 of the release. The release also counts a normalisation up to three layers later,
    even behind an activation, where the bias does matter.
    """
    for row in rows(evidence):
        for number, layer in enumerate(row):
            stated = layer.setting("use_bias", "bias") in (None, True)
            has = layer.bias() is not None if layer.weights else stated
            if layer.family not in ("dense", "conv") or not has or layer.own_activation:
                continue
            following = next(
                (part for part in row[number + 1 :] if part.family != "dropout"),
                None,
            )
            if following is not None and following.type in BATCH_NORMS:
                saw = f"{layer.name} has a bias in front of {following.type}"
                yield detector.finding(evidence, saw, layer=layer)


@FAULT.detector(
    "NL016",
    "decreasing-window",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Windows usually stay equal or grow with depth.",
    study=FaultType.LCF,
    severity=Severity.NOTE,
    status=Status.PREVIEW,
    confidence=0.1,
)
def decreasing_window(detector: Detector, evidence: Evidence) -> Findings:
    """A later convolution has a smaller window than an earlier one.

    {paper}, f016 of the release. Windows of one place, which mix channels only, are left out.
    """
    for first, one, second, two in _pairs(convolutions(evidence), window):
        if 1 < two < one:
            saw = f"{second.name} has a window of {two} after {one} in {first.name}"
            yield detector.finding(
                evidence,
                saw,
                layer=second,
                kind=Kind.KERNEL_SIZE,
                values=(one,),
            )


@FAULT.detector(
    "NL019",
    "increasing-dense-width",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Dense layers usually narrow towards the output.",
    study=FaultType.LCN,
    severity=Severity.NOTE,
    status=Status.PREVIEW,
    confidence=0.12,
)
def increasing_dense_width(detector: Detector, evidence: Evidence) -> Findings:
    """A hidden dense layer is wider than the hidden dense layer before it.

    {paper}, f019 of the release. Decoders and feed-forward parts of transformers widen on purpose.
    """
    hidden = [
        layer for layer in evidence.layers if layer.family == "dense" and layer.role == "hidden"
    ]
    for first, one, second, two in _pairs(hidden, lambda layer: layer.width):
        if two > one:
            saw = f"{second.name} has {two} units after {one} in {first.name}"
            yield detector.finding(
                evidence,
                saw,
                layer=second,
                kind=Kind.UNITS,
                values=(one,),
            )


@FAULT.detector(
    "NL023",
    "non-increasing-filters",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The number of filters usually grows as maps shrink.",
    study=FaultType.LCN,
    severity=Severity.NOTE,
    status=Status.PREVIEW,
    confidence=0.12,
)
def non_increasing_filters(detector: Detector, evidence: Evidence) -> Findings:
    """A later convolution has fewer filters than an earlier one.

    {paper}, f023 of the release.
    """
    for first, one, second, two in _pairs(convolutions(evidence), filters):
        if two < one:
            saw = f"{second.name} has {two} filters after {one} in {first.name}"
            yield detector.finding(
                evidence,
                saw,
                layer=second,
                kind=Kind.FILTERS,
                values=(one,),
            )


@FAULT.detector(
    "NL025",
    "pooling-too-often",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Deep networks do well with several convolutions between two poolings.",
    study=FaultType.LAD,
    severity=Severity.NOTE,
    status=Status.PREVIEW,
    confidence=0.15,
)
def pooling_too_often(detector: Detector, evidence: Evidence) -> Findings:
    """In a network of ten or more convolution and pooling layers every convolution is followed by
    max-pooling at once.

    {paper}, f025 of the release.
    """
    if not is_deep(evidence):
        return
    behind = [(one, until_weights(row, at)) for row in rows(evidence) for at, one in enumerate(row)]
    pooled = [
        one for one, rest in behind if one.family == "conv" and any(map(is_max_pooling, rest))
    ]
    count = len(convolutions(evidence))
    if count > 1 and len(pooled) == count:
        saw = f"each of {count} convolutions is followed by max-pooling"
        yield detector.finding(evidence, saw, layer=pooled[1])


@FAULT.detector(
    "NL026",
    "asymmetric-convolution-blocks",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Convolutions of one block usually have one size.",
    study=FaultType.LCF,
    severity=Severity.NOTE,
    status=Status.PREVIEW,
    confidence=0.1,
)
def asymmetric_convolution_blocks(detector: Detector, evidence: Evidence) -> Findings:
    """In a network of ten or more convolution and pooling layers two convolutions in a row, with no
    pooling between them, differ in window or filters.

    {paper}, f026 of the release.
    """
    for row in rows(evidence) if is_deep(evidence) else ():
        for number, layer in enumerate(row):
            between = until_weights(row, number)
            block = (layer, *row[number + 1 + len(between) :][:1])
            sizes = [(window(part), filters(part)) for part in block if part.family == "conv"]
            known = len(sizes) == 2 and None not in (*sizes[0], *sizes[1])
            if known and sizes[0] != sizes[1] and not any(map(is_pooling, between)):
                saw = f"{layer.name} has window and filters {sizes[0]}, {block[1].name} {sizes[1]}"
                yield detector.finding(evidence, saw, layer=block[1])


@FAULT.detector(
    "NL027",
    "ineffective-pooling",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Maps of the last convolutions are not made smaller any more.",
    study=FaultType.LRM,
    severity=Severity.NOTE,
    status=Status.PREVIEW,
    confidence=0.1,
)
def ineffective_pooling(detector: Detector, evidence: Evidence) -> Findings:
    """In a network of ten or more convolution and pooling layers convolutions stand behind the last
    max-pooling.

    {paper}, f027 of the release. A network without any pooling is the matter of lack-of-pooling; a
    global average at the end counts as pooling here.
    """
    pools = [number for number, layer in enumerate(evidence.layers) if is_pooling(layer)]
    if not is_deep(evidence) or not pools:
        return
    late = [layer for layer in evidence.layers[pools[-1] + 1 :] if layer.family == "conv"]
    if late and late[0] in convolutions(evidence) and not any(map(strided, late)):
        saw = f"{len(late)} convolutions follow the last pooling layer"
        yield detector.finding(evidence, saw, layer=late[0])


def _pairs(
    layers: Sequence[LayerView], size: Callable[[LayerView], int | None]
) -> Iterator[tuple[LayerView, int, LayerView, int]]:
    """Neighbours, each with a size, where both are known."""
    for first, second in pairwise(layers):
        one = size(first)
        two = size(second)
        if one is not None and two is not None:
            yield first, one, second, two
