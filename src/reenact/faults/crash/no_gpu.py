"""CR09 no-gpu

What
    The program asks torch for a GPU, and torch has none.
Why
    This torch was built without CUDA, or the machine has no GPU or no driver that it can use.
Symptom
    The program ends in `torch.cuda` when the model or the data is moved.
Example
    import os

    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import torch
    from torch import nn

    device = "cuda"
    model = nn.Linear(8, 3).to(device)
Instead
    - device = "cuda"
    + device = "cuda" if torch.cuda.is_available() else "cpu"
Fix safety
    Safe: the device is chosen by what there is.
Sources
    Documentation of torch.cuda.is_available.
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
from reenact.faults.facts.crash import command, crashed
from reenact.probe.crash import CudaFacts
from reenact.probe.crash_kind import CrashKind

CHOICE = 'device = "cuda" if torch.cuda.is_available() else "cpu"'
FAULT = Fault(
    code="CR09",
    name="no-gpu",
    category=Category.CRASH,
    page=__doc__,
)


@FAULT.detector(
    "RE909",
    "no-gpu",
    "reenact",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="torch has no GPU to compute on.",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def no_gpu(detector: Detector, evidence: Evidence) -> Findings:
    """The program asks torch for a GPU, and torch has none.

    Documentation of torch.cuda.is_available.
    """
    crash = evidence.crash
    if crash is None:
        return
    facts = crash.facts
    if facts.device is not None and facts.device.asked != "cuda":
        why = f"This torch has no device {facts.device.asked!r} here. Use {CHOICE}"
    else:
        loads = facts.inner is not None and facts.inner.module == "torch.serialization"
        use = 'torch.load(..., map_location="cpu")' if loads else CHOICE
        other = command(evidence, "--python PATH")
        why = f"{_reason(facts.cuda)} Use {use}, or an interpreter whose torch has CUDA: {other}"
    yield from crashed(detector, evidence, CrashKind.NO_GPU, why=why)


def _reason(cuda: CudaFacts | None) -> str:
    if cuda is None or not cuda.build:
        return "This torch was built without CUDA."
    return f"This torch was built for CUDA {cuda.build}, and finds no GPU or no driver here."
