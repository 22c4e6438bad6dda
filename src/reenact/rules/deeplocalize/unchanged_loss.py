"""DL007 unchanged-loss

What
    The last five losses of the run, or more, are exactly equal, and not less than half of the first.
Why
    Batches differ and weights move, so losses differ; equal ones come of a model that is stuck.
Symptom
    The same loss is printed for every batch or epoch.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1 // 100)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.Adam(model.parameters(), lr=1 // 100)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    None is offered: the tool names the layer and the phase, not a cause.
Sources
    {paper}. Seventh symptom, "model does not learn". The release tests any five batches; a loss that stands
    still after it fell is a training that is over, and not reported here.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.measured import learned, still_since


class UnchangedLoss(Rule):
    code, name, family, fault = "DL007", "unchanged-loss", "deeplocalize", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.85
    why = "A loss that never changes is not being minimised."

    def check(self, evidence: Evidence) -> Findings:
        if learned(evidence):
            return
        step = still_since(evidence.watched.steps, ("loss",))
        if step is not None:
            value = evidence.watched.losses.values[-1]
            yield self.finding(evidence, f"loss {value:.6g} at every step from step {step} on", step=step)
