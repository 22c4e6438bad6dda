"""AT008 abnormal-data

What
    The inputs are not scaled, and the first layer with weights gives numbers of ten or more on average;
    or the inputs hold NaN.
Why
    Large inputs make large outputs and gradients: activations saturate and steps overshoot.
Symptom
    The loss begins very high, or does not move.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    raw = 1000 * x + 300
    x = raw
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - x = raw
    + x = (raw - raw.mean(0)) / raw.std(0)
Fix safety
    Unsafe: the repair makes another training.
Sources
    The extension of AutoTrainer (Zhang, Zhai, Ma and Shen, ICSE 2021) in its released monitor. It judges
    any hidden output of ten or more; here the inputs must be the reason. Inputs count as scaled in -1..1,
    with a mean near zero and a deviation near one, or behind a layer that scales them.
"""

from dataclasses import replace

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule, Severity
from reenact.rules.measured import among, inputs_scaled, output_rows
from reenact.rules.own._label_place import inputs_made_at

LARGEST_OUTPUT = 10.0
SURE = 0.95


class AbnormalData(Rule):
    code, name, family, fault = "AT008", "abnormal-data", "autotrainer", Fault.CPP
    needs, severity, confidence = Needs.GRAPH | Needs.TRACE, Severity.ERROR, 0.75
    why = "Inputs far from one make activations saturate and steps overshoot."

    def check(self, evidence: Evidence) -> Findings:
        facts, first = evidence.inputs, next(iter(evidence.weighted), None)
        if facts is None or first is None:
            return
        values = among(evidence, Kind.PREPROCESSING, ("standardize", "scale"))
        if facts.nan_share > 0:
            saw = f"{facts.nan_share:.2%} of the input values are NaN"
            yield self.finding(evidence, saw, kind=Kind.PREPROCESSING, confidence=SURE)
            return
        sizes = output_rows(evidence, first)["mean_abs"]
        if inputs_scaled(evidence) is False and len(sizes) and sizes[0] >= LARGEST_OUTPUT:
            saw = f"inputs from {facts.minimum:.4g} to {facts.maximum:.4g}"
            saw += f", output of layer {first.name} {sizes[0]:.4g} on average"
            found = self.finding(evidence, saw, kind=Kind.PREPROCESSING, values=values)
            made = inputs_made_at(evidence)
            yield replace(found, place=made) if made is not None else found
