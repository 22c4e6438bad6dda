"""RE909 no-gpu

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

from reenact.probe.crash import CudaFacts
from reenact.rules import Evidence, Findings
from reenact.rules.own._crash import CrashRule, command
from reenact.rules.own._crash_kind import CrashKind

CHOICE = 'device = "cuda" if torch.cuda.is_available() else "cpu"'


class NoGpu(CrashRule):
    code, name, family = "RE909", "no-gpu", "reenact"
    kind = CrashKind.NO_GPU
    why = "torch has no GPU to compute on."

    def check(self, evidence: Evidence) -> Findings:
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
        yield from self.crashed(evidence, why=why)


def _reason(cuda: CudaFacts | None) -> str:
    if cuda is None or not cuda.build:
        return "This torch was built without CUDA."
    return f"This torch was built for CUDA {cuda.build}, and finds no GPU or no driver here."
