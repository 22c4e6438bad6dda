"""OU02 softmax-before-cross-entropy

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

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    LossFamily,
    Needs,
    Observes,
    Severity,
    Wanted,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.facts.model import reads_logits
from reenact.faults.facts.output_layer import SQUASHING, bends, output_of
from reenact.faults.fixes.losses import scores_for_loss
from reenact.program.training.made import bend_made

TWICE = {LossFamily.CATEGORICAL: "softmax", LossFamily.BINARY: "sigmoid"}
FAULT = Fault(
    code="OU02",
    name="softmax-before-cross-entropy",
    category=Category.OUTPUT,
    page=__doc__,
)


@FAULT.detector(
    "RE002",
    "softmax-twice",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The loss applies it itself; twice makes every answer nearly equal and its gradient small.",
    study=FaultType.AAL,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def softmax_twice(detector: Detector, evidence: Evidence) -> Findings:
    """The model ends in softmax (or sigmoid), and the loss applies it again.

    Documentation of torch.nn.CrossEntropyLoss and of keras.losses (from_logits).
    """
    output = evidence.output
    loss = evidence.loss_family
    if output is None or loss is None or evidence.last_activation != TWICE.get(loss, ""):
        return
    wants_logits = evidence.wanted_output is Wanted.LOGITS
    if not wants_logits and not reads_logits(evidence):
        return
    saw = f"{evidence.last_activation} before {evidence.loss_name}, which applies it again"
    kind = Kind.ACTIVATION
    certain = Certainty.PROOF if wants_logits else None
    yield detector.finding(
        evidence,
        saw,
        layer=output,
        kind=kind,
        values=("linear",),
        certainty=certain,
    )


@FAULT.detector(
    "NL015",
    "activation-before-logit-loss",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The loss applies this function already: remove yours, or it is applied twice.",
    study=FaultType.AAL,
    severity=Severity.ERROR,
    confidence=0.92,
    certainty=Certainty.STRONG,
)
def bent_output_for_logit_loss(detector: Detector, evidence: Evidence) -> Findings:
    """The loss bends logits itself, and the output is bent already; or the number of outputs does
    not fit that loss.

    {paper}, f015 of the release. A `LogSoftmax` before `CrossEntropyLoss` is superfluous and
    harmless, and not reported.
    """
    out = output_of(evidence)
    if out is None or evidence.wanted_output is not Wanted.LOGITS:
        return
    if out.bend is not None and out.bend != "log_softmax":
        saw = f"{evidence.loss_name} takes logits and is given a {out.bend} of {out.layer.name}"
        written = evidence.hyperparameter(Kind.ACTIVATION, out.layer) is not None
        yield detector.finding(
            evidence,
            saw,
            layer=out.layer,
            kind=Kind.ACTIVATION,
            values=("linear",),
            confidence=None if out.bend in SQUASHING else 0.75,
            certainty=Certainty.PROOF if out.bend == "softmax" else None,
            place=None if written else bend_made(evidence.files, out.layer.place, out.bend),
        )
    compared = evidence.loss.compared if evidence.loss is not None else None
    listed = compared is not None and len(compared[0]) > 1 and compared[0][1] > 1
    if evidence.loss_family is LossFamily.CATEGORICAL and out.width == 1 and not listed:
        saw = f"{evidence.loss_name} over a single output of {out.layer.name}"
        yield detector.finding(
            evidence,
            saw,
            layer=out.layer,
            kind=Kind.UNITS,
            values=(2,),
            study=FaultType.LCN,
        )


@FAULT.detector(
    "UM009",
    "double-activation",
    "umlaut",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The first function takes away what the softmax needs to tell classes apart.",
    study=FaultType.AAL,
    confidence=0.85,
    certainty=Certainty.STRONG,
)
def output_bent_twice(detector: Detector, evidence: Evidence) -> Findings:
    """The last layer has an activation in front of a softmax, written or inside the loss.

    {paper}. The release complains of any activation of the last layer, also of the sigmoid or
    softmax that the loss asks for.
    """
    out = output_of(evidence)
    if out is None:
        return
    words = list(bends(evidence, out.layer))
    if evidence.wanted_output is Wanted.LOGITS and words:
        words.append("the one in the loss")
    if len(words) < 2 or words[0] == "log_softmax" or evidence.loss_family is LossFamily.REGRESSION:
        return
    if words[-1] not in ("softmax", "log_softmax", "the one in the loss"):
        return
    saw = f"{' and then '.join(words[-2:])} behind {out.layer.name}"
    yield detector.finding(
        evidence,
        saw,
        layer=out.layer,
        kind=Kind.ACTIVATION,
        values=("linear",),
    )


@FAULT.detector(
    "RE143",
    "given-probabilities",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.OUTPUTS,
    why="The loss applies it itself; twice makes every answer nearly equal and its gradient small.",
    study=FaultType.AAL,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def given_probabilities(detector: Detector, evidence: Evidence) -> Findings:
    """By the numbers themselves: a loss that takes scores is given probabilities.

    Documentation of torch.nn.CrossEntropyLoss ("input ... unnormalized logits").
    """
    fixes = scores_for_loss(evidence)
    yield from imbalances(detector, evidence, evidence.output, fixes=lambda _: fixes)
