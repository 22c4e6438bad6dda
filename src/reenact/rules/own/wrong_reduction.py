"""RE025 wrong-reduction

What
    The loss adds up over the rows of a batch instead of taking their mean.
Why
    The gradient then grows with the batch: the learning rate that suits one batch size is a hundred times
    too large at another, and the shorter last batch counts less.
Symptom
    Losses in the hundreds, and a training that breaks when the batch size changes.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y, reduction="sum").backward()
        optimizer.step()
Instead
    -     nn.functional.cross_entropy(model(x), y, reduction="sum").backward()
    +     nn.functional.cross_entropy(model(x), y).backward()
Fix safety
    Unsafe: gradients become smaller by the batch size; the learning rate may have to follow.
Sources
    TheDeepChecker (loss reduction), Ben Braiek and Khomh, TOSEM 2022; documentation of `reduction` in
    PyTorch and Keras.
"""

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule
from reenact.rules.own._places import optimizer_name
from reenact.rules.own._series import learned


class WrongReduction(Rule):
    code, name, family, fault = "RE025", "wrong-reduction", "reenact", Fault.LCH
    needs, confidence = Needs.GRAPH, 0.65
    why = "Steps grow with the batch, so that no learning rate suits two batch sizes."

    def check(self, evidence: Evidence) -> Findings:
        loss = evidence.loss
        if loss is None or loss.settings.get("reduction") != "sum" or loss.settings.get("by_hand"):
            return
        # Optimisers that divide by the size of past gradients do not see their scale.
        adaptive = optimizer_name(evidence).startswith(("ada", "rms", "nadam", "radam", "lion"))
        sure = 0.35 if adaptive or learned(evidence) else None
        yield self.finding(evidence, f"{loss.name} with reduction sum", kind=Kind.LOSS, confidence=sure)
