"""LY08 redundant-activation

What
    Two non-linear functions follow one layer before the next layer with weights.
Why
    The second function bends what the first has already bent: a ReLU after a ReLU does nothing, a sigmoid
    or softmax after a ReLU never sees a negative number.
Symptom
    Learning is slower than it should be, or stalls; outputs use part of their range only.
Example
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Sigmoid(), nn.Linear(16, 3))
Instead
    - model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Sigmoid(), nn.Linear(16, 3))
    + model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
Fix safety
    Unsafe: taking out one of the two changes what is computed, unless both are the same ReLU.
Sources
    Nikanjam et al., "NeuraLint", TOSEM 2021, f003 of the release.
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
    suggest,
)
from reenact.faults.facts.architecture import apart, rows, until_weights

FAULT = Fault(
    code="LY08",
    name="redundant-activation",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "NL003",
    "redundant-activation",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The second function sees only what the first left over.",
    study=FaultType.AAL,
    confidence=0.75,
)
def redundant_activation(detector: Detector, evidence: Evidence) -> Findings:
    """Two non-linear functions follow one layer before the next layer with weights.

    {paper}, f003 of the release.
    """
    for row in rows(evidence):
        for number, layer in enumerate(row):
            if layer.weighted and layer.family not in ("recurrent", "embedding"):
                yield from _one(detector, evidence, layer, until_weights(row, number))


def _one(
    detector: Detector,
    evidence: Evidence,
    layer: LayerView,
    behind: tuple[LayerView, ...],
) -> Findings:
    flat = (None, "linear", "identity")
    bending = [part for part in (layer, *behind) if part.own_activation not in flat]
    if len(bending) < 2 or any(part.family == "recurrent" for part in bending):
        return
    words = " and ".join(str(part.own_activation) for part in bending)
    # Nothing unseen, such as an addition in `forward`, can stand between parts of a `Sequential`.
    sure = evidence.framework == "keras" or apart(layer, bending[1]) > 0
    spare = bending[-2] if layer.role == "output" else bending[1]
    param = evidence.hyperparameter(Kind.ACTIVATION, spare)
    saw = f"{words} in a row behind {layer.name}"
    cures = suggest(param, ("linear",)) if param else ()
    yield detector.finding(
        evidence,
        saw,
        layer=layer,
        place=spare.place,
        suggestions=tuple(cures),
        confidence=None if sure else 0.35,
    )
