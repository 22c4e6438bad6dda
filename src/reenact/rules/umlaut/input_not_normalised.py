"""UM001 input-not-normalised

What
    Inputs reach beyond -1 to 1 and are not standardised either.
Why
    Weights start with a size that suits inputs around zero of about one. Grey values to 255 or prices to
    a million make the first activations, and so the first gradients, as many times larger.
Symptom
    The loss starts very high, jumps or becomes NaN; units die in the first steps.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    x = 128 + 60 * x
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
      x = 128 + 60 * x
    + x = (x - x.mean(0)) / x.std(0)
Fix safety
    Unsafe: the data changes, and with it what is learned; do the same to data that comes later.
Sources
    {paper}. The release complains of every value beyond -1 to 1, also of data scaled to mean 0 and deviation
    1; that is fine here, and so are inputs that an embedding looks up or that the model scales itself.
"""

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule, TensorFacts
from reenact.rules.umlaut._data import reads_symbols, scales_itself, training_inputs

FAR = 10.0


class InputNotNormalised(Rule):
    code, name, family, fault = "UM001", "input-not-normalised", "umlaut", Fault.CPP
    needs = Needs.GRAPH
    why = "Layers start with weights that suit inputs near zero of about one."

    def check(self, evidence: Evidence) -> Findings:
        if evidence.optimizers > 1 or reads_symbols(evidence) or scales_itself(evidence):
            return
        for facts in training_inputs(evidence):
            saw = _unscaled(facts)
            if saw:
                kind, values = Kind.PREPROCESSING, ("standardize", "scale")
                # A range of a few units seldom hurts.
                sure = 0.75 if max(abs(facts.mean or 0.0), facts.std or 0.0) >= FAR else 0.4
                yield self.finding(evidence, saw, kind=kind, values=values, confidence=sure)
                return


def _unscaled(facts: TensorFacts) -> str:
    low, high, mean, std = facts.minimum, facts.maximum, facts.mean, facts.std
    if low is None or high is None or mean is None or std is None or (low >= -1 and high <= 1):
        return ""
    if abs(mean) <= 1 and std <= 2:
        return ""
    return f"inputs from {low:g} to {high:g}, mean {mean:.3g}, deviation {std:.3g}"
