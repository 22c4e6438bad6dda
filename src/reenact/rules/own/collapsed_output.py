"""RE021 collapsed-output

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

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.own._series import accuracy, finite, guessing, hardly_begun, losses, windows

FLAT = 1e-4
LATE = 5
"""How many of the last looks must agree."""


class CollapsedOutput(Rule):
    code, name, family, fault = "RE021", "collapsed-output", "reenact", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.8
    why = "A constant is what is left when no signal passes through the model."

    def check(self, evidence: Evidence) -> Findings:
        if evidence.optimizers > 1:
            return
        flat = _flat(evidence)
        if flat is not None:
            saw = f"the last layer gives {flat:.3g} for every row"
            yield self.finding(evidence, saw, layer=evidence.output)
            return
        score, guess, best = accuracy(evidence), evidence.majority, guessing(evidence)
        curve = windows(losses(evidence))
        if score is None or guess is None or best is None or len(curve) < 4 or hardly_begun(evidence):
            return
        if score <= guess + 0.03 and min(curve[len(curve) // 2 :]) > 0.97 * best:
            saw = f"accuracy {score:.2f}; the majority class alone gives {guess:.2f}"
            yield self.finding(evidence, saw, confidence=0.65)


def _flat(evidence: Evidence) -> float | None:
    """The one value that the last layer gives in the end; none when it varies, and where the program acts: it
    asks about one state at a time, and one value cannot vary."""
    rows = evidence.watched.layers.where(layer=len(evidence.watched.layer_names) - 1, phase=0)
    lows, highs = finite(list(rows["minimum"][-LATE:])), finite(list(rows["maximum"][-LATE:]))
    if len(lows) < LATE or len(highs) < LATE or evidence.acts:
        return None
    gaps = [high - low for low, high in zip(lows, highs, strict=True)]
    return highs[-1] if max(gaps) <= FLAT * max(1e-6, *map(abs, highs)) else None
