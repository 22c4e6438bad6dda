"""LY06 nonzero-bias-initialization

What
    The program gives biases a start other than zero.
Why
    Weights already break the symmetry between units; a bias that starts large shifts every unit the same
    way, and a ReLU may begin dead or linear.
Symptom
    A slow start; with large values units that never change side.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((8,)),
        keras.layers.Dense(16, activation="relu", bias_initializer="ones"),
        keras.layers.Dense(3, activation="softmax"),
    ])
Instead
    -     keras.layers.Dense(16, activation="relu", bias_initializer="ones"),
    +     keras.layers.Dense(16, activation="relu", bias_initializer="zeros"),
Fix safety
    Unsafe: the network becomes another one and must be trained again.
Sources
    Nikanjam et al., "NeuraLint", TOSEM 2021, f024 of the release. The small random start that torch gives
    by itself is not meant, nor is an output bias set to the share of a rare class, hence the low
    confidence there.
"""

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
)

FAULT = Fault(
    code="LY06",
    name="nonzero-bias-initialization",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "NL024",
    "non-zero-bias-init",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Biases usually start at zero, as weights already tell the units apart.",
    study=FaultType.BCI,
    confidence=0.45,
)
def non_zero_bias_init(detector: Detector, evidence: Evidence) -> Findings:
    """The program gives biases a start other than zero.

    {paper}, f024 of the release. The small random start that torch gives by itself is not meant,
    nor is an output bias set to the share of a rare class, hence the low confidence there.
    """
    values = ("zeros",) if evidence.framework == "keras" else ("zeros_",)
    for layer in evidence.layers:
        if layer.family in ("dense", "conv") and (saw := _shifted(evidence, layer)):
            sure = 0.25 if layer.role == "output" else detector.confidence
            kind = Kind.BIAS_INIT
            yield detector.finding(
                evidence,
                saw,
                layer=layer,
                kind=kind,
                values=values,
                confidence=sure,
            )


def _shifted(evidence: Evidence, layer: LayerView) -> str:
    param = evidence.hyperparameter(Kind.BIAS_INIT, layer)
    written = param is not None and not param.absent
    bias = layer.bias()
    if bias is not None:
        same = bias.minimum == bias.maximum and (written or bias.shape != (1,))
        if same and bias.minimum:
            return f"all biases of {layer.name} start at {bias.minimum:g}"
        return ""
    word = str(param.in_force).rpartition(".")[2].lower().strip("_") if param is not None else ""
    if written and word not in ("zeros", "none"):
        return f"biases of {layer.name} start with {word}"
    return ""
