"""OU01 output-does-not-fit-loss

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

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Finding,
    Findings,
    JsonValue,
    Kind,
    LayerView,
    LossFamily,
    Needs,
    Observes,
    Severity,
    TaskType,
    Wanted,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.facts.measured import among, output_rows
from reenact.faults.facts.model import (
    adds_up_to_one,
    is_probability,
    left_open,
    seen_outside,
)
from reenact.faults.facts.output_layer import (
    Output,
    bends,
    lacks_sigmoid,
    lacks_softmax,
    output_of,
)
from reenact.faults.fixes.losses import logarithms_for_loss
from reenact.faults.fixes.outputs import logarithms_for_divergence
from reenact.program.flow.uses import objects_of, value_of
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.lines import calls
from reenact.program.syntax.pieces import called, is_call, place_of

BENT = frozenset({"relu", "sigmoid", "tanh", "elu", "selu", "leaky_relu", "softplus"})
NEARLY, SUM = 1e-4, 0.1
FAULT = Fault(
    code="OU01",
    name="output-does-not-fit-loss",
    category=Category.OUTPUT,
    page=__doc__,
)


@FAULT.detector(
    "RE001",
    "loss-and-output-disagree",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Outside its domain a loss has no meaning and its gradient no direction.",
    study=FaultType.ACH,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def loss_and_output_disagree(detector: Detector, evidence: Evidence) -> Findings:
    """What comes out of the last layer is not what the loss is made for: a softmax over a single
    unit, no softmax before a categorical cross-entropy, numbers outside 0..1 before a binary one,
    something that is no log-probability before a negative log-likelihood or a KL divergence.

    Documentation of the losses of PyTorch and Keras; Humbatova et al., "Taxonomy of Real Faults in
    Deep Learning Systems", ICSE 2020 (wrong activation, missing activation).
    """
    yield from _softmax_for_logarithms(detector, evidence)
    output = evidence.output
    if output is None or output.family not in ("dense", "conv") or left_open(evidence):
        return
    activation = evidence.last_activation
    wanted = evidence.wanted_output
    loss = evidence.loss_family
    regression = evidence.task is TaskType.REGRESSION
    if activation == "softmax" and output.width == 1 and output.family == "dense":
        unknown = evidence.task is TaskType.UNKNOWN and loss is LossFamily.REGRESSION
        values = ("linear",) if regression or unknown else ("sigmoid", "linear")
        saw = "softmax over one unit is always 1"
        yield _mismatch(
            detector,
            evidence,
            values,
            0.97,
            saw=saw,
            certainty=Certainty.PROOF,
        )
    elif wanted is Wanted.SOFTMAX and activation != "softmax" and (output.width or 0) > 1:
        yield from _no_softmax(detector, evidence)
    elif wanted is Wanted.SIGMOID and activation != "sigmoid" and not is_probability(evidence):
        yield from _no_sigmoid(detector, evidence)
    elif wanted is Wanted.LOG_SOFTMAX and activation not in ("log_softmax", "logsigmoid"):
        yield _mismatch(detector, evidence, ("log_softmax",), 0.85)
    elif wanted is Wanted.LOGITS and activation in BENT and loss is LossFamily.CATEGORICAL:
        sure = 0.5 if activation in ("tanh", "sigmoid") else 0.8
        yield _mismatch(
            detector,
            evidence,
            ("linear",),
            sure,
            study=FaultType.AAL,
        )
    elif activation == "softmax" and _compares_quantities(evidence):
        saw = "softmax before a regression"
        yield _mismatch(detector, evidence, ("linear",), 0.8, saw=saw)


@FAULT.detector(
    "NL020",
    "wrong-output-for-loss",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The loss reads the output as probabilities, which this function does not give.",
    study=FaultType.ACH,
    severity=Severity.ERROR,
    confidence=0.85,
    certainty=Certainty.STRONG,
)
def wrong_output_for_loss(detector: Detector, evidence: Evidence) -> Findings:
    """The loss is over probabilities, and the output is bent by another function than the one that
    makes them; or the number of outputs does not fit the loss.

    {paper}, f020 of the release. The release also blames several sigmoid outputs under a binary
    loss, which is right for labels of several columns and is left alone here.
    """
    out = output_of(evidence)
    wanted = evidence.wanted_output
    if out is None or out.bend is None:
        return
    if wanted is Wanted.SIGMOID:
        yield from _binary(detector, evidence, out)
    elif wanted is Wanted.SOFTMAX and out.width == 1:
        saw = f"{evidence.loss_name} over a single output of {out.layer.name}"
        loss = ("binary_crossentropy",)
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.LOSS,
            values=loss,
            study=FaultType.LCH,
        )
    elif wanted in (Wanted.SOFTMAX, Wanted.LOG_SOFTMAX) and out.bend != wanted.value:
        yield _bend(detector, evidence, out, wanted.value)


@FAULT.detector(
    "NL008",
    "missing-softmax-output",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The loss wants probabilities that add up to one, and gets plain numbers.",
    study=FaultType.ARM,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def missing_softmax_output(detector: Detector, evidence: Evidence) -> Findings:
    """A classifier is trained with a cross-entropy over probabilities, and its output is no
    softmax.

    {paper}, f008 of the release. Losses that bend logits themselves (`from_logits=True`,
    `CrossEntropyLoss`) are fine as they are, and so is a softmax that stands as a layer or function
    of its own.
    """
    out = output_of(evidence)
    if out is None or not lacks_softmax(evidence, out):
        return
    over = f"{evidence.loss_name} over {out.width or 'some'} outputs of {out.layer.name}"
    wanted = evidence.wanted_output.value
    yield _activation(
        detector,
        evidence,
        out.layer,
        f"{over} without a softmax",
        wanted,
    )


@FAULT.detector(
    "NL012",
    "missing-sigmoid",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The loss wants a probability, and gets any number.",
    study=FaultType.ARM,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def missing_sigmoid(detector: Detector, evidence: Evidence) -> Findings:
    """A yes-or-no classifier is trained with a binary cross-entropy over probabilities, and its
    output is no sigmoid.

    {paper}, f012 of the release. Losses that take logits are left alone.
    """
    out = output_of(evidence)
    if out is not None and lacks_sigmoid(evidence, out):
        saw = f"{evidence.loss_name} over the output of {out.layer.name} without a sigmoid"
        yield _activation(detector, evidence, out.layer, saw, "sigmoid")


@FAULT.detector(
    "UM007",
    "missing-softmax",
    "umlaut",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The loss takes logarithms of probabilities, and the outputs are not probabilities.",
    study=FaultType.ARM,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def missing_softmax(detector: Detector, evidence: Evidence) -> Findings:
    """A classifier ends without a softmax, and its loss takes probabilities.

    {paper}. The release looks for the word in the name of the last layer, and so complains of
    nearly every model that has a softmax, of sigmoid classifiers and of regressions; here loss,
    task and last function are looked at.
    """
    out = output_of(evidence)
    if out is None or not lacks_softmax(evidence, out):
        return
    saw = f"the last layer {out.layer.name} gives plain numbers to {evidence.loss_name}"
    yield _activation(
        detector,
        evidence,
        out.layer,
        saw,
        evidence.wanted_output.value,
    )


@FAULT.detector(
    "NL017",
    "softmax-over-one-unit",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="A softmax over a single unit is one whatever the weights are.",
    study=FaultType.ACH,
    severity=Severity.ERROR,
    confidence=0.97,
    certainty=Certainty.PROOF,
)
def softmax_over_one_unit(detector: Detector, evidence: Evidence) -> Findings:
    """The output layer has one unit and a softmax.

    {paper}, f017 of the release.
    """
    for layer in evidence.layers:
        if layer.role != "output" or layer.family != "dense" or layer.width != 1:
            continue
        words = bends(evidence, layer)
        if words and words[-1] in ("softmax", "log_softmax"):
            values = ("linear",) if evidence.task is TaskType.REGRESSION else ("sigmoid", "linear")
            saw = f"{words[-1]} over the one unit of {layer.name}"
            yield _activation(detector, evidence, layer, saw, *values)


@FAULT.detector(
    "AT006",
    "improper-activation",
    "autotrainer",
    needs=Needs.GRAPH,
    observes=Observes.GRAPH,
    why="The loss compares something that is no probability.",
    study=FaultType.ACH,
    severity=Severity.ERROR,
    confidence=0.85,
    certainty=Certainty.STRONG,
)
def improper_activation(detector: Detector, evidence: Evidence) -> Findings:
    """The activation of the last layer is not what the loss wants: a cross-entropy of probabilities
    without a softmax, or a binary one without a sigmoid; or one that the loss applies itself is
    there a second time; or it is a softmax over a single output.

    The extension of AutoTrainer (Zhang, Zhai, Ma and Shen, ICSE 2021) in its released monitor. It
    asks for a linear output under every mean error; sigmoids there are left to the range of the
    labels (DD001). Two outputs under a binary loss may have a softmax. An output that was measured
    to be what the loss wants is never reported, whatever its activation is called.
    """
    output = evidence.output
    has = evidence.last_activation or "linear"
    if output is None or output.family not in ("dense", "conv"):
        return
    numbers = evidence.task in (TaskType.UNKNOWN, TaskType.REGRESSION)
    wanted = evidence.wanted_output
    name = wanted.value
    study = FaultType.ACH
    saw = f"{has} at the output of layer {output.name} under {evidence.loss_name}"
    if has == "softmax" and output.width == 1:
        saw = f"softmax over the single output of layer {output.name}, which is one for every input"
        name = "linear" if numbers else "sigmoid"
    elif numbers or wanted is Wanted.ANY:
        return
    elif wanted is Wanted.LOGITS:
        if has not in ("softmax", "sigmoid"):
            return
        saw = f"{has} at the output of layer {output.name}, but {evidence.loss_name} takes logits"
        name = "linear"
        study = FaultType.AAL
    elif has == wanted.value or _fits(evidence, wanted, output, has):
        return
    values = among(evidence, Kind.ACTIVATION, (name,), output)
    yield detector.finding(
        evidence,
        saw,
        layer=output,
        kind=Kind.ACTIVATION,
        values=values,
        study=study,
    )


@FAULT.detector(
    "RE142",
    "outside-the-formula",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.OUTPUTS,
    why="Outside its domain a loss has no meaning and its gradient no direction.",
    study=FaultType.ACH,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def outside_the_formula(detector: Detector, evidence: Evidence) -> Findings:
    """By the numbers themselves: a loss of a known family is given what its formula does not take.

    Documentation of torch.nn.KLDivLoss ("input ... expected to be in the log-space").
    """
    fixes = logarithms_for_loss(evidence)
    yield from imbalances(detector, evidence, fixes=lambda _: fixes)


def _softmax_for_logarithms(detector: Detector, evidence: Evidence) -> Findings:
    """A softmax that is given to `F.kl_div`, or to a `KLDivLoss`, which compare logarithms."""
    for call in calls(evidence.files):
        if call.args and is_call(value_of(call.args[0]), "softmax") and _takes_logarithms(call):
            saw = f"{excerpt(call.args[0], 40)} is a softmax, {called(call)} wants log_softmax"
            yield detector.finding(
                evidence,
                saw,
                fixes=logarithms_for_divergence(evidence, place_of(call)),
                place=place_of(call),
                certainty=Certainty.PROOF,
            )


def _takes_logarithms(call: ast.Call) -> bool:
    return called(call) == "kl_div" or bool(objects_of(call.func, "KLDivLoss"))


def _compares_quantities(evidence: Evidence) -> bool:
    regression = evidence.task is TaskType.REGRESSION
    loss = evidence.loss_family is LossFamily.REGRESSION
    return regression and loss and not evidence.compares_wider


def _proven(evidence: Evidence) -> Certainty | None:
    """What was computed says more than what is written."""
    return Certainty.PROOF if seen_outside(evidence) else None


def _no_softmax(detector: Detector, evidence: Evidence) -> Findings:
    several = evidence.task in (TaskType.REGRESSION, TaskType.MULTI_LABEL)
    if not several and not adds_up_to_one(evidence):
        if evidence.last_activation == "sigmoid":
            yield _mismatch(detector, evidence, ("softmax",), 0.65)
        else:
            yield _mismatch(
                detector,
                evidence,
                ("softmax",),
                0.9,
                certainty=_proven(evidence),
            )


def _no_sigmoid(detector: Detector, evidence: Evidence) -> Findings:
    activation = evidence.last_activation
    if activation not in ("softmax", "hard_sigmoid"):
        yield _mismatch(
            detector,
            evidence,
            ("sigmoid",),
            0.9,
            certainty=_proven(evidence),
        )
    elif activation == "softmax" and evidence.task is TaskType.MULTI_LABEL:
        yield _mismatch(detector, evidence, ("sigmoid",), 0.85)


def _mismatch(
    detector: Detector,
    evidence: Evidence,
    values: tuple[JsonValue, ...],
    sure: float,
    *,
    saw: str = "",
    study: FaultType | None = None,
    certainty: Certainty | None = None,
) -> Finding:
    activation = evidence.last_activation
    missing = activation in (None, "linear")
    before = f"{activation or 'no activation'} before {evidence.loss_name}"
    return detector.finding(
        evidence,
        saw or f"{before}, which wants {evidence.wanted_output}",
        layer=evidence.output,
        kind=Kind.ACTIVATION,
        values=values,
        study=study or (FaultType.ARM if missing else FaultType.ACH),
        confidence=sure,
        certainty=certainty,
    )


def _binary(detector: Detector, evidence: Evidence, out: Output) -> Findings:
    if out.bend in ("sigmoid", "hard_sigmoid", "hardsigmoid"):
        return
    if out.bend != "softmax":
        yield _bend(detector, evidence, out, "sigmoid")
    elif out.width is not None and out.width > 1:
        saw = f"{evidence.loss_name} over a softmax of {out.width} classes"
        sure = 0.75 if out.width > 2 else 0.35
        loss = ("categorical_crossentropy",)
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.LOSS,
            values=loss,
            study=FaultType.LCH,
            confidence=sure,
        )


def _bend(
    detector: Detector,
    evidence: Evidence,
    out: Output,
    word: str,
) -> Finding:
    saw = f"{evidence.loss_name} is given a {out.bend} of {out.layer.name}"
    return _activation(detector, evidence, out.layer, saw, word)


def _activation(
    detector: Detector,
    evidence: Evidence,
    layer: LayerView,
    saw: str,
    *values: str,
) -> Finding:
    """The finding at the activation of a layer, with what to put there."""
    return detector.finding(
        evidence,
        saw,
        layer=layer,
        kind=Kind.ACTIVATION,
        values=values,
    )


def _fits(
    evidence: Evidence,
    wanted: Wanted,
    output: LayerView,
    has: str,
) -> bool:
    """Whether an output does what is wanted under another name."""
    if evidence.task is TaskType.MULTI_LABEL and has == "sigmoid":
        return True
    if wanted is Wanted.SIGMOID and has == "softmax":
        return output.width != 1
    seen = [rows for layer in evidence.layers if len(rows := output_rows(evidence, layer))]
    if not seen:
        return False
    low = seen[-1]["minimum"]
    high = seen[-1]["maximum"]
    sums = seen[-1]["row_sum"]
    if wanted is Wanted.LOG_SOFTMAX:
        return has == "linear" and bool((high <= NEARLY).all())
    inside = bool((low >= -NEARLY).all() and (high <= 1 + NEARLY).all())
    if wanted is Wanted.SIGMOID:
        return inside and has == "linear"
    known = sums[sums == sums]
    return inside and len(known) > 0 and bool((abs(known - 1) < SUM).all())
