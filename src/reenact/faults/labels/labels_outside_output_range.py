"""LA01 labels-outside-output-range

What
    Labels that the loss is not defined for (beyond 0..1 for a binary cross-entropy, a class number as
    large as the output is wide), or that the last activation can never give (negative after relu, above 1
    after sigmoid).
Why
    What cannot be reached is never learned; a logarithm beyond its domain turns the sign of the loss.
Symptom
    A negative loss, one that stops at a high value, or predictions stuck at the end of their range.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1), nn.Sigmoid())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
Instead
    - model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1), nn.Sigmoid())
    + model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
Fix safety
    Unsafe: it changes what is trained.
Sources
    DeepDiagnosis (out of range), Wardat et al., ICSE 2022; documentation of the losses.
"""

import math

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
    TensorFacts,
    Wanted,
)
from reenact.faults.facts.advice import bare_output, report
from reenact.faults.facts.measured import among, softmax_of_classes
from reenact.faults.facts.places import OF_QUANTITIES
from reenact.program.flow.library_uses import uses
from reenact.program.training.rows.origins import labels_made_at

TARGET_RANGES = {
    "sigmoid": (0.0, 1.0),
    "tanh": (-1.0, 1.0),
    "relu": (0.0, float("inf")),
    "softmax": (0.0, 1.0),
}
QUANTITIES = (*OF_QUANTITIES, "gaussian_nll_loss", "GaussianNLLLoss")
CLASSES = ("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss")
"""How PyTorch calls losses of quantities and of classes: the labels that were seen may be of
one of them.
"""
FAR = 0.1
"""Share of the range of targets that lies out of reach where that is proven: one outlier is not."""
LOW = {
    "relu": 0,
    "softplus": 0,
    "elu": -1,
    "silu": -0.2785,
    "swish": -0.2785,
    "gelu": -0.17,
    "mish": -0.3089,
}
OUTPUT_RANGES = {
    "sigmoid": (0.0, 1.0),
    "softmax": (0.0, 1.0),
    "tanh": (-1.0, 1.0),
    **{name: (low, math.inf) for name, low in LOW.items()},
}
NEARLY = 1e-3
FAULT = Fault(
    code="LA01",
    name="labels-outside-output-range",
    category=Category.LABELS,
    page=__doc__,
)


@FAULT.detector(
    "RE004",
    "labels-out-of-domain",
    "reenact",
    needs=Needs.GRAPH,
    observes=Observes.DATA,
    why="A model cannot learn values that its output cannot take or its loss does not know.",
    study=FaultType.CPP,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def labels_out_of_domain(detector: Detector, evidence: Evidence) -> Findings:
    """Labels that the loss is not defined for (beyond 0..1 for a binary cross-entropy, a class
    number as large as the output is wide), or that the last activation can never give (negative
    after relu, above 1 after sigmoid).

    DeepDiagnosis (out of range), Wardat et al., ICSE 2022; documentation of the losses.
    """
    labels = evidence.labels
    if labels is None or labels.minimum is None or labels.maximum is None:
        return
    if evidence.several_outputs and uses(evidence.files, *QUANTITIES) and not labels.integral:
        return  # They are the quantities of another head.
    low = labels.minimum
    high = labels.maximum
    family = evidence.loss_family
    seen = f"labels from {low:g} to {high:g}"
    if family is LossFamily.BINARY and (low < -1e-3 or high > 1 + 1e-3):
        made = labels_made_at(evidence.files)
        loss = evidence.place_of(Kind.LOSS)
        where = f" at line {loss.line}" if made is not None and loss is not None else ""
        saw = f"{seen} for {evidence.loss_name}{where}"
        # Where several optimizers learn, or a head of its own, the labels may be those of another
        # loss.
        others = evidence.optimizers > 1 or uses(evidence.files, *QUANTITIES, *CLASSES)
        sure = Certainty.HINT if others else Certainty.PROOF
        yield detector.finding(
            evidence,
            saw,
            kind=None if made else Kind.LOSS,
            place=made,
            certainty=sure,
        )
    elif family is LossFamily.CATEGORICAL and no_class_numbers(evidence):
        saw = f"{seen}, not whole, where {evidence.loss_name} wants class numbers"
        # PyTorch refuses them, so that its loss was given others; Keras cuts them off without a
        # word.
        cut = evidence.loss_name == "sparse_categorical_crossentropy" and evidence.optimizers < 2
        sure = Certainty.PROOF if cut and not evidence.several_outputs else detector.certainty
        yield detector.finding(
            evidence,
            saw,
            place=labels_made_at(evidence.files),
            certainty=sure,
        )
    elif family is LossFamily.CATEGORICAL and not labels.one_hot and labels.class_values:
        yield from _classes(detector, evidence, labels.class_values)
    elif family is LossFamily.REGRESSION and not labels.one_hot:
        yield from _unreachable(detector, evidence, labels, low, high)


@FAULT.detector(
    "DD001",
    "labels-out-of-output-range",
    "deepdiagnosis",
    needs=Needs.GRAPH,
    observes=Observes.OUTPUTS,
    why="A prediction that cannot reach its target leaves a loss that no training removes.",
    severity=Severity.ERROR,
    confidence=0.85,
    certainty=Certainty.STRONG,
)
def labels_out_of_output_range(detector: Detector, evidence: Evidence) -> Findings:
    """Labels lie where the activation of the last layer cannot reach: outside 0..1 for a sigmoid,
    outside -1..1 for a tanh, below 0 for a ReLU, below -1 for an ELU, below -0.28 for a SiLU. Or
    the loss compares probabilities of classes, and the output is linear or rectified.

    {paper}. Symptom "out of range". The release knows a softmax only as a layer of its own, so it
    fires on every Dense layer with activation="softmax", and always advises a softmax; here the
    loss decides what is wanted. Its test of the spread of a linear output is left out: such an
    output can reach any label.
    """
    advice = bare_output(evidence)
    if evidence.loss_family is LossFamily.CATEGORICAL:
        if advice is not None:
            yield report(detector, evidence, "output is not a distribution over classes", advice)
        return
    bounds = OUTPUT_RANGES.get(evidence.last_activation or "")
    labels = evidence.labels
    output = evidence.output
    if (
        bounds is None
        or labels is None
        or output is None
        or evidence.wanted_output is Wanted.LOGITS
    ):
        return
    if labels.minimum is None or labels.maximum is None or evidence.loss_family is LossFamily.OTHER:
        return
    if softmax_of_classes(evidence):
        return
    reached = labels.minimum >= bounds[0] - NEARLY and labels.maximum <= bounds[1] + NEARLY
    if reached or evidence.compares_wider:
        return
    gives = f"{evidence.last_activation}, which gives {bounds[0]:g} to {bounds[1]:g}"
    saw = f"labels from {labels.minimum:.4g} to {labels.maximum:.4g} under a {gives}"
    if evidence.loss_family is LossFamily.BINARY:
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.PREPROCESSING,
            study=FaultType.CPP,
        )
        return
    kind = Kind.ACTIVATION
    values = among(evidence, Kind.ACTIVATION, ("linear",), output)
    yield detector.finding(
        evidence,
        saw,
        layer=output,
        kind=kind,
        values=values,
        study=FaultType.ACH,
    )


def no_class_numbers(evidence: Evidence) -> bool:
    """The loss, the last activation and the width all speak of classes, but the labels are no class
    numbers: scaled along with the inputs, most often.
    """
    labels = evidence.labels
    output = evidence.output
    if labels is None or output is None or labels.integral or labels.one_hot:
        return False
    columns = math.prod(size or 1 for size in labels.shape[1:])
    classes = evidence.loss_name in (
        "sparse_categorical_crossentropy",
        "cross_entropy",
        "nll",
    )
    return classes and columns == 1 and (output.width or 1) > 2


def _classes_scored(evidence: Evidence) -> int | None:
    """How many classes the loss is given scores of: those of what it compared, else of the output.
    In a contrast each row of the batch is a class; of several heads nobody knows which one is
    compared.
    """
    compared = evidence.loss.compared if evidence.loss is not None else None
    if compared is not None and len(compared[0]) > 1:
        if evidence.loss_name in ("cross_entropy", "nll"):
            return compared[0][1]
        return compared[0][-1]
    heads = sum(layer.role == "output" for layer in evidence.layers)
    if evidence.output is not None and heads == 1:
        return evidence.output.width
    return None


def _classes(
    detector: Detector,
    evidence: Evidence,
    values: tuple[int, ...],
) -> Findings:
    width = _classes_scored(evidence)
    beyond = [value for value in values if value < 0 or (width or 10**9) <= value]
    if beyond and width and "int" in (evidence.labels.dtype if evidence.labels is not None else ""):
        saw = f"class {beyond[0]} where the output has {width} units"
        fault = FaultType.LCN if beyond[0] > 0 else FaultType.CPP
        # Torch ends a training with a label that is no class: where it went on, the loss was given
        # something else, as in a contrast or with one of several heads.
        went_on = (
            evidence.trace is not None and evidence.trace.step_count > 1 and evidence.crash is None
        )
        sure = Certainty.HINT if went_on and evidence.framework == "torch" else Certainty.PROOF
        yield detector.finding(
            evidence,
            saw,
            layer=evidence.output,
            study=fault,
            certainty=sure,
        )


def _unreachable(
    detector: Detector,
    evidence: Evidence,
    labels: TensorFacts,
    low: float,
    high: float,
) -> Findings:
    least, most = TARGET_RANGES.get(
        evidence.last_activation or "",
        (-float("inf"), float("inf")),
    )
    slack = 0.02 * max(high - low, 1e-6)
    if (low >= least - slack and high <= most + slack) or evidence.compares_wider:
        return
    if softmax_of_classes(evidence):
        return
    mean = labels.mean if labels.mean is not None else (low + high) / 2
    gives = f"{evidence.last_activation} gives {least:g} to {most:g}"
    saw = f"targets {low:.3g} to {high:.3g}, but {gives}"
    proven = max(least - low, high - most) > FAR * (high - low)
    yield detector.finding(
        evidence,
        saw,
        layer=evidence.output,
        kind=Kind.ACTIVATION,
        values=("linear",),
        study=FaultType.ACH,
        confidence=0.85 if least <= mean <= most else 0.95,
        certainty=Certainty.PROOF if proven else None,
    )
