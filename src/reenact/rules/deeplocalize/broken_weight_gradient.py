"""DL010 broken-weight-gradient

What
    The gradient of a layer's weights holds NaN or infinite values; or is zero in at least half of the
    steps looked at; or is the same in the last five. The last two count only while the loss has not
    fallen to half. The tool looks at every batch, this rule at every sampled step.
Why
    The gradient is all that the optimiser sees of the data.
Symptom
    The loss is NaN, or does not move.
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
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.0)
        optimizer.step()
Instead
    -     nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.0)
    +     nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
Fix safety
    None is offered: the tool names the layer and the phase, not a cause.
Sources
    {paper}. Tenth symptom, layers from back to front. The release looks at layers named `dense` and at means
    alone.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.measured import bad, first_found, kernel_rows, learned, still, zero


class BrokenWeightGradient(Rule):
    code, name, family, fault = "DL010", "broken-weight-gradient", "deeplocalize", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.95
    why = "Without a usable gradient a layer cannot learn."

    def check(self, evidence: Evidence) -> Findings:
        symptoms = [("weight gradient NaN or infinite", self.confidence, bad(kernel_rows, "grad_bad_share"))]
        if not learned(evidence):
            symptoms.append(("weight gradient zero", 0.85, zero(kernel_rows, "grad_mean_abs")))
            symptoms.append(("weight gradient unchanged", 0.7, still(kernel_rows, "gradient")))
        yield from first_found(self, evidence, reversed(evidence.weighted), *symptoms)
