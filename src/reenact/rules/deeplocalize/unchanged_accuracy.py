"""DL009 unchanged-accuracy

What
    The accuracies of the last five epochs are exactly equal, below one, and no better than at the start,
    while the loss has not fallen to half. Without epochs the last five batches count.
Why
    A model that learns gets more cases right.
Symptom
    The same accuracy is printed for every epoch, often the share of the largest class.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    None is offered: the tool names the layer and the phase, not a cause.
Sources
    {paper}. Ninth symptom, "model does not learn". The release compares five batches; small batches often
    have equal accuracies by chance, and a perfect model has the accuracy one for ever.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity, TaskType
from reenact.rules.measured import WINDOW, accuracies, learned, stuck


class UnchangedAccuracy(Rule):
    code, name, family, fault = "DL009", "unchanged-accuracy", "deeplocalize", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.7
    why = "A model that learns gets more cases right."

    def check(self, evidence: Evidence) -> Findings:
        if evidence.task is TaskType.REGRESSION or learned(evidence):
            return
        values = accuracies(evidence)
        if len(values) < WINDOW:
            values = evidence.watched.steps.series("accuracy").known.values
        if stuck(values, WINDOW):
            saw = f"accuracy {values[-1]:.4g} {WINDOW} times in a row, {values[0]:.4g} at first"
            yield self.finding(evidence, saw)
