"""DD007 loss-not-decreasing

What
    The mean losses of the last five epochs, or more, are equal, and not less than half of the first loss.
Why
    The training costs time and changes nothing.
Symptom
    The same loss is printed for every epoch.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.zero_grad()
        optimizer.step()
Instead
      for epoch in range(30):
    +     optimizer.zero_grad()
    -     optimizer.zero_grad()
Fix safety
    Unsafe: whatever the tree suggests makes another training.
Sources
    {paper}. Symptom "loss not decreasing"; the release stops with a TypeError instead of reporting it.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.deepdiagnosis._advice import for_no_progress, report
from reenact.rules.measured import WINDOW, epochs_of, learned


class LossNotDecreasing(Rule):
    code, name, family, fault = "DD007", "loss-not-decreasing", "deepdiagnosis", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.85
    why = "A loss that never changes is not being minimised."

    def check(self, evidence: Evidence) -> Findings:
        if learned(evidence):
            return
        losses = epochs_of(evidence, "loss")
        if len(losses) >= WINDOW and len(set(losses[-WINDOW:])) == 1:
            saw = f"loss {losses[-1]:.6g} in each of the last {WINDOW} epochs"
            yield report(self, evidence, saw, for_no_progress(evidence))
