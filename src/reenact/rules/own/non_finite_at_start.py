"""RE045 non-finite-at-start

What
    The loss is infinite or not a number in one of the first steps, or a gradient scaler finds infinite
    gradients in every step and lets the optimizer take none.
Why
    So early it comes from the data or the formula, not from the learning rate: a division by zero, a
    logarithm of zero, a number too large for half precision, missing values.
Symptom
    NaN from the beginning.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    weight = 1 / torch.arange(0, 1, 0.25)
    for epoch in range(60):
        optimizer.zero_grad()
        loss = (weight[torch.randint(4, (len(x), 1))] * (model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
Instead
    - weight = 1 / torch.arange(0, 1, 0.25)
    + weight = 1 / torch.arange(1, 2, 0.25)
Fix safety
    There is nothing to change automatically: the first number that is not finite has to be found.
Sources
    Documentation of torch.autograd.detect_anomaly; Micikevicius et al., "Mixed Precision Training", ICLR
    2018 (range of half precision).
"""

import math

from reenact.rules import Culprit, Evidence, Findings, Kind, Needs, Place
from reenact.rules.own._lines import call_place
from reenact.rules.own._made import loss_made

FEW_SKIPPED = 20
"""Skipped steps that no search for a scale explains."""
FIRST = 3
"""Steps within which no learning rate has had time to spoil the weights."""


class NonFiniteAtStart(Culprit):
    code, name, family = "RE045", "non-finite-at-start", "reenact"
    needs = Needs.GRAPH
    why = "No learning rate can spoil the first loss: it comes from the data or from the formula."

    def check(self, evidence: Evidence) -> Findings:
        steps, skipped = evidence.watched.steps, evidence.watched.happened("step-skipped")
        if len(skipped) >= FEW_SKIPPED and len(skipped) > len(steps):
            saw = f"the scaler skipped {len(skipped)} steps for infinite gradients, {len(steps)} were taken"
            place = evidence.non_finite_at or call_place(evidence, "autocast") or _place(evidence, "")
            yield self.finding(evidence, saw, place=place)
            return
        losses, went = (steps[name][: FIRST + 2].tolist() for name in ("loss", "backward_calls"))
        known = any(math.isfinite(loss) for loss in steps["loss"]) or any(map(math.isinf, losses))
        bad = [at for at, loss in enumerate(losses[:FIRST]) if not math.isfinite(loss) and went[at] > 0]
        layer = _first_bad(evidence, bad[0]) if bad else ""
        if not bad or not (known or layer):
            return
        where = f", first in the output of layer {layer}" if layer else ""
        saw = f"the loss of step {bad[0] + 1} is {losses[bad[0]]}{where}"
        yield self.finding(evidence, saw, place=evidence.non_finite_at or _place(evidence, layer))


def _first_bad(evidence: Evidence, last: int) -> str:
    """The first layer whose output is not finite, up to the step whose loss is not."""
    rows = evidence.watched.layers
    bad = rows["layer"][(rows["bad_share"] > 0) & (rows["step"] <= last)]
    return evidence.watched.layer_names[int(bad[0])] if len(bad) else ""


def _place(evidence: Evidence, layer: str) -> Place | None:
    made = next((one.place for one in evidence.layers if layer and one.name == layer), None)
    made = made or (evidence.loss.place if evidence.loss is not None else None)
    return made or loss_made(evidence, call_place(evidence, "backward")) or evidence.place_of(Kind.LOSS)
