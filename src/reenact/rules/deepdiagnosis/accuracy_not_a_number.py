"""DD008 accuracy-not-a-number

What
    The accuracy that the program computes is NaN or infinite, or, for classes, zero at the end.
Why
    A training that nobody can judge may as well have failed.
Symptom
    The accuracy is printed as `nan` or as zero.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        print("accuracy", (model(x).amax(1) == y).float().mean().item())
Instead
    -     print("accuracy", (model(x).amax(1) == y).float().mean().item())
    +     print("accuracy", (model(x).argmax(1) == y).float().mean().item())
Fix safety
    Unsafe: whatever the tree suggests makes another training.
Sources
    {paper}. Symptom "invalid accuracy"; the release also calls the first zero of a long training invalid, and
    the accuracy of a regression.
"""

import math

from reenact.rules import Evidence, Findings, Needs, Rule, TaskType
from reenact.rules.deepdiagnosis._advice import for_invalid, report


class AccuracyNotANumber(Rule):
    code, name, family, fault = "DD008", "accuracy-not-a-number", "deepdiagnosis", None
    needs, confidence = Needs.TRACE, 0.7
    why = "A training that nobody can judge may as well have failed."

    def check(self, evidence: Evidence) -> Findings:
        values = evidence.watched.metric("accuracy").values.tolist()
        wrong = next((value for value in values if not math.isfinite(value)), None)
        classes = evidence.task in (TaskType.BINARY, TaskType.MULTI_CLASS)
        if wrong is None and not (classes and values[-1:] == [0]):
            return
        saw = f"accuracy {wrong if wrong is not None else 0}"
        yield report(self, evidence, saw, for_invalid(evidence, None))
