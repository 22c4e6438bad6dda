"""The two experiments, on a loss that can be computed again and weights that can be put back.

One batch: the batch of the program's first step, again and again, with Adam at a rate of ours and not the
program's: can this model with this loss learn at all? 1e-2 is tried first, since 100 steps must suffice; then
1e-3, which deep models need; then 1e-1, which labels far from zero need. The best counts. Then the same
number of steps with inputs set to zero: a model that does as well does not see its inputs.

Range of rates, after Smith 2017 ("Cyclical learning rates for training neural networks", section 3.3): the
program's own optimizer and settings, a few steps at each rate. Smith lets one training go on while the rate
grows; a single batch would be learnt before the large rates come, so each rate begins with the weights as the
program made them, the same batch and the same dropout: the loss differs because of the rate alone.
"""

from __future__ import annotations

import math
import time

from reenact_probe.experiment.problem import KerasOptimizer, Problem, TorchOptimizer
from reenact_probe.types import Facts

STEPS = 100
FEWEST = 25
"""Steps of one batch below which failing to learn says nothing."""
RATES = (1e-2, 1e-3, 1e-1)
LEARNT = 0.02
"""Share of the first loss that is as good as none."""
LOWEST, HIGHEST = 1e-7, 10.0
PLANS = ((33, 5), (25, 3), (17, 2))
"""Rates and steps at each; the first plan that fits into the time."""
DIVERGED = 4.0
"""Times the first loss."""


class Run:
    """Losses before each step, accuracy at the last one."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.losses: list[float] = []
        self.accuracy: float | None = None

    @property
    def learnt(self) -> bool:
        low = self.losses[-1] <= LEARNT * abs(self.losses[0])
        return low and self.accuracy in (None, 1.0)

    @property
    def order(self) -> tuple[float, float]:
        """Smaller is better."""
        last = self.losses[-1]
        return -(self.accuracy or 0.0), last if math.isfinite(last) else math.inf


def one_batch(problem: Problem, seconds: float) -> tuple[Facts | None, float, str | None]:
    """Facts of the best run and CPU seconds a step, or none and a sentence."""
    clock = _Clock(seconds)
    runs = []
    for rate in RATES:
        runs.append(_overfit(problem, rate, STEPS, clock))
        if runs[-1].learnt or clock.over:
            break
    best = min(runs, key=lambda run: run.order)
    price = clock.spent / sum(len(run.losses) for run in runs)
    if len(best.losses) < FEWEST and not best.learnt and math.isfinite(best.losses[-1]):
        return (
            None,
            price,
            f"one batch: {len(best.losses)} steps took {clock.spent:.1f} s, too few to learn it",
        )
    zeroed = []
    if problem.can_zero:
        zeroed = _overfit(problem, best.rate, len(best.losses), _Clock(seconds / 2), zeroed=True).losses
    facts = {"losses": best.losses, "accuracy": best.accuracy, "zeroed_losses": zeroed, "rate": best.rate}
    return facts, price, None


def _overfit(problem: Problem, rate: float, steps: int, clock: _Clock, zeroed: bool = False) -> Run:
    problem.reset()
    optimizer = problem.torch.optim.Adam(problem.weights, lr=rate)
    run = Run(rate)
    for _ in range(steps):
        loss = problem.loss(zeroed)
        run.losses.append(loss)
        run.accuracy = problem.accuracy()
        if not math.isfinite(loss) or clock.over or (run.learnt and not zeroed):
            break
        optimizer.step()
    return run


def rate_range(
    problem: Problem, optimizer: TorchOptimizer | KerasOptimizer, seconds: float, price: float
) -> tuple[Facts | None, str | None]:
    """Rates and the loss after a few steps at each, or none and a sentence."""
    plan = next((plan for plan in PLANS if plan[0] * plan[1] * price <= seconds), None)
    if plan is None:
        return None, f"range of rates: a step takes {price:.2f} s, too long for {seconds:g} s"
    points, steps = plan
    growth = (HIGHEST / LOWEST) ** (1 / (points - 1))
    problem.reset()
    first = problem.loss(steady=True)
    gradients = problem.gradients()
    rates, losses = [], []
    for number in range(points):
        rate = LOWEST * growth**number
        problem.reset(gradients)
        optimizer.reset()
        loss = _after(problem, optimizer, rate, steps)
        rates.append(rate)
        losses.append(loss)
        if not math.isfinite(loss) or loss > first + (DIVERGED - 1) * abs(first):
            break
    return {"rates": rates, "losses": losses}, None


def _after(problem: Problem, optimizer: TorchOptimizer | KerasOptimizer, rate: float, steps: int) -> float:
    loss = math.nan
    for _ in range(steps):
        optimizer.step(rate)
        loss = problem.loss(steady=True)
        if not math.isfinite(loss):
            break
    return loss


class _Clock:
    def __init__(self, seconds: float) -> None:
        self._began = time.process_time()
        self._seconds = seconds

    @property
    def spent(self) -> float:
        return time.process_time() - self._began

    @property
    def over(self) -> bool:
        return self.spent > self._seconds
