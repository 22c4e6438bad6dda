"""RE046 dropout-misuse

What
    `F.dropout` without `training=self.training`: it drops in evaluation mode as well.
Why
    The function does not know the mode of the model; its default is to drop.
Symptom
    Every evaluation gives another result, below what the model can do.
Example
    import torch
    import torch.nn.functional as F
    from torch import nn
    from reenact.testing.toys import blobs

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(8, 32)
            self.head = nn.Linear(32, 3)

        def forward(self, x):
            return self.head(F.dropout(F.relu(self.body(x)), 0.2))

    x, y = map(torch.from_numpy, blobs())
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(40):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    -         return self.head(F.dropout(F.relu(self.body(x)), 0.2))
    +         return self.head(F.dropout(F.relu(self.body(x)), 0.2, training=self.training))
Fix safety
    Unsafe: it changes the results of evaluations.
Sources
    Documentation of torch.nn.functional.dropout (`training` is True).
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Needs, Place, Rule, Severity
from reenact.rules.own._lines import called, indexes, place_in

MOVED = 1e-3


class DropoutMisuse(Rule):
    code, name, family, fault = "RE046", "dropout-misuse", "reenact", Fault.MOD
    needs = Needs.SOURCE
    severity = Severity.ERROR
    confidence = 0.9
    certainty = Certainty.STRONG
    why = "The function drops in evaluation mode too, unless it is given the mode of the model."

    def check(self, evidence: Evidence) -> Findings:
        noise = [tested.noise for tested in evidence.experiments.behaviour if tested.noise is not None]
        if noise and max(noise) < MOVED:
            return
        place = _always_on(evidence)
        if place is not None:
            seen = "; two evaluations of the same rows differ" if noise else ""
            yield self.finding(evidence, f"F.dropout is not given training=self.training{seen}", place=place)


def _always_on(evidence: Evidence) -> Place | None:
    """A functional dropout in a method that says nothing of the mode, or says True."""
    for index in indexes(evidence):
        for call in index.calls:
            owner = getattr(getattr(call.func, "value", None), "id", "") or getattr(
                getattr(call.func, "value", None), "attr", ""
            )
            function = called(call).startswith("dropout") and owner in ("F", "functional")
            given = len(call.args) > 2 or any(keyword.arg == "training" for keyword in call.keywords)
            if function and not given and len(call.args) >= 1:
                return place_in(index, call)
    return None
