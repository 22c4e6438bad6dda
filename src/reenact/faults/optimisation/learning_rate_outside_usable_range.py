"""OP03 learning-rate-outside-usable-range

What
    The learning rate is far from what this model bears: a learning-rate range test says so, steps are as
    large as the weights or a hundred-thousandth of them, or it is far from what is usual for its
    optimiser.
Why
    Too large, and every step jumps across the valley; too small, and training ends before it has gone
    anywhere.
Symptom
    A loss that grows, swings or is NaN; or one that hardly moves.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=3.0)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.Adam(model.parameters(), lr=3.0)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    Unsafe: another learning rate is another training.
Sources
    Smith, "Cyclical Learning Rates for Training Neural Networks", WACV 2017 (range test); ratio of
    updates to weights of about 0.001 as a rule of thumb of practice.
"""

import math
import statistics

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    JsonValue,
    Kind,
    Needs,
    Observes,
)
from reenact.faults.facts.places import optimizer_name, usual_rates
from reenact.faults.facts.series import (
    clip_factors,
    finite,
    learned,
    losses,
    reached,
    windows,
)
from reenact.faults.facts.usable_rates import (
    LEAST_FALL,
    can_learn,
    rates_below,
    rates_within,
    usable_range,
)

USUAL = {
    "sgd": (1e-4, 1.0),
    "adadelta": (1e-2, 10.0),
    "adagrad": (1e-4, 1.0),
}
"""What is usual by optimiser; for all others, which scale their steps, the next line."""
ADAPTIVE = (3e-6, 0.05)
LARGE, SMALL = 0.1, 1e-5
LEAST_FALL_STILL = 0.03
"""The same where the training stands still and one batch can be learned: every rate begins with the
same weights, batch and dropout, so what the loss loses there is no chance, however few steps a slow
model had.
"""
STILL = 0.9
"""Share of the first loss that is left where nothing was learned; then less is too much for a
rate.
"""
SHORT = 10.0
"""Times that a gradient is larger than what it is clipped to."""
LEARNT_AT_LOWER, BEHIND = 0.5, 0.4
"""Shares of the first loss of one batch: at most what is left at a tenth of the rate, at least what
is left more at the rate itself.
"""
WHOLLY, LEFT = 0.02, 0.2
"""Shares of the first loss of one batch: what is left where it is learned, and where by far not."""
Word = tuple[str, float, tuple[JsonValue, ...]]
FINE: Word = ("", 0.0, ())
FAULT = Fault(
    code="OP03",
    name="learning-rate-outside-usable-range",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE019",
    "learning-rate-outside-range",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="Too high a learning rate diverges, too low a one does not converge.",
    study=FaultType.HLR,
)
def learning_rate_outside_range(detector: Detector, evidence: Evidence) -> Findings:
    """The learning rate is far from what this model bears: a learning-rate range test says so,
    steps are as large as the weights or a hundred-thousandth of them, or it is far from what is
    usual for its optimiser.

    Smith, "Cyclical Learning Rates for Training Neural Networks", WACV 2017 (range test); ratio of
    updates to weights of about 0.001 as a rule of thumb of practice.
    """
    rate = evidence.step_rate
    if rate is None or rate <= 0:
        return
    held_up = learned(evidence) and _held_up(evidence)
    doubt = 1.0
    if learned(evidence):
        doubt = 0.85 if held_up else 0.4
    for look in (_by_test, _by_one_batch, _by_trace, _by_use):
        saw, sure, values = look(evidence, rate)
        if saw:
            certain = Certainty.STRONG if sure * doubt > 0.8 else None
            # Tried on the program's own batch: that it learned something does not speak against it.
            yield detector.finding(
                evidence,
                f"learning rate {rate:g}: {saw}",
                kind=Kind.LEARNING_RATE,
                values=values,
                confidence=sure * doubt,
                certainty=Certainty.PROOF if held_up else certain,
            )
            return


def _by_test(evidence: Evidence, rate: float) -> Word:
    tested = evidence.experiments.learning_rates
    curve = windows(losses(evidence))
    # The whole training took next to nothing off the loss, where it should.
    still = False
    if evidence.compares and len(curve) > 2:
        still = STILL * curve[0] < curve[-1] < 1.1 * curve[0]
    held_back = still and can_learn(evidence)
    least = LEAST_FALL_STILL if held_back else LEAST_FALL
    bounds = usable_range(tested.rates, tested.losses, least) if tested is not None else None
    if bounds is None:
        return FINE
    low, high = bounds
    rate = _first_rate(evidence) or rate
    values = rates_within(low, high)
    above, below = (1.0, 2.0) if still else (2.0, 10.0)
    if rate > above * high:
        return (
            f"the usable range is {low:.1g} to {high:.1g} (LR range test)",
            0.85,
            values,
        )
    if rate < low / below:
        # A gradient that is clipped to next to nothing asks for a rate that is none.
        sure = 0.85 if held_back and rate < low / 10 and not _clipped_short(evidence) else 0.75
        return f"a range test learns from {low:.1g} to {high:.1g}", sure, values
    return FINE


def _first_rate(evidence: Evidence) -> float | None:
    """The largest rate of the optimizer that stepped first, which the tests were done with."""
    steps = evidence.watched.steps
    first = steps["optimizer"][0] if len(steps) else math.nan
    both = zip(steps["optimizer"], steps["learning_rate"], strict=True) if first == first else ()
    return max(
        (float(rate) for number, rate in both if number == first and rate > 0),
        default=None,
    )


def _by_one_batch(evidence: Evidence, rate: float) -> Word:
    """One batch is learned at a tenth of the rate, and much less at the rate itself."""
    tried = evidence.experiments.own_rate
    if tried is None or not math.isclose(tried.rate, rate, rel_tol=0.5):
        return FINE
    first = tried.own[0]
    own = reached(tried.own)
    lower = reached(tried.lower)
    if first <= 0 or lower > LEARNT_AT_LOWER * first or min(own, first) - lower < BEHIND * first:
        return FINE
    saw = f"one batch goes from {first:.3g} to {own:.3g}, at a tenth of it to {lower:.3g}"
    return saw, 0.85, rates_below(rate)


def _held_up(evidence: Evidence) -> bool:
    """Whether a training that learned left a good part of its loss, where one batch is learned
    wholly at a tenth of the rate and by far not at the rate itself.
    """
    tried = evidence.experiments.own_rate
    curve = windows(losses(evidence))
    if tried is None or len(curve) < 3 or tried.own[0] <= 0:
        return False
    first = tried.own[0]
    own = reached(tried.own)
    lower = reached(tried.lower)
    return lower < WHOLLY * first and own > LEFT * first and curve[-1] > LEFT / 2 * first


def _clipped_short(evidence: Evidence) -> bool:
    """Whether gradients are clipped to a small part of themselves, in the median."""
    factors = [factor for _, factor in clip_factors(evidence)]
    return bool(factors) and statistics.median(factors) > SHORT


def _by_trace(evidence: Evidence, rate: float) -> Word:
    ratios = _ratios(evidence)
    known = losses(evidence)
    curve = windows(known)
    risen = len(curve) > 2 and curve[-1] > 1.5 * curve[0] and evidence.compares
    grows = risen or len(finite(known)) < len(known)
    usual = tuple(value for value in usual_rates(evidence) if isinstance(value, float))
    lower = tuple(value for value in usual if value < rate) or (rate / 10, rate / 100)
    higher = tuple(value for value in usual if value > rate) or (rate * 10, rate * 100)
    middle = statistics.median(ratios) if ratios else math.nan
    if middle > LARGE:
        return (
            f"a step moves the weights by {middle:.0%} of their size",
            0.9 if grows else 0.75,
            lower,
        )
    if grows and len(known) > 5 and rate >= 1e-4:
        return "the loss grows", 0.7, lower
    if 0 < middle < SMALL and len(curve) > 2 and curve[-1] > 0.9 * curve[0]:
        return f"a step moves the weights by {middle:.1g} of their size", 0.85, higher
    return FINE


def _by_use(evidence: Evidence, rate: float) -> Word:
    low, high = USUAL.get(optimizer_name(evidence), ADAPTIVE)
    usual = usual_rates(evidence)
    if rate > high and not evidence.clips_gradients:
        return f"above what is usual for this optimiser ({high:g})", 0.65, usual
    if rate < low:
        return f"below what is usual for this optimiser ({low:g})", 0.7, usual
    return FINE


def _ratios(evidence: Evidence) -> list[float]:
    """Update against weight of every kernel and sampled step."""
    kernels = {
        i for i, facts in enumerate(evidence.watched.parameter_facts) if len(facts.shape) > 1
    }
    table = evidence.watched.parameters
    pairs = zip(table["parameter"], table["update_ratio"], strict=True)
    return finite([float(ratio) for number, ratio in pairs if int(number) in kernels])
