"""CR01 shape-mismatch

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

import re

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
from reenact.faults.facts.crash_advice import shape_advice
from reenact.probe.crash_kind import CrashKind

FALSIFIED = re.compile(
    r"(?i)is invalid for input of size|total size of (the )?(tensor|new array) must be unchanged"
    r"|cannot reshape|don't multiply up to the size"
)
FAULT = Fault(
    code="CR01",
    name="shape-mismatch",
    category=Category.CRASH,
    page=__doc__,
)


@FAULT.detector(
    "RE901",
    "shape-mismatch",
    "reenact",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="The shapes of these tensors do not go together.",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def shape_mismatch(detector: Detector, evidence: Evidence) -> Findings:
    """A layer or an operation was given a tensor of a shape that it cannot take.

    Wu et al., "An Empirical Study of Shape Faults in Deep Learning Programs", 2021; Jahangirova and
    Tonella, ICST 2020.
    """
    why = shape_advice(evidence.crash) if evidence.crash is not None else ""
    yield from crashed(detector, evidence, CrashKind.SHAPE, why=why)


@FAULT.detector(
    "NL021",
    "reshape-falsifies-size",
    "neuralint",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="A reshape can neither add nor lose values.",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
)
def reshape_falsifies_size(detector: Detector, evidence: Evidence) -> Findings:
    """A reshape asks for another number of values than there are.

    {paper}, f021 of the release. A reshape that changes the number of rows shows as batch-mismatch.
    """
    crash = evidence.crash
    if crash is None or crash.facts.own or not FALSIFIED.search(crash.message):
        return
    saw = f"the reshape failed: {crash.message.splitlines()[0][:160]}"
    yield detector.finding(
        evidence,
        saw,
        place=crash.layer_place or crash.place,
    )
