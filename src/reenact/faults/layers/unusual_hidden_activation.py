"""LY09 unusual-hidden-activation

What
    A hidden dense or convolution layer is bent by a function that squeezes its output into a narrow
    range (sigmoid, hard sigmoid) or makes its units compete (softmax), more so when its neighbours use
    another.
Why
    Squeezed outputs are all positive and have small slopes: gradients shrink from layer to layer.
Symptom
    Slow progress, the layers in front of it hardly move.
Example
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8), nn.Sigmoid(), nn.Linear(8, 3))
Instead
    - model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8), nn.Sigmoid(), nn.Linear(8, 3))
    + model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 3))
Fix safety
    Unsafe: another activation is another model.
Sources
    Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks",
    AISTATS 2010; Glorot, Bordes and Bengio, "Deep Sparse Rectifier Neural Networks", AISTATS 2011.
"""

from collections import Counter
from collections.abc import Sequence

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

UNUSUAL = {
    "softmax": 0.85,
    "logsoftmax": 0.85,
    "exponential": 0.6,
    "hardsigmoid": 0.55,
    "sigmoid": 0.4,
    "logsigmoid": 0.5,
    "softsign": 0.25,
}
"""How likely each is a mistake on the way through a network; as a gate or an attention weight
it is none.
"""
ODD_ONE_OUT = 0.15
FAULT = Fault(
    code="LY09",
    name="unusual-hidden-activation",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "RE041",
    "unusual-hidden-activation",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why=(
        "Saturating activations, and softmax between layers, weaken the gradient of the layers "
        "before."
    ),
    study=FaultType.ACH,
    confidence=0.4,
)
def unusual_hidden_activation(detector: Detector, evidence: Evidence) -> Findings:
    """A hidden dense or convolution layer is bent by a function that squeezes its output into a
    narrow range (sigmoid, hard sigmoid) or makes its units compete (softmax), more so when its
    neighbours use another.

    Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks",
    AISTATS 2010; Glorot, Bordes and Bengio, "Deep Sparse Rectifier Neural Networks", AISTATS 2011.
    """
    layers = evidence.layers
    # Not a projection of an attention, nor the one score of a pooling: their softmax weighs rows.
    kept = [one.role == "hidden" and one.type != "EinsumDense" and one.width != 1 for one in layers]
    forward = [
        (at, one) for at, one in enumerate(layers) if kept[at] and one.family in ("dense", "conv")
    ]
    hidden = [
        one
        for at, one in forward
        if _is_taken(
            one,
            layers[at + 1 :],
        )
    ]
    words = Counter(layer.activation for layer in hidden)
    for layer in hidden:
        doubt = UNUSUAL.get((layer.activation or "").replace("_", ""))
        if doubt is None:
            continue
        peers = [word for word in words if word and word not in UNUSUAL and words[word] >= 2]
        usual = max(peers, key=lambda word: words[word], default="relu")
        others = f", {usual} behind the others" if peers else ""
        saw = f"{layer.activation} behind a hidden layer{others}"
        kind = Kind.ACTIVATION
        values = (usual, "relu") if usual != "relu" else ("relu", "elu")
        sure = min(0.95, doubt + (ODD_ONE_OUT if peers else 0.0))
        yield detector.finding(
            evidence,
            saw,
            layer=layer,
            kind=kind,
            values=values,
            confidence=sure,
        )


def _is_taken(layer: LayerView, behind: Sequence[LayerView]) -> bool:
    """Whether the next dense layer can take its output; where it cannot, this is one of several
    heads.
    """
    taker = next(
        (one for one in behind if one.family == "dense"),
        None,
    )
    if layer.family != "dense" or taker is None or layer.width is None:
        return True
    width = taker.input_shape[-1] if taker.input_shape else taker.settings.get("in_features")
    return width is None or width == layer.width
