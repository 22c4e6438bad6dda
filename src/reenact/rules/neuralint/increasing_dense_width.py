"""NL019 increasing-dense-width

What
    A hidden dense layer is wider than the hidden dense layer before it.
Why
    NeuraLint advises that the dense part of a classifier narrows towards its output.
Symptom
    None that can be relied on.
Example
    from torch import nn

    model = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 3))
Instead
    - model = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 3))
    + model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 3))
Fix safety
    Unsafe: the network becomes another one and must be trained again.
Sources
    {paper}, f019 of the release. Decoders and feed-forward parts of transformers widen on purpose.
"""

from itertools import pairwise

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule, Severity, Status


class IncreasingDenseWidth(Rule):
    code, name, family, fault = "NL019", "increasing-dense-width", "neuralint", Fault.LCN
    needs, status, severity, confidence = Needs.SOURCE, Status.PREVIEW, Severity.NOTE, 0.12
    why = "Dense layers usually narrow towards the output."

    def check(self, evidence: Evidence) -> Findings:
        hidden = [layer for layer in evidence.layers if layer.family == "dense" and layer.role == "hidden"]
        for first, second in pairwise(hidden):
            if first.width is not None and second.width is not None and second.width > first.width:
                saw = f"{second.name} has {second.width} units after {first.width} in {first.name}"
                yield self.finding(evidence, saw, layer=second, kind=Kind.UNITS, values=(first.width,))
