"""RE903 dtype-mismatch

What
    Numbers of two types meet: doubles from NumPy and the floats of a model, floats where whole numbers
    belong, objects where numbers belong.
Why
    NumPy makes 64-bit numbers, models hold 32-bit ones; PyTorch does not convert by itself.
Symptom
    The program ends with an exception that speaks of types.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    nn.functional.cross_entropy(model(x.double()), y).backward()
    optimizer.step()
Instead
    - nn.functional.cross_entropy(model(x.double()), y).backward()
    + nn.functional.cross_entropy(model(x), y).backward()
Fix safety
    Mostly safe: convert the data once, where it is read.
Sources
    Documentation of torch.Tensor.to and of keras.backend.floatx.
"""

from reenact.rules import Evidence, Fault, Findings
from reenact.rules.own._crash import CrashRule
from reenact.rules.own._crash_advice import dtype_advice
from reenact.rules.own._crash_kind import CrashKind


class DtypeMismatch(CrashRule):
    code, name, family = "RE903", "dtype-mismatch", "reenact"
    fault, kind = Fault.CPP, CrashKind.DTYPE
    why = "PyTorch does not convert types by itself, and NumPy makes doubles by default."

    def check(self, evidence: Evidence) -> Findings:
        why = dtype_advice(evidence.crash) if evidence.crash is not None else ""
        yield from self.crashed(evidence, why=why)
