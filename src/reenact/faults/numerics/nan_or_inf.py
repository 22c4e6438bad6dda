"""NU01 nan-or-inf

What
    The loss is infinite or not a number in one of the first steps, or a gradient scaler finds infinite
    gradients in every step and lets the optimizer take none.
Why
    So early it comes from the data or the formula, not from the learning rate: a division by zero, a
    logarithm of zero, a number too large for half precision, missing values.
Symptom
    NaN from the beginning.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    weight = 1 / torch.arange(0, 1, 0.25)
    for epoch in range(60):
        optimizer.zero_grad()
        loss = (weight[torch.randint(4, (len(x), 1))] * (model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
Instead
    - weight = 1 / torch.arange(0, 1, 0.25)
    + weight = 1 / torch.arange(1, 2, 0.25)
Fix safety
    There is nothing to change automatically: the first number that is not finite has to be found.
Sources
    Documentation of torch.autograd.detect_anomaly; Micikevicius et al., "Mixed Precision Training", ICLR
    2018 (range of half precision).
"""

import math

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Kind,
    LayerView,
    Needs,
    Observes,
    Place,
    Severity,
    TaskType,
)
from reenact.faults.facts.advice import for_gradients, for_invalid, for_numbers, report
from reenact.faults.facts.measured import (
    Symptom,
    bad,
    behind_weights,
    first_found,
    first_hit,
    first_invalid_loss,
    kernel_rows,
    loss_halved,
    output_rows,
    still,
    still_since,
    zero,
)
from reenact.program.syntax.lines import call_place
from reenact.program.training.made import loss_made

FEW_SKIPPED = 20
"""Skipped steps that no search for a scale explains."""
FIRST = 3
"""Steps within which no learning rate has had time to spoil the weights."""
ACCURACIES = ("accuracy", "val_accuracy", "test_accuracy")
FAULT = Fault(
    code="NU01",
    name="nan-or-inf",
    category=Category.NUMERICS,
    page=__doc__,
)


@FAULT.detector(
    "RE045",
    "non-finite-at-start",
    "reenact",
    needs=Needs.GRAPH,
    observes=Observes.OUTPUTS,
    why="No learning rate can spoil the first loss: it comes from the data or from the formula.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def non_finite_at_start(detector: Detector, evidence: Evidence) -> Findings:
    """The loss is infinite or not a number in one of the first steps, or a gradient scaler finds
    infinite gradients in every step and lets the optimizer take none.

    Documentation of torch.autograd.detect_anomaly; Micikevicius et al., "Mixed Precision Training",
    ICLR 2018 (range of half precision).
    """
    steps = evidence.watched.steps
    skipped = evidence.watched.happened("step-skipped")
    if len(skipped) >= FEW_SKIPPED and len(skipped) > len(steps):
        saw = (
            f"the scaler skipped {len(skipped)} steps for infinite gradients, {len(steps)} were "
            f"taken"
        )
        place = (
            evidence.non_finite_at or call_place(evidence.files, "autocast") or _place(evidence, "")
        )
        yield detector.finding(evidence, saw, place=place)
        return
    losses, went = (steps[name][: FIRST + 2].tolist() for name in ("loss", "backward_calls"))
    known = any(math.isfinite(loss) for loss in steps["loss"]) or any(map(math.isinf, losses))
    bad = [
        step
        for step, loss in enumerate(losses[:FIRST])
        if not math.isfinite(loss) and went[step] > 0
    ]
    layer = _first_bad(evidence, bad[0]) if bad else ""
    if not bad or not (known or layer):
        return
    where = f", first in the output of layer {layer}" if layer else ""
    saw = f"the loss of step {bad[0] + 1} is {losses[bad[0]]}{where}"
    yield detector.finding(
        evidence,
        saw,
        place=evidence.non_finite_at or _place(evidence, layer),
    )


@FAULT.detector(
    "DL006",
    "invalid-loss",
    "deeplocalize",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="A loss that is no number gives no gradient.",
    severity=Severity.ERROR,
    confidence=0.97,
)
def invalid_loss(detector: Detector, evidence: Evidence) -> Findings:
    """The loss of a training step is NaN or infinite.

    {paper}. Sixth symptom.
    """
    step = first_invalid_loss(evidence)
    if step is not None:
        yield detector.finding(
            evidence,
            f"loss NaN or infinite at step {step}",
            step=step,
        )


@FAULT.detector(
    "DD006",
    "loss-not-a-number",
    "deepdiagnosis",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="A loss that is no number gives no gradient.",
    severity=Severity.ERROR,
    confidence=0.95,
)
def loss_not_a_number(detector: Detector, evidence: Evidence) -> Findings:
    """The loss of a training step is NaN or infinite.

    {paper}. Symptom "invalid loss".
    """
    step = first_invalid_loss(evidence)
    if step is not None:
        advice = for_invalid(evidence, step)
        yield report(
            detector,
            evidence,
            f"loss NaN or infinite at step {step}",
            advice,
            step,
        )


@FAULT.detector(
    "DL008",
    "invalid-accuracy",
    "deeplocalize",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="An accuracy that is no number says nothing about the training.",
    confidence=0.8,
)
def invalid_accuracy(detector: Detector, evidence: Evidence) -> Findings:
    """The accuracy that the program computes is NaN or infinite.

    {paper}. Eighth symptom; the release reads the log entry `acc` alone.
    """
    for metric in evidence.watched.metrics:
        if metric.name in ACCURACIES and not math.isfinite(metric.value):
            saw = f"{metric.name} {metric.value} after {metric.step} steps"
            yield detector.finding(evidence, saw, step=metric.step)
            return


@FAULT.detector(
    "DD008",
    "accuracy-not-a-number",
    "deepdiagnosis",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="A training that nobody can judge may as well have failed.",
    confidence=0.7,
)
def accuracy_not_a_number(detector: Detector, evidence: Evidence) -> Findings:
    """The accuracy that the program computes is NaN or infinite, or, for classes, zero at the end.

    {paper}. Symptom "invalid accuracy"; the release also calls the first zero of a long training
    invalid, and the accuracy of a regression.
    """
    values = evidence.watched.metric("accuracy").values.tolist()
    wrong = next(
        (value for value in values if not math.isfinite(value)),
        None,
    )
    classes = evidence.task in (TaskType.BINARY, TaskType.MULTI_CLASS)
    if wrong is None and not (classes and values[-1:] == [0]):
        return
    saw = f"accuracy {wrong if wrong is not None else 0}"
    yield report(detector, evidence, saw, for_invalid(evidence, None))


@FAULT.detector(
    "DL001",
    "non-finite-layer-output",
    "deeplocalize",
    needs=Needs.TRACE,
    observes=Observes.OUTPUTS,
    why="A value that is no number spreads to the loss and to all weights.",
    severity=Severity.ERROR,
    confidence=0.95,
)
def non_finite_layer_output(detector: Detector, evidence: Evidence) -> Findings:
    """The output of a layer holds NaN or infinite values in a training step. The tool looks at
    every batch, this rule at every sampled step.

    {paper}. First symptom of its algorithm; the release tests the mean of the tensor, which is bad
    when one value is.
    """
    symptom = (
        "output NaN or infinite",
        detector.confidence,
        bad(output_rows, "bad_share"),
    )
    yield from first_found(detector, evidence, evidence.layers, symptom)


@FAULT.detector(
    "DD002",
    "numerical-error-forward",
    "deepdiagnosis",
    needs=Needs.TRACE,
    observes=Observes.OUTPUTS,
    why="NaN or all-zero outputs are passed on to every later layer.",
    severity=Severity.ERROR,
    confidence=0.9,
)
def numerical_error_forward(detector: Detector, evidence: Evidence) -> Findings:
    """The output of a layer holds NaN or infinite values, or is all zero in at least half of the
    steps looked at. The tool looks at the end of every epoch on one batch, this rule at the sampled
    steps.

    {paper}. Symptom "numerical problem"; zero means all values, not their mean.
    """
    wrong = (
        "output NaN or infinite",
        detector.confidence,
        bad(output_rows, "bad_share"),
    )
    empty = ("output all zero", detector.confidence, zero(output_rows, "mean_abs"))
    hit = first_hit(evidence, behind_weights(evidence), wrong, empty)
    if hit is not None:
        yield report(
            detector,
            evidence,
            hit.saw,
            for_numbers(evidence, hit.layer, hit.step),
            hit.step,
        )


@FAULT.detector(
    "DL004",
    "broken-weights",
    "deeplocalize",
    needs=Needs.TRACE,
    observes=Observes.WEIGHTS,
    why="Weights that are no numbers, or stay zero, learn nothing.",
    severity=Severity.ERROR,
    confidence=0.95,
)
def broken_weights(detector: Detector, evidence: Evidence) -> Findings:
    """The weights of a layer hold NaN or infinite values, or are all zero in at least half of the
    steps looked at. The tool looks at every batch, this rule at every sampled step.

    {paper}. Fourth symptom, layers from back to front. Zero means that all weights are, not that
    their mean is.
    """
    wrong = (
        "weights NaN or infinite",
        detector.confidence,
        bad(kernel_rows, "weight_bad_share"),
    )
    empty = ("weights all zero", 0.8, zero(kernel_rows, "weight_mean_abs"))
    yield from first_found(
        detector,
        evidence,
        reversed(evidence.weighted),
        wrong,
        empty,
    )


@FAULT.detector(
    "DD011",
    "numerical-error-weights",
    "deepdiagnosis",
    needs=Needs.TRACE,
    observes=Observes.WEIGHTS,
    why="Weights that are no numbers, or get no gradient, do not learn.",
    severity=Severity.ERROR,
    confidence=0.9,
)
def numerical_error_weights(detector: Detector, evidence: Evidence) -> Findings:
    """The weights of a layer, or their gradient, hold NaN or infinite values, or are all zero in at
    least half of the steps looked at. Zero counts only while the loss has not fallen to half. The
    tool looks at the end of every epoch on one batch, this rule at the sampled steps.

    {paper}. Symptoms "numerical error in weights" and "in delta weights", layers from back to
    front; zero means all values, not their mean.
    """
    layers = evidence.weighted[::-1]
    weights = first_hit(evidence, layers, *_broken(detector, evidence, "weights", "weight"))
    slope = first_hit(evidence, layers, *_broken(detector, evidence, "gradient", "grad"))
    if weights is not None and (slope is None or weights.step <= slope.step):
        advice = for_numbers(evidence, weights.layer, weights.step)
        yield report(detector, evidence, weights.saw, advice, weights.step)
    elif slope is not None:
        advice = for_gradients(evidence, slope.layer)
        yield report(detector, evidence, slope.saw, advice, slope.step)


@FAULT.detector(
    "DL010",
    "broken-weight-gradient",
    "deeplocalize",
    needs=Needs.TRACE,
    observes=Observes.GRADIENTS,
    why="Without a usable gradient a layer cannot learn.",
    severity=Severity.ERROR,
    confidence=0.95,
)
def broken_weight_gradient(detector: Detector, evidence: Evidence) -> Findings:
    """The gradient of a layer's weights holds NaN or infinite values; or is zero in at least half
    of the steps looked at; or is the same in the last five. The last two count only while the loss
    has not fallen to half. The tool looks at every batch, this rule at every sampled step.

    {paper}. Tenth symptom, layers from back to front. The release looks at layers named `dense` and
    at means alone.
    """
    symptoms = [
        (
            "weight gradient NaN or infinite",
            detector.confidence,
            bad(kernel_rows, "grad_bad_share"),
        )
    ]
    if not loss_halved(evidence):
        symptoms.append(("weight gradient zero", 0.85, zero(kernel_rows, "grad_mean_abs")))
        symptoms.append(("weight gradient unchanged", 0.7, still(kernel_rows, "gradient")))
    yield from first_found(
        detector,
        evidence,
        reversed(evidence.weighted),
        *symptoms,
    )


@FAULT.detector(
    "DL011",
    "broken-output-gradient",
    "deeplocalize",
    needs=Needs.TRACE,
    observes=Observes.GRADIENTS,
    why="What does not come back to a layer does not reach those before it.",
    severity=Severity.ERROR,
    confidence=0.95,
)
def broken_output_gradient(detector: Detector, evidence: Evidence) -> Findings:
    """The gradient that comes back to a layer's output holds NaN or infinite values; or is zero in
    at least half of the steps looked at; or is the same in the last five. The last two count only
    while the loss has not fallen to half. The tool looks at every batch, this rule at every sampled
    step.

    {paper}. Eleventh symptom, layers from back to front. That it is the same is not asked of the
    output layer: absolute errors and critics of adversarial networks have a constant gradient
    there.
    """
    inner = behind_weights(evidence)
    if evidence.output in inner:
        inner = inner[: inner.index(evidence.output)]

    def still(at: Evidence, layer: LayerView) -> int | None:
        columns = ("grad_mean", "grad_mean_abs")
        if layer in inner:
            return still_since(output_rows(at, layer), columns)
        return None

    symptoms = [
        (
            "output gradient NaN or infinite",
            detector.confidence,
            bad(output_rows, "grad_bad_share"),
        )
    ]
    if not loss_halved(evidence):
        symptoms.append(("output gradient zero", 0.8, zero(output_rows, "grad_mean_abs")))
        symptoms.append(("output gradient unchanged", 0.6, still))
    yield from first_found(
        detector,
        evidence,
        reversed(evidence.layers),
        *symptoms,
    )


def _broken(
    detector: Detector,
    evidence: Evidence,
    what: str,
    column: str,
) -> list[Symptom]:
    """Weights or gradients that are no numbers; or zero, where the training is not over."""
    sure = detector.confidence
    symptoms: list[Symptom] = [
        (f"{what} NaN or infinite", sure, bad(kernel_rows, f"{column}_bad_share"))
    ]
    if not loss_halved(evidence):
        symptoms.append((f"{what} all zero", sure, zero(kernel_rows, f"{column}_mean_abs")))
    return symptoms


def _first_bad(evidence: Evidence, last: int) -> str:
    """The first layer whose output is not finite, up to the step whose loss is not."""
    rows = evidence.watched.layers
    bad = rows["layer"][(rows["bad_share"] > 0) & (rows["step"] <= last)]
    if not len(bad):
        return ""
    return evidence.watched.layer_names[int(bad[0])]


def _place(evidence: Evidence, layer: str) -> Place | None:
    made = next(
        (one.place for one in evidence.layers if layer and one.name == layer),
        None,
    )
    made = made or (evidence.loss.place if evidence.loss is not None else None)
    return (
        made
        or loss_made(evidence.files, call_place(evidence.files, "backward"))
        or evidence.place_of(Kind.LOSS)
    )
