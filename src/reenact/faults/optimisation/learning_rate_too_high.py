"""OP01 learning-rate-too-high

What
    The learning rate is above 0.01.
Why
    Steps larger than the distance to the valley jump across it; the loss swings or grows.
Symptom
    The loss oscillates, rises or becomes NaN in the first steps.
Example
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
Instead
    - optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    Unsafe: another learning rate is another training.
Sources
    Schoop et al., "UMLAUT", CHI 2021; the bound is that of the release. It suits Adam: SGD with 0.1 or
    Adadelta with 1 are usual, and reported with little confidence.
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
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.measured import largest_step, loss_halved
from reenact.faults.facts.places import optimizer_as_spelled, optimizer_name, usual_rates
from reenact.faults.facts.progress import (
    SWING,
    UNSURE,
    has_even_steps,
    is_hopeless,
    other_optimizer_first,
    progress,
)
from reenact.faults.facts.ratios import ratios
from reenact.faults.facts.series import finite, guessing, losses, windows

LARGEST = 0.01
FAR_ABOVE = 0.9
"""Confidence in a rate ten times above what the optimizer is given anywhere."""
BETTER = 0.8
"""Share of the loss of a constant answer below which a training has settled."""
LARGEST_STEP = 0.1
LARGEST_LOG_RATIO = -1.0
LARGEST_EXPONENT = 300
"""Of ten, in a double."""
CHECKS = 5
ADAPTS = ("adam", "adamax", "adamw", "lion", "nadam", "nadamw", "radam", "rmsprop")
FAULT = Fault(
    code="OP01",
    name="learning-rate-too-high",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "UM005",
    "learning-rate-high",
    "umlaut",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Adam is usually given 1e-5 to 1e-2; larger steps diverge.",
    study=FaultType.HLR,
    confidence=0.3,
)
def learning_rate_high(detector: Detector, evidence: Evidence) -> Findings:
    """The learning rate is above 0.01.

    {paper}; the bound is that of the release. It suits Adam: SGD with 0.1 or Adadelta with 1 are
    usual, and reported with little confidence.
    """
    rate = evidence.step_rate
    if rate is not None and rate > LARGEST:
        sure = _confidence(evidence, rate)
        saw = f"learning rate {rate:g}"
        kind = Kind.LEARNING_RATE
        values = (0.001, 0.01)
        certain = Certainty.STRONG if sure >= FAR_ABOVE else None
        finding = detector.finding(
            evidence,
            saw,
            kind=kind,
            values=values,
            confidence=sure,
            certainty=certain,
        )
        yield finding.refined(why=_usual(optimizer_as_spelled(evidence)))


def _usual(optimizer: str) -> str:
    """What the optimizer of the program is usually given; Adam where its name is unknown."""
    word = optimizer.lower()
    if word == "adadelta":
        return "Adadelta is usually given 0.1 to 1; larger steps diverge."
    if word and word not in ADAPTS:
        return f"{optimizer} is usually given 1e-3 to 0.1; larger steps diverge."
    return f"{optimizer or 'Adam'} is usually given 1e-5 to 1e-2; larger steps diverge."


@FAULT.detector(
    "AT004",
    "oscillating-training",
    "autotrainer",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="Steps that are too large undo each other.",
    study=FaultType.HLR,
    confidence=0.7,
)
def oscillating_training(detector: Detector, evidence: Evidence) -> Findings:
    """In at least a fifth of the epochs, and twice, the training accuracy falls by 0.03 or more
    from a peak to the valley behind. For a regression the share of the first loss that is gone
    stands for the accuracy.

    {paper}. The tool calls it an oscillating loss and measures the accuracy. Not reported beside a
    gradient problem. The first repair is Adam, the next a lower learning rate; the learning rate is
    named where Adam is there, or single steps are larger than a tenth of the weights.
    """
    so_far = progress(evidence)
    if not so_far.restless or is_hopeless(evidence):
        return
    saw = (
        f"{so_far.name} fell {so_far.drops} times by {SWING} or more in {len(so_far.train)} epochs"
    )
    largest = largest_step(evidence)
    if largest <= LARGEST_STEP and not has_even_steps(evidence):
        yield other_optimizer_first(detector, evidence, saw, ("adam",))
        return
    rate = evidence.learning_rate
    yield detector.finding(
        evidence,
        saw,
        kind=Kind.LEARNING_RATE,
        values=(rate / 10, rate / 100) if rate else (0.001,),
        confidence=None if largest > LARGEST_STEP and not loss_halved(evidence) else UNSURE,
    )


@FAULT.detector(
    "TC005",
    "update-too-fast",
    "deepchecker",
    needs=Needs.TRACE,
    observes=Observes.GRADIENTS,
    why="Weights that change by a tenth in one step forget what they were.",
    study=FaultType.HLR,
    confidence=0.5,
)
def update_too_fast(detector: Detector, evidence: Evidence) -> Findings:
    """A step changes the weights by more than a tenth of their size, step after step.

    {paper}, ratio of updates to weights, above 10^-1. Weight matrices only: biases start at zero.
    """
    found = ratios(evidence) if optimizer_name(evidence) != "lbfgs" else {}
    fast = {name: ratio for name, ratio in found.items() if ratio > LARGEST_LOG_RATIO}
    if 2 * len(fast) > len(found):
        name, ratio = max(fast.items(), key=lambda item: item[1])
        share = f"{len(fast)} of {len(found)} tensors"
        saw = f"{name} changes by {10 ** min(ratio, LARGEST_EXPONENT):.2g} of its size in a step ({share})"
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.LEARNING_RATE,
            values=usual_rates(evidence),
        )


@FAULT.detector(
    "TC011",
    "loss-diverges",
    "deepchecker",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="The loss diverges: steps of this size overshoot and do not come back.",
    study=FaultType.HLR,
    severity=Severity.ERROR,
    confidence=0.75,
    certainty=Certainty.STRONG,
)
def loss_diverges(detector: Detector, evidence: Evidence) -> Findings:
    """The loss is at least twice its smallest value in five checks in a row, or is no number.

    {paper}, divergence, doubling against the minimum in five checks.
    """
    known = losses(evidence)
    if not known or evidence.optimizers > 1:
        return
    curve = windows(known)
    lost = len(known) - len(finite(known))
    late = curve[-CHECKS:]
    least = min(curve) if curve else 0.0
    grown = (
        len(curve) > CHECKS and least > 0 and min(late) >= 2 * least and late[-1] > 0.5 * curve[0]
    )
    if (grown and evidence.compares) or lost > len(known) / 4:
        end = "no number" if lost > len(known) / 4 else f"{late[-1]:.3g}"
        saw = f"the loss ends at {end} after {least:.3g} at its best"
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.LEARNING_RATE,
            values=usual_rates(evidence),
        )


def _confidence(evidence: Evidence, rate: float) -> float:
    """The bound is one for Adam; other optimisers are at home with larger rates, and so is who
    clips.
    """
    if evidence.clips_gradients:
        return learning_rate_high.confidence
    name = optimizer_name(evidence)
    if name == "adadelta":
        return 0.1 if rate <= 1 else 0.3
    adapts = name in ADAPTS
    # The step of plain SGD is the rate times the gradient: small rows and flat losses want a rate
    # that would be far too high elsewhere, and with it the loss ends clearly below that of a
    # constant answer.
    guess = guessing(evidence)
    course = windows(losses(evidence))
    if not adapts and guess and course and course[-1] < BETTER * guess:
        return learning_rate_high.confidence
    usual = 0.1 if adapts else 1.0
    if rate >= 10 * usual:
        return FAR_ABOVE
    return 0.6 if rate >= usual else learning_rate_high.confidence
