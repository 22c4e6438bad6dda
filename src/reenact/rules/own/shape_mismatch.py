"""RE901 shape-mismatch

What
    A layer or an operation was given a tensor of a shape that it cannot take.
Why
    The width that a layer expects is fixed when it is made; what comes out of the layer before must have
    it.
Symptom
    The program ends with an exception in an operation on tensors whose shapes do not fit.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
Instead
    - model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(32, 3))
    + model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
Fix safety
    There is nothing to change automatically: the place says which layer got what.
Sources
    Wu et al., "An Empirical Study of Shape Faults in Deep Learning Programs", 2021; Jahangirova and
    Tonella, ICST 2020.
"""

from reenact.rules import Evidence, Findings
from reenact.rules.own._crash import CrashRule
from reenact.rules.own._crash_advice import shape_advice
from reenact.rules.own._crash_kind import CrashKind


class ShapeMismatch(CrashRule):
    code, name, family = "RE901", "shape-mismatch", "reenact"
    kind = CrashKind.SHAPE
    why = "The shapes of these tensors do not go together."

    def check(self, evidence: Evidence) -> Findings:
        why = shape_advice(evidence.crash) if evidence.crash is not None else ""
        yield from self.crashed(evidence, why=why)
