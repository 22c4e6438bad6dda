"""LY02 saturated-units

What
    Most outputs of a hidden sigmoid or tanh layer lie at the ends of its range.
Why
    At the ends the function is flat and its gradient nearly zero: neither the layer nor those before it
    learn.
Symptom
    The loss falls slowly or not at all, and gradients are far smaller in front of the layer than behind
    it.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 3))
    nn.init.normal_(model[0].weight, std=5.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - nn.init.normal_(model[0].weight, std=5.0)
Fix safety
    Unsafe: another activation, start or scaling is another training.
Sources
    Glorot and Bengio, "Understanding the Difficulty of Training Deep Feedforward Neural Networks",
    AISTATS 2010.
"""

import statistics

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Finding,
    Findings,
    Kind,
    LayerView,
    Needs,
    Observes,
)
from reenact.faults.facts.advice import for_idle_units, report
from reenact.faults.facts.measured import WINDOW, first_hit, output_rows
from reenact.faults.facts.model import owner_of, times_usual
from reenact.faults.facts.places import raw_inputs
from reenact.faults.facts.series import finite

MOST = 0.5
SHARE = 0.5
FAULT = Fault(
    code="LY02",
    name="saturated-units",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "RE023",
    "saturated-layer",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.OUTPUTS,
    why="At the ends of its range a sigmoid or tanh is flat and passes no gradient.",
    study=FaultType.ACH,
    confidence=0.65,
)
def saturated_layer(detector: Detector, evidence: Evidence) -> Findings:
    """Most outputs of a hidden sigmoid or tanh layer lie at the ends of its range.

    Glorot and Bengio, "Understanding the Difficulty of Training Deep Feedforward Neural Networks",
    AISTATS 2010.
    """
    for layer in evidence.layers:
        shares = finite(list(evidence.watched.layer(layer.name, "saturated_share").values))
        if len(shares) < 3 or evidence.last_activation == layer.own_activation == "sigmoid":
            continue
        late = statistics.median(shares[-max(1, len(shares) // 3) :])
        if late > MOST and owner_of(evidence, layer).role == "hidden":
            yield _saturated(detector, evidence, owner_of(evidence, layer), late)
            return


@FAULT.detector(
    "DD004",
    "saturated-activation",
    "deepdiagnosis",
    needs=Needs.TRACE,
    observes=Observes.OUTPUTS,
    why="Where the curve is flat no gradient comes through.",
    confidence=0.75,
)
def saturated_activation(detector: Detector, evidence: Evidence) -> Findings:
    """More than half of the values that enter a hidden sigmoid or tanh are beyond -5 and 5, in five
    steps looked at in a row. The tool looks at the end of every epoch on one batch, this rule at
    the sampled steps.

    {paper}. Symptom "saturated activation", with the bounds of the release. It tests the output
    too, where saturation is certainty; here hidden layers count.
    """
    last = evidence.output
    hidden = evidence.layers[: evidence.layers.index(last)] if last in evidence.layers else ()

    def full(at: Evidence, layer: LayerView) -> int | None:
        rows = output_rows(at, layer)
        over = (rows["saturated_share"] > SHARE).tolist()
        starts = range(len(over) - WINDOW + 1)
        first = next(
            (start for start in starts if all(over[start : start + WINDOW])),
            None,
        )
        if first is not None:
            return int(rows["step"][first])
        return None

    wanted = [layer for layer in hidden if layer.family != "recurrent"]
    hit = first_hit(
        evidence,
        wanted,
        ("more than half of the values saturated", detector.confidence, full),
    )
    if hit is not None:
        advice = for_idle_units(evidence, owner_of(evidence, hit.layer))
        yield report(detector, evidence, hit.saw, advice, hit.step)


def _saturated(
    detector: Detector,
    evidence: Evidence,
    layer: LayerView,
    late: float,
) -> Finding:
    saw = f"{late:.0%} of what goes into {layer.activation or 'the activation'} lies beyond 5"
    if raw_inputs(evidence) and layer is next(iter(evidence.weighted), None):
        return detector.finding(
            evidence,
            saw,
            layer=layer,
            kind=Kind.PREPROCESSING,
            study=FaultType.CPP,
        )
    if (times_usual(layer, evidence.framework) or 1.0) > 3:
        kind = Kind.WEIGHT_INIT
        keras = evidence.framework == "keras"
        start = "glorot_uniform" if keras else "xavier_uniform_"
        return detector.finding(
            evidence,
            saw,
            layer=layer,
            kind=kind,
            values=(start,),
            study=FaultType.WCI,
        )
    return detector.finding(
        evidence,
        saw,
        layer=layer,
        kind=Kind.ACTIVATION,
        values=("relu",),
    )
