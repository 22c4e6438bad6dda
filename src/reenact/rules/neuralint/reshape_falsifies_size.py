"""NL021 reshape-falsifies-size

What
    A reshape asks for another number of values than there are.
Why
    A reshape only rearranges the same values. A size counted by hand is wrong as soon as a layer
    before it changes.
Symptom
    The program ends in its first step with a message about an invalid shape.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import images

    x, y = map(torch.from_numpy, images())
    model = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x.reshape(200, 60)), y).backward()
        optimizer.step()
Instead
    -     nn.functional.cross_entropy(model(x.reshape(200, 60)), y).backward()
    +     nn.functional.cross_entropy(model(x.reshape(200, 64)), y).backward()
Fix safety
    Unsafe: only the author knows which layout is meant.
Sources
    {paper}, f021 of the release. A reshape that changes the number of rows shows as batch-mismatch.
"""

import re

from reenact.rules import Certainty, Evidence, Findings, Needs, Rule, Severity

FALSIFIED = re.compile(
    r"(?i)is invalid for input of size|total size of (the )?(tensor|new array) must be unchanged"
    r"|cannot reshape|don't multiply up to the size"
)


class ReshapeFalsifiesSize(Rule):
    code, name, family, fault = "NL021", "reshape-falsifies-size", "neuralint", None
    needs, severity, confidence, certainty = Needs.CRASH, Severity.ERROR, 0.95, Certainty.PROOF
    why = "A reshape can neither add nor lose values."

    def check(self, evidence: Evidence) -> Findings:
        crash = evidence.crash
        if crash is None or crash.facts.own or not FALSIFIED.search(crash.message):
            return
        saw = f"the reshape failed: {crash.message.splitlines()[0][:160]}"
        yield self.finding(evidence, saw, place=crash.layer_place or crash.place)
