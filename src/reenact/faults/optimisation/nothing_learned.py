"""OP16 nothing-learned

What
    At the end of training the loss is no better than that of an answer that never looks at the inputs:
    the shares of the classes, or the mean of the targets. Or, where nobody knows what such an answer
    scores, the labels of other rows fit the trained model as well as a row's own.
Why
    Any model that uses its inputs beats that; one that does not has a broken part.
Symptom
    The loss settles at the logarithm of the number of classes, or at the variance of the targets.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    x, y = x[torch.randperm(300)], y[torch.randperm(300)]
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(12):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - x, y = x[torch.randperm(300)], y[torch.randperm(300)]
    + rows = torch.randperm(300)
    + x, y = x[rows], y[rows]
Fix safety
    There is nothing to change here: look for the finding that explains it.
Sources
    Karpathy, "A Recipe for Training Neural Networks", 2019 (input-independent baseline).
"""

from itertools import pairwise
from statistics import fmean

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    Findings,
    LossFamily,
    Needs,
    Observes,
    Severity,
    TaskType,
)
from reenact.faults.facts.advice import for_no_progress, report
from reenact.faults.facts.constant_answer import no_gain_over_a_constant
from reenact.faults.facts.measured import (
    WINDOW,
    accuracies,
    epochs_of,
    loss_halved,
    still_since,
    stuck,
)
from reenact.faults.facts.series import (
    accuracy,
    finite,
    guessing,
    hardly_begun,
    learned,
    losses,
    windows,
)

LATE = 3
"""How many of the last twelfths of the run must agree."""
FEW_STEPS = 100
"""Steps that say nothing of a training which was ended before its time."""
FEW_ROWS = 32
"""Rows of a batch that tell labels of other rows from their own too seldom."""
ACCURATE, LEFT = 0.9, 0.3
ADDED = 0.01
"""Share of a plain loss by which the loss of the program differs, where it has other terms."""
ENOUGH, FEW_LEFT = 100, 0.95
"""Steps that should do; where there was no time for them, only a loss that stands still says
something.
"""
DOUBTED = 0.4
"""Confidence where the batch need not be memorised, or the training itself came to know its
rows.
"""
EPOCHS = 20
CHECKS, FALL = 6, 0.05
FAULT = Fault(
    code="OP16",
    name="nothing-learned",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE029",
    "learns-nothing",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="Any model that uses its inputs does better.",
    severity=Severity.ERROR,
    confidence=0.85,
)
def learns_nothing(detector: Detector, evidence: Evidence) -> Findings:
    """At the end of training the loss is no better than that of an answer that never looks at the
    inputs: the shares of the classes, or the mean of the targets. Or, where nobody knows what such
    an answer scores, the labels of other rows fit the trained model as well as a row's own.

    Karpathy, "A Recipe for Training Neural Networks", 2019 (input-independent baseline).
    """
    best = guessing(evidence)
    curve = windows(losses(evidence))
    if len(curve) < 2 * LATE or not evidence.compares or learned(evidence):
        return
    cut_short = evidence.was_cut_off and len(losses(evidence)) < FEW_STEPS
    if evidence.optimizers > 1 or hardly_begun(evidence) or cut_short:
        return
    score = accuracy(evidence)
    guess = evidence.majority
    if score is not None and guess is not None and score > guess + 0.1:
        return
    if best is not None and min(curve[-LATE:]) > 0.97 * best:
        saw = f"loss {curve[-1]:.3g} at the end; a constant prediction gives {best:.3g}"
        yield detector.finding(evidence, saw + _order(evidence))
    tested = evidence.experiments.permuted if best is None else None
    if tested is not None and tested.rows >= FEW_ROWS and tested.fit_as_well:
        saw = f"loss {tested.loss:.3g} on {tested.rows} rows after the training"
        saw += f"; with the labels of other rows {fmean(tested.permuted):.3g}"
        yield detector.finding(
            evidence,
            saw + _order(evidence),
            confidence=0.7,
        )


@FAULT.detector(
    "RE020",
    "cannot-overfit-one-batch",
    "reenact",
    needs=Needs.EXPERIMENTS,
    observes=Observes.EXPERIMENT,
    why="Almost any model can overfit a few rows; one that cannot has a broken part.",
    severity=Severity.ERROR,
    confidence=0.75,
)
def cannot_overfit_one_batch(detector: Detector, evidence: Evidence) -> Findings:
    """Trained on one batch over and over, the model does not come to know it.

    Karpathy, "A Recipe for Training Neural Networks", 2019; TheDeepChecker, Ben Braiek and Khomh,
    TOSEM 2022.
    """
    tried = evidence.experiments.one_batch
    if tried is None or len(tried.losses) < 20:
        return
    known = finite(list(tried.losses))
    broken = len(known) < len(tried.losses) or not known
    end = min(known[-max(1, len(known) // 4) :], default=1.0)
    left = end / max(1e-12, abs(known[0])) if known else 1.0
    least = LEFT if tried.steps >= ENOUGH else FEW_LEFT
    poor = left > least if tried.accuracy is None else tried.accuracy < ACCURATE and left > least
    if broken or (poor and abs(end) > 1e-3):
        score = "" if tried.accuracy is None else f", accuracy {tried.accuracy:.2f}"
        last = ("no number" if broken else f"{end:.3g}") + score
        saw = f"{tried.steps} steps on one batch took the loss from {tried.losses[0]:.3g} to {last}"
        floor = tried.accuracy is None and _has_a_floor(evidence)
        doubted = not broken and (floor or not evidence.compares or learned(evidence))
        yield detector.finding(
            evidence,
            saw,
            confidence=DOUBTED if doubted else None,
        )


@FAULT.detector(
    "RE031",
    "no-better-than-a-constant",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="A model that uses its inputs does better than one constant answer.",
    severity=Severity.ERROR,
    confidence=0.8,
)
def no_better_than_a_constant(detector: Detector, evidence: Evidence) -> Findings:
    """At the end of a finished training the accuracy on held-out data is that of always naming the
    most frequent class, or the squared error is the variance of the targets.

    Karpathy, "A Recipe for Training Neural Networks", 2019 (input-independent baseline); Wilson,
    "Probable Inference, the Law of Succession, and Statistical Inference", 1927 (intervals of a
    share).
    """
    saw = no_gain_over_a_constant(evidence)
    if saw:
        yield detector.finding(evidence, saw)


@FAULT.detector(
    "DD007",
    "loss-not-decreasing",
    "deepdiagnosis",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="A loss that never changes is not being minimised.",
    severity=Severity.ERROR,
    confidence=0.85,
)
def loss_not_decreasing(detector: Detector, evidence: Evidence) -> Findings:
    """The mean losses of the last five epochs, or more, are equal, and not less than half of the
    first loss.

    {paper}. Symptom "loss not decreasing"; the release stops with a TypeError instead of reporting
    it.
    """
    if loss_halved(evidence):
        return
    losses = epochs_of(evidence, "loss")
    if len(losses) >= WINDOW and len(set(losses[-WINDOW:])) == 1:
        saw = f"loss {losses[-1]:.6g} in each of the last {WINDOW} epochs"
        yield report(detector, evidence, saw, for_no_progress(evidence))


@FAULT.detector(
    "DD009",
    "accuracy-not-increasing",
    "deepdiagnosis",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="A model that learns gets more cases right.",
    severity=Severity.ERROR,
    confidence=0.85,
)
def accuracy_not_increasing(detector: Detector, evidence: Evidence) -> Findings:
    """The accuracies of the last twenty epochs are equal, below one, and no better than at the
    start, while the loss has not fallen to half.

    {paper}. Symptom "accuracy not increasing". The release fires on a perfect accuracy too.
    """
    values = accuracies(evidence)
    if (
        evidence.task is not TaskType.REGRESSION
        and not loss_halved(evidence)
        and stuck(values, EPOCHS)
    ):
        saw = f"accuracy {values[-1]:.4g} in each of the last {EPOCHS} epochs"
        yield report(detector, evidence, saw, for_no_progress(evidence))


@FAULT.detector(
    "DL007",
    "unchanged-loss",
    "deeplocalize",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="A loss that never changes is not being minimised.",
    severity=Severity.ERROR,
    confidence=0.85,
)
def unchanged_loss(detector: Detector, evidence: Evidence) -> Findings:
    """The last five losses of the run, or more, are exactly equal, and not less than half of the
    first.

    {paper}. Seventh symptom, "model does not learn". The release tests any five batches; a loss
    that stands still after it fell is a training that is over, and not reported here.
    """
    if loss_halved(evidence):
        return
    step = still_since(evidence.watched.steps, ("loss",))
    if step is not None:
        value = evidence.watched.losses.values[-1]
        yield detector.finding(
            evidence, f"loss {value:.6g} at every step from step {step} on", step=step
        )


@FAULT.detector(
    "DL009",
    "unchanged-accuracy",
    "deeplocalize",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="A model that learns gets more cases right.",
    severity=Severity.ERROR,
    confidence=0.7,
)
def unchanged_accuracy(detector: Detector, evidence: Evidence) -> Findings:
    """The accuracies of the last five epochs are exactly equal, below one, and no better than at
    the start, while the loss has not fallen to half. Without epochs the last five batches count.

    {paper}. Ninth symptom, "model does not learn". The release compares five batches; small batches
    often have equal accuracies by chance, and a perfect model has the accuracy one for ever.
    """
    if evidence.task is TaskType.REGRESSION or loss_halved(evidence):
        return
    values = accuracies(evidence)
    if len(values) < WINDOW:
        values = evidence.watched.steps.series("accuracy").known.values
    if stuck(values, WINDOW):
        saw = f"accuracy {values[-1]:.4g} {WINDOW} times in a row, {values[0]:.4g} at first"
        yield detector.finding(evidence, saw)


@FAULT.detector(
    "TC010",
    "loss-stalls",
    "deepchecker",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="A loss that never falls means that nothing is learned.",
    confidence=0.5,
)
def loss_stalls(detector: Detector, evidence: Evidence) -> Findings:
    """From the beginning on, the loss falls by less than five percent between any two checks.

    {paper}, non-decreasing loss, five percent in five checks. A loss that has become small may
    rest: only runs that never fell are reported.
    """
    curve = windows(losses(evidence), CHECKS)
    if len(curve) < CHECKS or evidence.optimizers > 1 or learned(evidence) or curve[0] <= 0:
        return
    falls = [(before - after) / abs(before) for before, after in pairwise(curve) if before]
    if falls and max(falls) < FALL and curve[-1] > 0.8 * curve[0]:
        saw = f"loss {curve[0]:.3g} in the beginning and {curve[-1]:.3g} in the end"
        yield detector.finding(evidence, saw)


def _order(evidence: Evidence) -> str:
    """Something that may explain it."""
    blind = any(tested.order_blind for tested in evidence.experiments.behaviour)
    if blind:
        return "; attention without positions does not see the order of a sequence"
    return ""


def _has_a_floor(evidence: Evidence) -> bool:
    """Whether the loss need not come to zero: it is of no known kind, its targets are no certain
    answers, or other terms are added to it.
    """
    if evidence.loss is None:
        return False
    soft = evidence.loss_family is LossFamily.BINARY and not (
        evidence.labels and evidence.labels.integral
    )
    if (
        soft
        or evidence.loss_family is LossFamily.OTHER
        or evidence.loss.settings.get("label_smoothing")
    ):
        return True
    if evidence.trace is None or "label_loss" not in evidence.trace.steps.columns:
        return False
    steps = evidence.trace.steps
    pairs = [
        (a, b) for a, b in zip(steps["loss"], steps["label_loss"], strict=True) if a == a and b == b
    ]
    return bool(pairs) and all(abs(a - b) > ADDED * abs(b) for a, b in pairs)
