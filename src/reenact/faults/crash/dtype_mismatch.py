"""CR03 dtype-mismatch

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

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.crash import crashed
from reenact.faults.facts.crash_advice import dtype_advice
from reenact.faults.fixes.crashes import one_type
from reenact.faults.fixes.drafting import with_fixes
from reenact.probe.crash_kind import CrashKind

FAULT = Fault(
    code="CR03",
    name="dtype-mismatch",
    category=Category.CRASH,
    page=__doc__,
)


@FAULT.detector(
    "RE903",
    "dtype-mismatch",
    "reenact",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="PyTorch does not convert types by itself, and NumPy makes doubles by default.",
    study=FaultType.CPP,
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def dtype_mismatch(detector: Detector, evidence: Evidence) -> Findings:
    """Numbers of two types meet: doubles from NumPy and the floats of a model, floats where whole
    numbers belong, objects where numbers belong.

    Documentation of torch.Tensor.to and of keras.backend.floatx.
    """
    why = dtype_advice(evidence.crash) if evidence.crash is not None else ""
    for finding in crashed(detector, evidence, CrashKind.DTYPE, why=why):
        yield with_fixes(finding, one_type(evidence))
