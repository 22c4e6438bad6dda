"""DL003 unchanged-layer-output

What
    The output of a layer has the same mean, deviation, smallest and largest value in the last five steps
    looked at, or more, and the loss has not fallen to half. The tool looks at every batch, this rule at
    every sampled step.
Why
    If the weights move, the output moves.
Symptom
    The predictions are the same after every step.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(spread=3.0))
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model[2].parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.Adam(model[2].parameters(), lr=0.01)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    None is offered: the tool names the layer and the phase, not a cause.
Sources
    {paper}. Third symptom. The release compares means alone, which a softmax never changes, and tests any
    five batches; here the tensor must be still to the end of the run, in a model that has not learned.
"""

from reenact.rules import Evidence, Findings, LayerView, Needs, Rule, Severity
from reenact.rules.measured import STILL, behind_weights, first_found, learned, output_rows, still_since


class UnchangedLayerOutput(Rule):
    code, name, family, fault = "DL003", "unchanged-layer-output", "deeplocalize", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.8
    why = "An output that never changes belongs to weights that never change."

    def check(self, evidence: Evidence) -> Findings:
        if not learned(evidence):
            symptom = ("output unchanged to the end", self.confidence, _still)
            yield from first_found(self, evidence, behind_weights(evidence), symptom)


def _still(evidence: Evidence, layer: LayerView) -> int | None:
    rows = output_rows(evidence, layer)
    return None if len(rows) and rows["mean_abs"][-1] == 0 else still_since(rows, STILL["output"])
