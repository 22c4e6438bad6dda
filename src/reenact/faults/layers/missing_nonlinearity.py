"""LY07 missing-nonlinearity

What
    A hidden layer without an activation feeds straight into the next layer.
Why
    Two linear layers in a row are one linear layer: the second adds parameters and no power.
Symptom
    The model is no better than one with a layer less, and cannot learn what is not linear.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((8,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(16),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
Instead
    -     keras.layers.Dense(16),
    +     keras.layers.Dense(16, activation="relu"),
Fix safety
    Unsafe: it changes what is trained. Leave the narrow middle of an autoencoder as it is.
Sources
    Goodfellow, Bengio and Courville, "Deep Learning", 2016, section 6.1; Humbatova et al., ICSE 2020
    (missing activation).
"""

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    LayerView,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.architecture import features_given, unbent
from reenact.faults.facts.lines import pass_place

THROUGH = frozenset({"dropout", "norm", "pool", "shape"})
FAULT = Fault(
    code="LY07",
    name="missing-nonlinearity",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "RE027",
    "linear-hidden-layer",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Two linear layers in a row are one: the second adds parameters and no power.",
    study=FaultType.ARM,
    confidence=0.75,
)
def linear_hidden_layer(detector: Detector, evidence: Evidence) -> Findings:
    """A hidden layer without an activation feeds straight into the next layer.

    Goodfellow, Bengio and Courville, "Deep Learning", 2016, section 6.1; Humbatova et al., ICSE
    2020 (missing activation).
    """
    layers = [layer for layer in evidence.layers if layer.family != "input"]
    bare = [layer for number, layer in enumerate(layers) if _bare(layers, number)]
    found = [layer for layer in bare if _is_linear(evidence, layer) and not _code(evidence, layer)]
    few = 2 * len(found) <= sum(layer.role == "hidden" for layer in layers)
    for layer in found:
        sure = detector.confidence if layer.family == "dense" else 0.6
        if few:
            sure = 0.4
        yield detector.finding(
            evidence,
            f"{layer.type} {layer.name} has no activation",
            layer=layer,
            kind=Kind.ACTIVATION,
            values=("relu", "tanh"),
            confidence=sure,
            place=pass_place(evidence, layer),
        )


@FAULT.detector(
    "NL009",
    "missing-non-linearity",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Two linear layers in a row can learn no more than one.",
    study=FaultType.ARM,
    confidence=0.8,
)
def missing_non_linearity(detector: Detector, evidence: Evidence) -> Findings:
    """A hidden dense or convolution layer passes its output on to the next such layer without a
    non-linear function between them.

    {paper}, f009 of the release. Residual sums, attention projections and factored convolutions,
    which are linear on purpose, are left alone; a waist such as the code of an autoencoder is
    reported with less confidence.
    """
    values = ("relu", "tanh") if evidence.framework == "keras" else ("relu", "leaky_relu", "tanh")
    for layer, taker, doubtful in unbent(evidence):
        confidence = 0.4 if doubtful else detector.confidence
        saw = f"nothing bends what {layer.name} gives to {taker.name}"
        yield detector.finding(
            evidence,
            saw,
            layer=layer,
            kind=Kind.ACTIVATION,
            values=values,
            confidence=confidence,
            place=pass_place(evidence, layer),
        )


@FAULT.detector(
    "UM008",
    "missing-activation",
    "umlaut",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Without a bend between them two layers can do no more than one.",
    study=FaultType.ARM,
    severity=Severity.ERROR,
    confidence=0.8,
    certainty=Certainty.STRONG,
)
def missing_activation(detector: Detector, evidence: Evidence) -> Findings:
    """A hidden layer has no non-linear activation.

    {paper}. The release looks at the activation a layer was given, and so misses one that follows
    as a layer of its own and complains of linear projections; here what lies between two layers is
    looked at.
    """
    for layer, taker, doubtful in unbent(evidence):
        kind = Kind.ACTIVATION
        sure = 0.4 if doubtful else detector.confidence
        saw = f"{layer.name} feeds {taker.name} without an activation"
        yield detector.finding(
            evidence,
            saw,
            layer=layer,
            kind=kind,
            values=("relu",),
            confidence=sure,
        )


def _is_linear(evidence: Evidence, layer: LayerView) -> bool:
    """Whether the text confirms it: a function may bend outputs, and a layer be one output of
    several.
    """
    param = evidence.hyperparameter(Kind.ACTIVATION, layer)
    return param is not None and param.role != "output" and param.in_force in (None, "linear")


def _code(evidence: Evidence, layer: LayerView) -> bool:
    """Whether it is the narrow middle of an autoencoder, which may be linear."""
    dense = [one for one in evidence.layers if one.family == "dense" and one.width]
    given_back = {dense[-1].width, evidence.layers[-1].width} if dense else set()
    narrowest = min((one.width or 0 for one in dense), default=0)
    return features_given(dense) in given_back and layer.width == narrowest


def _bare(layers: list[LayerView], number: int) -> bool:
    """Whether nothing bends the output of a layer before the next one with weights takes it."""
    layer = layers[number]
    if layer.role != "hidden" or layer.family not in ("dense", "conv"):
        return False
    # What feeds a layer together with others stands beside them, as queries beside keys.
    beside = any(
        other is not layer and set(other.feeds) & set(layer.feeds)
        for other in layers
        if other.weighted
    )
    if layer.activation not in (None, "linear") or len(layer.feeds) > 1 or beside:
        return False
    for behind in layers[number + 1 :]:
        if behind.weighted:
            return behind.family in ("dense", "conv") and _takes(behind, layer, layers)
        if behind.family not in THROUGH or behind.own_activation:
            return False
    return False


def _takes(behind: LayerView, layer: LayerView, layers: list[LayerView]) -> bool:
    """Whether the widths say that one feeds the other; layers side by side have other widths."""
    if layer.feeds:
        takers = [one.name for one in layers if one.name in layer.feeds and one.weighted]
        return behind.name in layer.feeds or not takers
    given = behind.setting("in_features", "in_channels")
    known = isinstance(given, int) and layer.width and behind.family == layer.family
    return not known or given == layer.width
