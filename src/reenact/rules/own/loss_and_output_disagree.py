"""RE001 loss-and-output-disagree

What
    What comes out of the last layer is not what the loss is made for: a softmax over a single unit, no
    softmax before a categorical cross-entropy, numbers outside 0..1 before a binary one, something that
    is no log-probability before a negative log-likelihood or a KL divergence.
Why
    A loss is a formula with a domain. Outside of it the value has no meaning, and its gradient points
    nowhere useful. A loss that takes raw scores (PyTorch's CrossEntropyLoss, from_logits=True) wants none
    of this, and is left alone.
Symptom
    The accuracy stays where guessing would be, or the loss is NaN or negative.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3), nn.Softmax(dim=1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.nll_loss(model(x), y).backward()
        optimizer.step()
Instead
    - model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3), nn.Softmax(dim=1))
    + model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3), nn.LogSoftmax(dim=1))
Fix safety
    Unsafe: it changes what is trained.
Sources
    Documentation of the losses of PyTorch and Keras; Humbatova et al., "Taxonomy of Real Faults in Deep
    Learning Systems", ICSE 2020 (wrong activation, missing activation).
"""

import ast
import re
from typing import Any

from reenact.program.read.index import FileIndex
from reenact.rules import Evidence, Fault, Findings, JsonValue, Kind, Needs, Rule, TaskType
from reenact.rules.finding import Certainty, Finding, Severity
from reenact.rules.losses import LossFamily, Wanted
from reenact.rules.own._lines import calls, place_in, value_of
from reenact.rules.own._model import adds_up_to_one, is_probability, left_open, seen_outside
from reenact.rules.own._parts import called

BENT = frozenset({"relu", "sigmoid", "tanh", "elu", "selu", "leaky_relu", "softplus"})


class LossAndOutputDisagree(Rule):
    code, name, family, fault = "RE001", "loss-and-output-disagree", "reenact", Fault.ACH
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.9, Certainty.STRONG
    why = "Outside its domain a loss has no meaning and its gradient no direction."

    def check(self, evidence: Evidence) -> Findings:
        for index, call in calls(evidence):
            made = value_of(index, call.args[0]) if call.args and _takes_logarithms(index, call) else None
            if called(made) == "softmax":
                saw = f"{ast.unparse(call.args[0])[:40]} is a softmax, {called(call)} wants log_softmax"
                yield self.finding(evidence, saw, place=place_in(index, call), certainty=Certainty.PROOF)
        output = evidence.output
        if output is None or output.family not in ("dense", "conv") or left_open(evidence):
            return
        activation, wanted, loss = evidence.last_activation, evidence.wanted_output, evidence.loss_family
        regression = evidence.task is TaskType.REGRESSION and loss is LossFamily.REGRESSION
        if activation == "softmax" and output.width == 1 and output.family == "dense":
            numbers = evidence.task is TaskType.REGRESSION
            numbers = numbers or (evidence.task is TaskType.UNKNOWN and loss is LossFamily.REGRESSION)
            values = ("linear",) if numbers else ("sigmoid", "linear")
            saw = "softmax over one unit is always 1"
            yield self._mismatch(evidence, saw, values, 0.97, certainty=Certainty.PROOF)
        elif wanted is Wanted.SOFTMAX and activation != "softmax" and (output.width or 0) > 1:
            yield from self._no_softmax(evidence, activation)
        elif wanted is Wanted.SIGMOID and activation != "sigmoid" and not is_probability(evidence):
            yield from self._no_sigmoid(evidence, activation)
        elif wanted is Wanted.LOG_SOFTMAX and activation not in ("log_softmax", "logsigmoid"):
            yield self._mismatch(evidence, _saw(evidence, activation), ("log_softmax",), 0.85)
        elif wanted is Wanted.LOGITS and activation in BENT and loss is LossFamily.CATEGORICAL:
            sure = 0.5 if activation in ("tanh", "sigmoid") else 0.8
            yield self._mismatch(evidence, _saw(evidence, activation), ("linear",), sure, fault=Fault.AAL)
        elif activation == "softmax" and regression and not evidence.compares_wider:
            yield self._mismatch(evidence, "softmax before a regression", ("linear",), 0.8)

    def _no_softmax(self, evidence: Evidence, activation: str | None) -> Findings:
        if adds_up_to_one(evidence) or evidence.task in (TaskType.REGRESSION, TaskType.MULTI_LABEL):
            return
        sure, certainty = (0.65, None) if activation == "sigmoid" else (0.9, _proven(evidence))
        yield self._mismatch(evidence, _saw(evidence, activation), ("softmax",), sure, certainty=certainty)

    def _no_sigmoid(self, evidence: Evidence, activation: str | None) -> Findings:
        if activation in ("softmax", "hard_sigmoid"):
            if activation == "softmax" and evidence.task is TaskType.MULTI_LABEL:
                yield self._mismatch(evidence, _saw(evidence, activation), ("sigmoid",), 0.85)
            return
        saw = _saw(evidence, activation)
        yield self._mismatch(evidence, saw, ("sigmoid",), 0.9, certainty=_proven(evidence))

    def _mismatch(
        self, evidence: Evidence, saw: str, values: tuple[JsonValue, ...], sure: float, **more: Any
    ) -> Finding:
        missing = evidence.last_activation in (None, "linear")
        more = {"fault": Fault.ARM if missing else Fault.ACH, "kind": Kind.ACTIVATION, **more}
        return self.finding(evidence, saw, layer=evidence.output, values=values, confidence=sure, **more)


def _takes_logarithms(index: FileIndex, call: ast.Call) -> bool:
    """Whether a call compares logarithms of probabilities: `F.kl_div`, a `KLDivLoss`."""
    if called(call) == "kl_div":
        return True
    made = rf"\b{re.escape(called(call))} = (?:torch\.)?(?:nn\.)?KLDivLoss"
    return bool(called(call)) and "KLDivLoss" in index.text and re.search(made, index.text) is not None


def _saw(evidence: Evidence, activation: str | None) -> str:
    before = f"{activation or 'no activation'} before {evidence.loss_name}"
    return f"{before}, which wants {evidence.wanted_output}"


def _proven(evidence: Evidence) -> Certainty | None:
    """What was computed says more than what is written."""
    return Certainty.PROOF if seen_outside(evidence) else None
