"""TC012 loss-and-metric-uncorrelated

What
    Loss and accuracy move independently of each other from epoch to epoch.
Why
    What is minimised is then not what is wanted: the loss does not fit the task, or a penalty outweighs
    it.
Symptom
    The loss falls and the accuracy does not rise.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(spread=2.0))
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        rows = torch.randperm(300)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        hits = model(x[rows]).argmax(1) == y
        print("loss", loss.item(), "accuracy", hits.float().mean().item())
Instead
    -     hits = model(x[rows]).argmax(1) == y
    +     hits = model(x[rows]).argmax(1) == y[rows]
Fix safety
    There is nothing to change here: look for the finding that explains it.
Sources
    {paper}, correlation of loss and metric below 0.5. A loss that hardly moves is left alone, since there is
    nothing to correlate.
"""

import statistics

from reenact.rules import Evidence, Findings, Needs, Rule
from reenact.rules.own._series import ACCURACIES, metric

FEWEST, WEAK = 5, 0.5


class LossAndMetricUncorrelated(Rule):
    code, name, family, fault = "TC012", "loss-and-metric-uncorrelated", "deepchecker", None
    needs, confidence = Needs.TRACE, 0.4
    why = "What is minimised should be what is wanted."

    def check(self, evidence: Evidence) -> Findings:
        # The first epoch begins anywhere and says nothing about what the two do together.
        loss, score = metric(evidence, "loss")[1:], metric(evidence, *ACCURACIES)[1:]
        count = min(len(loss), len(score))
        if count < FEWEST or len(loss) != len(score) or max(score) > 0.98:
            return
        if statistics.pstdev(loss) / max(1e-9, abs(statistics.fmean(loss))) < 0.02:
            return
        linked = 0.0 if statistics.pstdev(score) < 1e-6 else statistics.correlation(loss, score)
        if linked > -WEAK:
            yield self.finding(evidence, f"correlation {linked:.2f} of loss and accuracy over {count} epochs")
