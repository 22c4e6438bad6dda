"""OP02 learning-rate-too-low

What
    The learning rate is below 1e-7, or negative.
Why
    Steps so small are lost in rounding: the weights stay where they start. With a negative rate every
    step climbs.
Symptom
    The loss does not move; or it rises steadily.
Example
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-9)
Instead
    - optimizer = torch.optim.Adam(model.parameters(), lr=1e-9)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    Unsafe: another learning rate is another training.
Sources
    Schoop et al., "UMLAUT", CHI 2021; the bound is that of the release. A schedule is judged by its
    highest rate, so that a warm-up is left alone.
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
from reenact.faults.facts.measured import largest_step
from reenact.faults.facts.places import usual_rates
from reenact.faults.facts.progress import (
    UNSURE,
    has_even_steps,
    is_hopeless,
    other_optimizer_first,
    progress,
)
from reenact.faults.facts.ratios import ratios
from reenact.faults.facts.series import learned

SMALLEST = 1e-7
SMALLEST_STEP = 1e-5
SMALLEST_LOG_RATIO = -4.0
FAULT = Fault(
    code="OP02",
    name="learning-rate-too-low",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "UM006",
    "learning-rate-low",
    "umlaut",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Steps so small leave the weights where they start, and negative ones climb.",
    study=FaultType.HLR,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def learning_rate_low(detector: Detector, evidence: Evidence) -> Findings:
    """The learning rate is below 1e-7, or negative.

    {paper}; the bound is that of the release. A schedule is judged by its highest rate, so that a
    warm-up is left alone.
    """
    rate = _highest(evidence)
    if rate is not None and rate < SMALLEST:
        saw = f"learning rate {rate:g}"
        kind = Kind.LEARNING_RATE
        values = (0.001, 0.0001)
        yield detector.finding(evidence, saw, kind=kind, values=values)


@FAULT.detector(
    "AT005",
    "slow-convergence",
    "autotrainer",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="Training is too slow for this many epochs: the learning rate is too low.",
    study=FaultType.HLR,
    confidence=0.8,
)
def slow_convergence(detector: Detector, evidence: Evidence) -> Findings:
    """No epoch brought one percent more accuracy, in training or validation, and none reached an
    accuracy of 0.8 or more. At least three epochs must have been seen. For a regression the share
    of the first loss that is gone stands for the accuracy.

    {paper}. The release calls a training slow as well that is perfect after its first epoch; a high
    accuracy, which no published threshold names, is an exception here. The first repair is another
    optimiser, the next a higher learning rate; the learning rate is named where the optimiser is
    Adam already or the steps are tiny beside the weights.
    """
    so_far = progress(evidence)
    if not so_far.slow or is_hopeless(evidence):
        return
    first = so_far.train[0]
    last = so_far.train[-1]
    saw = f"{so_far.name} {first:.3g} at first, {last:.3g} after {len(so_far.train)} epochs"
    largest = largest_step(evidence)
    if largest >= SMALLEST_STEP and not has_even_steps(evidence):
        yield other_optimizer_first(detector, evidence, saw, ("adam", "rmsprop", "nadam"))
        return
    rate = evidence.learning_rate or 0.0
    yield detector.finding(
        evidence,
        saw,
        kind=Kind.LEARNING_RATE,
        values=tuple(value for value in (0.001, 0.01, 0.1) if value > rate),
        confidence=None if largest < SMALLEST_STEP else UNSURE,
    )


@FAULT.detector(
    "TC006",
    "update-too-slow",
    "deepchecker",
    needs=Needs.TRACE,
    observes=Observes.GRADIENTS,
    why="At that pace weights stay near their random start.",
    study=FaultType.HLR,
    confidence=0.5,
)
def update_too_slow(detector: Detector, evidence: Evidence) -> Findings:
    """A step changes the weights by less than a ten-thousandth of their size, step after step.

    {paper}, ratio of updates to weights, below 10^-4. At the end of a good training steps are small
    too: the first half of the run is looked at.
    """
    found = ratios(evidence)
    slow = {name: ratio for name, ratio in found.items() if ratio < SMALLEST_LOG_RATIO}
    if not slow or len(slow) < 0.5 * len(found) or learned(evidence):
        return
    name, ratio = min(slow.items(), key=lambda item: item[1])
    saw = (
        f"{name} changes by {10**ratio:.1g} of its size in a step ({len(slow)} of {len(found)} "
        f"tensors)"
    )
    yield detector.finding(
        evidence,
        saw,
        kind=Kind.LEARNING_RATE,
        values=usual_rates(evidence),
    )


def _highest(evidence: Evidence) -> float | None:
    if evidence.trace is not None and evidence.trace.step_count:
        known = evidence.trace.steps.series("learning_rate").known.values
        if len(known):
            return float(known.max())
    scheduled = evidence.hyperparameter(Kind.SCHEDULER)
    if scheduled is not None and not scheduled.absent:
        return None
    return evidence.learning_rate
