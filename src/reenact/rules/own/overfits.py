"""RE030 overfits

What
    The model knows the training data far better than held-out data, and becomes worse on the latter.
Why
    It remembers rows instead of learning what they have in common: too much model for too little data, or
    too long a training.
Symptom
    Validation loss rises while training loss falls.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(60, features=30, spread=5.0))
    model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(40):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[::2]), y[::2]).backward()
        optimizer.step()
        with torch.no_grad():
            print("val_accuracy", (model(x[1::2]).argmax(1) == y[1::2]).float().mean().item())
Instead
    - x, y = map(torch.from_numpy, blobs(60, features=30, spread=5.0))
    + x, y = map(torch.from_numpy, blobs(3000, features=30, spread=5.0))
Fix safety
    There is nothing to change here: fewer epochs, dropout, a penalty, more data or a smaller model may
    help.
Sources
    Prechelt, "Early Stopping, But When?", 1998; SageMaker Debugger (Overfit).
"""

from reenact.rules import Evidence, Findings, Needs, Rule
from reenact.rules.own._series import accuracy, epoch_losses, metric, validation_accuracy

RISE, GAP = 1.25, 0.15


class Overfits(Rule):
    code, name, family, fault = "RE030", "overfits", "reenact", None
    needs, confidence = Needs.TRACE, 0.65
    why = "It remembers its rows instead of learning what they have in common."

    def check(self, evidence: Evidence) -> Findings:
        if evidence.optimizers > 1:
            return
        held, trained = metric(evidence, "val_loss"), epoch_losses(evidence)
        if len(held) > 2 and trained and held[-1] > RISE * min(held) and trained[-1] < 0.5 * held[-1]:
            saw = f"validation loss {held[-1]:.3g} after {min(held):.3g} at its best"
            yield self.finding(evidence, f"{saw}; training loss {trained[-1]:.3g}")
            return
        known, judged = accuracy(evidence), validation_accuracy(evidence)
        if known is not None and len(judged) > 2 and known > 0.9 and known - max(judged) > GAP:
            saw = f"accuracy {known:.2f} in training, {max(judged):.2f} at best in validation"
            yield self.finding(evidence, saw)
