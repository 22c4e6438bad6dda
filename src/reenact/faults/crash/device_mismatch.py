"""CR04 device-mismatch

What
    Tensors on two devices meet: the model was moved and the data was not, or the reverse.
Why
    The operands of a computation must be on the same device; call .to(device).
Symptom
    The program ends with an exception that speaks of devices.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).to("meta")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
Instead
    - model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).to("meta")
    + model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
Fix safety
    Safe: move what was forgotten.
Sources
    Documentation of torch.nn.Module.to.
"""

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.crash import crashed
from reenact.faults.fixes.crashes import one_device
from reenact.faults.fixes.drafting import with_fixes
from reenact.probe.crash_kind import CrashKind

FAULT = Fault(
    code="CR04",
    name="device-mismatch",
    category=Category.CRASH,
    page=__doc__,
)


@FAULT.detector(
    "RE904",
    "device-mismatch",
    "reenact",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="Tensors are on different devices: move both with .to(device).",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def device_mismatch(detector: Detector, evidence: Evidence) -> Findings:
    """Tensors on two devices meet: the model was moved and the data was not, or the reverse.

    Documentation of torch.nn.Module.to.
    """
    for finding in crashed(detector, evidence, CrashKind.DEVICE):
        yield with_fixes(finding, one_device(evidence))
