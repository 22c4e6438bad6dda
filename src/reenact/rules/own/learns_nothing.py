"""RE029 learns-nothing

What
    At the end of training the loss is no better than that of an answer that never looks at the inputs:
    the shares of the classes, or the mean of the targets. Or, where nobody knows what such an answer
    scores, the labels of other rows fit the trained model as well as a row's own.
Why
    Any model that uses its inputs beats that; one that does not has a broken part.
Symptom
    The loss settles at the logarithm of the number of classes, or at the variance of the targets.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    x, y = x[torch.randperm(300)], y[torch.randperm(300)]
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(12):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - x, y = x[torch.randperm(300)], y[torch.randperm(300)]
    + rows = torch.randperm(300)
    + x, y = x[rows], y[rows]
Fix safety
    There is nothing to change here: look for the finding that explains it.
Sources
    Karpathy, "A Recipe for Training Neural Networks", 2019 (input-independent baseline).
"""

from statistics import fmean

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.own._series import accuracy, guessing, hardly_begun, learned, losses, windows

LATE = 3
"""How many of the last twelfths of the run must agree."""
FEW_STEPS = 100
"""Steps that say nothing of a training which was ended before its time."""
FEW_ROWS = 32
"""Rows of a batch that tell labels of other rows from their own too seldom."""


class LearnsNothing(Rule):
    code, name, family, fault = "RE029", "learns-nothing", "reenact", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.85
    why = "Any model that uses its inputs does better."

    def check(self, evidence: Evidence) -> Findings:
        best = guessing(evidence)
        curve = windows(losses(evidence))
        if len(curve) < 2 * LATE or not evidence.compares or learned(evidence):
            return
        cut_short = evidence.was_cut_off and len(losses(evidence)) < FEW_STEPS
        if evidence.optimizers > 1 or hardly_begun(evidence) or cut_short:
            return
        score, guess = accuracy(evidence), evidence.majority
        if score is not None and guess is not None and score > guess + 0.1:
            return
        if best is not None and min(curve[-LATE:]) > 0.97 * best:
            saw = f"loss {curve[-1]:.3g} at the end; a constant prediction gives {best:.3g}"
            yield self.finding(evidence, saw + _order(evidence))
        tested = evidence.experiments.permuted if best is None else None
        if tested is not None and tested.rows >= FEW_ROWS and tested.fit_as_well:
            saw = f"loss {tested.loss:.3g} on {tested.rows} rows after the training"
            saw += f"; with the labels of other rows {fmean(tested.permuted):.3g}"
            yield self.finding(evidence, saw + _order(evidence), confidence=0.7)


def _order(evidence: Evidence) -> str:
    """Something that may explain it."""
    blind = any(tested.order_blind for tested in evidence.experiments.behaviour)
    return "; attention without positions does not see the order of a sequence" if blind else ""
