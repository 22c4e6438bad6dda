"""TC003 loss-grows-with-batch

What
    Batches of twice the rows have twice the loss.
Why
    The loss is added up over the batch instead of averaged, so that the size of a step depends on the
    size of the batch.
Symptom
    The last, shorter batch of each epoch has a smaller loss than all others.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(10):
        for rows in torch.randperm(300).split(128):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[rows]), y[rows], reduction="sum").backward()
            optimizer.step()
Instead
    -         nn.functional.cross_entropy(model(x[rows]), y[rows], reduction="sum").backward()
    +         nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
Fix safety
    Unsafe: gradients become smaller by the batch size; the learning rate may have to follow.
Sources
    {paper}, loss reduction. The paper doubles a batch five times before training; here batches of different
    sizes of the watched run are compared.
"""

import statistics
from itertools import pairwise

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule

FEWEST = 5
CLOSE = 0.3


class LossGrowsWithBatch(Rule):
    code, name, family, fault = "TC003", "loss-grows-with-batch", "deepchecker", Fault.LCH
    needs, confidence = Needs.TRACE, 0.7
    why = "The size of a step then depends on the size of the batch."

    def check(self, evidence: Evidence) -> Findings:
        if evidence.optimizers > 1:
            return
        steps, pairs = evidence.watched.steps, []
        for before, after in pairwise(zip(steps["batch_size"], steps["loss"], strict=True)):
            large, small = max(before, after), min(before, after)
            if small[0] > 0 and large[0] >= 2 * small[0] and small[1] > 0 and large[1] > 0:
                pairs.append((large[0] / small[0], large[1] / small[1]))
        if len(pairs) < FEWEST:
            return
        rows, loss = (statistics.median(values) for values in zip(*pairs, strict=True))
        if rows >= 2 and abs(loss / rows - 1) < CLOSE:
            saw = f"batches with {rows:.1f} times the rows have {loss:.1f} times the loss"
            yield self.finding(evidence, saw, kind=Kind.LOSS)
