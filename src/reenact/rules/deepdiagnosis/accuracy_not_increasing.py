"""DD009 accuracy-not-increasing

What
    The accuracies of the last twenty epochs are equal, below one, and no better than at the start, while
    the loss has not fallen to half.
Why
    A model that learns gets more cases right.
Symptom
    The same accuracy is printed for every epoch, often the share of the largest class.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import moons

    x, y = map(torch.from_numpy, moons())
    model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-8)
    for epoch in range(40):
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(model(x)[:, 0], y.float()).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.Adam(model.parameters(), lr=1e-8)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    Unsafe: whatever the tree suggests makes another training.
Sources
    {paper}. Symptom "accuracy not increasing". The release fires on a perfect accuracy too.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity, TaskType
from reenact.rules.deepdiagnosis._advice import for_no_progress, report
from reenact.rules.measured import accuracies, learned, stuck

EPOCHS = 20


class AccuracyNotIncreasing(Rule):
    code, name, family, fault = "DD009", "accuracy-not-increasing", "deepdiagnosis", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.85
    why = "A model that learns gets more cases right."

    def check(self, evidence: Evidence) -> Findings:
        values = accuracies(evidence)
        if evidence.task is not TaskType.REGRESSION and not learned(evidence) and stuck(values, EPOCHS):
            saw = f"accuracy {values[-1]:.4g} in each of the last {EPOCHS} epochs"
            yield report(self, evidence, saw, for_no_progress(evidence))
