"""OU10 collapsed-output

What
    The model gives the same answer whatever it is asked.
Why
    A constant is what is left when no signal passes: dead units, saturation, a last activation that
    cannot vary, steps so large that the biases decide everything.
Symptom
    Predictions are all of one class, or all equal; the accuracy is the share of that class.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import moons

    x, y = map(torch.from_numpy, moons())
    model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1), nn.Softmax(dim=1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy(model(x)[:, 0], y.float()).backward()
        optimizer.step()
Instead
    - model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1), nn.Softmax(dim=1))
    + model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
Fix safety
    There is nothing to change here: look for the finding that explains it.
Sources
    TheDeepChecker (constant outputs), Ben Braiek and Khomh, TOSEM 2022.
"""

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    Findings,
    LayerView,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.measured import (
    STILL,
    behind_weights,
    first_found,
    loss_halved,
    output_rows,
    still_since,
)
from reenact.faults.facts.series import (
    accuracy,
    finite,
    guessing,
    hardly_begun,
    losses,
    windows,
)

FLAT = 1e-4
LATE = 5
"""How many of the last looks must agree."""
FAULT = Fault(
    code="OU10",
    name="collapsed-output",
    category=Category.OUTPUT,
    page=__doc__,
)


@FAULT.detector(
    "RE021",
    "collapsed-output",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.OUTPUTS,
    why="A constant is what is left when no signal passes through the model.",
    severity=Severity.ERROR,
    confidence=0.8,
)
def collapsed_output(detector: Detector, evidence: Evidence) -> Findings:
    """The model gives the same answer whatever it is asked.

    TheDeepChecker (constant outputs), Ben Braiek and Khomh, TOSEM 2022.
    """
    if evidence.optimizers > 1:
        return
    flat = _flat(evidence)
    if flat is not None:
        saw = f"the last layer gives {flat:.3g} for every row"
        yield detector.finding(evidence, saw, layer=evidence.output)
        return
    score = accuracy(evidence)
    guess = evidence.majority
    best = guessing(evidence)
    curve = windows(losses(evidence))
    if score is None or guess is None or best is None or len(curve) < 4 or hardly_begun(evidence):
        return
    if score <= guess + 0.03 and min(curve[len(curve) // 2 :]) > 0.97 * best:
        saw = f"accuracy {score:.2f}; the majority class alone gives {guess:.2f}"
        yield detector.finding(evidence, saw, confidence=0.65)


@FAULT.detector(
    "DL003",
    "unchanged-layer-output",
    "deeplocalize",
    needs=Needs.TRACE,
    observes=Observes.OUTPUTS,
    why="An output that never changes belongs to weights that never change.",
    severity=Severity.ERROR,
    confidence=0.8,
)
def unchanged_layer_output(detector: Detector, evidence: Evidence) -> Findings:
    """The output of a layer has the same mean, deviation, smallest and largest value in the last
    five steps looked at, or more, and the loss has not fallen to half. The tool looks at every
    batch, this rule at every sampled step.

    {paper}. Third symptom. The release compares means alone, which a softmax never changes, and
    tests any five batches; here the tensor must be still to the end of the run, in a model that has
    not learned.
    """
    if not loss_halved(evidence):
        symptom = ("output unchanged to the end", detector.confidence, _still)
        yield from first_found(detector, evidence, behind_weights(evidence), symptom)


def _flat(evidence: Evidence) -> float | None:
    """The one value that the last layer gives in the end; none when it varies, and where the
    program acts: it asks about one state at a time, and one value cannot vary.
    """
    rows = evidence.watched.layers.where(
        layer=len(evidence.watched.layer_names) - 1,
        phase=0,
    )
    lows = finite(list(rows["minimum"][-LATE:]))
    highs = finite(list(rows["maximum"][-LATE:]))
    if len(lows) < LATE or len(highs) < LATE or evidence.acts:
        return None
    gaps = [high - low for low, high in zip(lows, highs, strict=True)]
    if max(gaps) <= FLAT * max(1e-6, *map(abs, highs)):
        return highs[-1]
    return None


def _still(evidence: Evidence, layer: LayerView) -> int | None:
    rows = output_rows(evidence, layer)
    if len(rows) and rows["mean_abs"][-1] == 0:
        return None
    return still_since(rows, STILL["output"])
