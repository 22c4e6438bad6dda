"""UM011 overfitting

What
    The validation loss has been rising for several epochs while the training loss kept falling.
Why
    The model now memorises its training rows; what it learns no longer holds elsewhere.
Symptom
    A gap between the two losses that grows from epoch to epoch.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(60, features=20, spread=6.0))
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(40):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[::2]), y[::2]).backward()
        optimizer.step()
        with torch.no_grad():
            print("val_loss", nn.functional.cross_entropy(model(x[1::2]), y[1::2]).item())
Instead
    - x, y = map(torch.from_numpy, blobs(60, features=20, spread=6.0))
    + x, y = map(torch.from_numpy, blobs(6000, features=20, spread=6.0))
Fix safety
    Unsafe: fewer epochs, dropout or a smaller model make another training.
Sources
    {paper}. The release fires at the first epoch in which the one loss rises and the other does not, which
    noise alone brings about; here the rise must last three epochs and come to a tenth of the loss.
"""

from reenact.probe.trace import Trace
from reenact.rules import Evidence, Findings, Needs, Rule

PATIENCE, RISE = 3, 1.1


class Overfitting(Rule):
    code, name, family, fault = "UM011", "overfitting", "umlaut", None
    needs, confidence = Needs.TRACE, 0.7
    why = "What is still learned helps on the training rows only."

    def check(self, evidence: Evidence) -> Findings:
        held, trained = _loss_curves(evidence.watched)
        if len(held) <= PATIENCE:
            return
        best = held.index(min(held))
        since = len(held) - 1 - best
        rose = since >= PATIENCE and min(held[-PATIENCE:]) > RISE * held[best] > 0
        if rose and trained[-1] < trained[best]:
            saw = f"validation loss {held[best]:.3g} -> {held[-1]:.3g} in the last {since} epochs"
            saw += f", training loss {trained[best]:.3g} -> {trained[-1]:.3g}"
            yield self.finding(evidence, saw)


def _loss_curves(trace: Trace) -> tuple[list[float], list[float]]:
    """Validation losses, and the mean loss of the steps since the validation before."""
    seen, losses = trace.metric("val_loss").known, trace.losses.known
    held, trained, before = [], [], -1
    for step, value in zip(seen.steps, seen.values, strict=True):
        steps = losses.values[(losses.steps > before) & (losses.steps <= step)]
        if len(steps):
            held.append(float(value))
            trained.append(float(steps.mean()))
            before = int(step)
    return held, trained
