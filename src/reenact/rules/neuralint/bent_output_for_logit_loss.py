"""NL015 bent-output-for-logit-loss

What
    The loss bends logits itself, and the output is bent already; or the number of outputs does not fit
    that loss.
Why
    A softmax over a softmax is nearly flat: probabilities of three classes end between 0.21 and 0.58, and
    gradients are weak. A cross-entropy over one class is zero whatever the weights.
Symptom
    The loss stops well above zero although the accuracy rises; or it is zero from the start.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3), nn.Softmax(dim=1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3), nn.Softmax(dim=1))
    + model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
Fix safety
    Unsafe: outputs become logits; code that reads them as probabilities needs the function there.
Sources
    {paper}, f015 of the release. A `LogSoftmax` before `CrossEntropyLoss` is superfluous and harmless, and
    not reported.
"""

from dataclasses import replace

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule, Severity
from reenact.rules.losses import LossFamily, Wanted
from reenact.rules.neuralint._output import SQUASHING, output_of
from reenact.rules.own._made import bend_made


class BentOutputForLogitLoss(Rule):
    code, name, family, fault = "NL015", "bent-output-for-logit-loss", "neuralint", Fault.AAL
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.92, Certainty.STRONG
    why = "The loss applies the function itself, so that it is applied twice."

    def check(self, evidence: Evidence) -> Findings:
        out = output_of(evidence)
        if out is None or evidence.wanted_output is not Wanted.LOGITS:
            return
        if out.bend is not None and out.bend != "log_softmax":
            confidence = self.confidence if out.bend in SQUASHING else 0.75
            saw = f"{evidence.loss_name} takes logits and is given a {out.bend} of {out.layer.name}"
            found = self.finding(evidence, saw, layer=out.layer, kind=Kind.ACTIVATION, values=("linear",))
            certain = Certainty.PROOF if out.bend == "softmax" else self.certainty
            written = bend_made(evidence, found.place, out.bend) if found.hyperparameter is None else None
            yield replace(found, confidence=confidence, certainty=certain, place=written or found.place)
        compared = evidence.loss.compared if evidence.loss is not None else None
        listed = compared is not None and len(compared[0]) > 1 and compared[0][1] > 1
        if evidence.loss_family is LossFamily.CATEGORICAL and out.width == 1 and not listed:
            saw = f"{evidence.loss_name} over a single output of {out.layer.name}"
            yield self.finding(evidence, saw, layer=out.layer, kind=Kind.UNITS, values=(2,), fault=Fault.LCN)
