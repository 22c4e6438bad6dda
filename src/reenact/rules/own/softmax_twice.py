"""RE002 softmax-twice

What
    The model ends in softmax (or sigmoid), and the loss applies it again.
Why
    CrossEntropyLoss, BCEWithLogitsLoss and losses with from_logits=True take raw scores. A softmax of a
    softmax is nearly flat: with ten classes no probability can exceed 0.24, the loss cannot come near
    zero and gradients are small.
Symptom
    Training works, slowly, and the loss stops at a value that is too high for its accuracy.
Example
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3), nn.Softmax(dim=1))
    loss_of = nn.CrossEntropyLoss()
Instead
    - model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3), nn.Softmax(dim=1))
    + model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
Fix safety
    Unsafe: it changes what is trained. Code that reads probabilities off the model must apply the softmax
    itself afterwards.
Sources
    Documentation of torch.nn.CrossEntropyLoss and of keras.losses (from_logits).
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule, Severity
from reenact.rules.losses import LossFamily, Wanted
from reenact.rules.own._model import reads_logits

TWICE = {LossFamily.CATEGORICAL: "softmax", LossFamily.BINARY: "sigmoid"}


class SoftmaxTwice(Rule):
    code, name, family, fault = "RE002", "softmax-twice", "reenact", Fault.AAL
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.9, Certainty.STRONG
    why = "The loss applies it itself; twice makes every answer nearly equal and its gradient small."

    def check(self, evidence: Evidence) -> Findings:
        output, loss = evidence.output, evidence.loss_family
        if output is None or loss is None or evidence.last_activation != TWICE.get(loss, ""):
            return
        wants_logits = evidence.wanted_output is Wanted.LOGITS
        if not wants_logits and not reads_logits(evidence):
            return
        saw = f"{evidence.last_activation} before {evidence.loss_name}, which applies it again"
        kind, certain = Kind.ACTIVATION, Certainty.PROOF if wants_logits else None
        yield self.finding(evidence, saw, layer=output, kind=kind, values=("linear",), certainty=certain)
