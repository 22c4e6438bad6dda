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

import ast

from reenact.rules import Certainty, Evidence, Fault, Findings, Needs, Rule, Severity
from reenact.rules.own._lines import calls, first_place
from reenact.rules.own._parts import called, last_word, options, owner_of

MOVED = 1e-3


class DropoutMisuse(Rule):
    code, name, family, fault = "RE046", "dropout-misuse", "reenact", Fault.MOD
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.9, Certainty.STRONG
    why = "The function drops in evaluation mode too, unless it is given the mode of the model."

    def check(self, evidence: Evidence) -> Findings:
        noise = [tested.noise for tested in evidence.experiments.behaviour if tested.noise is not None]
        if noise and max(noise) < MOVED:
            return
        place = first_place(one for one in calls(evidence) if _always_on(one[1]))
        if place is not None:
            seen = "; two evaluations of the same rows differ" if noise else ""
            yield self.finding(evidence, f"F.dropout is not given training=self.training{seen}", place=place)


def _always_on(call: ast.Call) -> bool:
    """A functional dropout that is not given the mode."""
    function = called(call).startswith("dropout") and last_word(owner_of(call)) in ("F", "functional")
    return function and 1 <= len(call.args) <= 2 and "training" not in options(call)
