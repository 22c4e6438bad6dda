"""The two experiments, on the loss of the first batch as a function of the weights.

One batch: the batch of the program's first step, again and again, with Adam at a rate of ours and
not the program's: can this model with this loss learn at all? 1e-2 is tried first, since 100 steps
must suffice; then 1e-3, which deep models need; then 1e-1, which labels far from zero need. The
best counts. Then the same number of steps with inputs set to zero: a model that does as well does
not see its inputs.

Range of rates, after Smith 2017 ("Cyclical learning rates for training neural networks", section
3.3): the program's own optimizer and settings, a few steps at each rate. Smith lets one training go
on while the rate grows; a single batch would be learnt before the large rates come, so each rate
begins with the weights as the program made them, the same batch and the same dropout: the loss
differs because of the rate alone.

Own rate, where the range of rates puts it at its upper end: some dozens of steps on that batch at
the program's rate, at a tenth of it, and at its rate after a warm-up.
"""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reenact_probe.clock import CLOCK
from reenact_probe.experiment.tape import Call, Tape, Unseen
from reenact_probe.torch.capture import LOSSES
from reenact_probe.torch.samples import right_classes
from reenact_probe.types import Facts, Function, Library, Optimizer, Tensor

STEPS = 100
FEWEST = 25
"""Steps of one batch below which failing to learn says nothing."""
RATES = (1e-2, 1e-3, 1e-1)
LEARNT = 0.02
"""Share of the first loss that is as good as none."""
AS_GOOD = 1.05
"""Times a loss that another may be and still be as good."""
LOWEST, HIGHEST = 1e-7, 10.0
PLANS = (
    (33, 5),
    (25, 3),
    (17, 2),
    (9, 2),
    (9, 1),
)
"""Rates and steps at each; the first plan that fits into the time."""
SLOW_STEPS, SLOWEST = 40, 4.0
"""Where steps are slow, an experiment has the time of so many of them, up to so many times its
own.
"""
MOST_SECONDS = 20.0
"""However long the training takes."""
OWN_STEPS, FEWEST_OWN = 60, 20
"""Steps at the program's own rate, and fewer than which say nothing."""
WARM = 0.5
"""Share of the steps in which the rate is warmed up."""
DIVERGED = 4.0
"""Times the first loss."""
MOST_PAIRS = 16
LOGITS = frozenset(
    [
        "binary_cross_entropy_with_logits",
        "soft_margin_loss",
        "multilabel_soft_margin_loss",
    ]
)


class Budget(NamedTuple):
    """Time that one experiment may take, by `CLOCK`."""

    seconds: float
    """Whatever the training takes."""
    share: float = 0.0
    """Of the training's own time."""
    steps: int = 0
    """Of the training, as far as can be seen before it; 0 where that is not known."""

    def for_steps_of(self, price: float) -> float:
        """Seconds, where a step takes so long."""
        slow = min(SLOWEST * self.seconds, SLOW_STEPS * price)
        return max(self.seconds, slow, min(MOST_SECONDS, self.share * self.steps * price))


class Problem:
    """The tape of one step, with the weights that the optimizer was to move."""

    def __init__(
        self,
        torch: Library,
        tape: Tape,
        losses: list[Tensor],
        weights: list[Tensor],
        pairs: list[Pair],
    ) -> None:
        self.torch = torch
        self.weights = [weight for weight in weights if weight.requires_grad and weight.is_leaf]
        if not self.weights:
            raise Unseen("the optimizer holds no weight that can be trained")
        self.tape = tape
        self._losses = losses
        tape.cut(losses)
        made = {id(tensor) for call in tape.calls for tensor in call.outputs}
        pairs = [pair for pair in pairs if id(pair.prediction) in made]
        if not pairs:
            compared = [pair_of_call(torch, call) for call in tape.calls if call.name in LOSSES]
            pairs = [pair for pair in compared if pair is not None]
        self.pairs = pairs[-MOST_PAIRS:]
        # A target that comes from the inputs (an autoencoder's, a language model's) would be zeroed
        # too.
        self.can_zero = bool(tape.inputs) and not any(
            tape.holds(pair.target) for pair in self.pairs
        )
        self._first = [weight.detach().clone() for weight in self.weights]
        self._now: Callable[[Tensor], Tensor] = lambda tensor: tensor

    def reset(
        self,
        gradients: list[Tensor | None] | None = None,
    ) -> None:
        """Weights as the program made them, with these gradients."""
        known = gradients or [None] * len(self.weights)
        with self.torch.no_grad():
            for weight, first, gradient in zip(self.weights, self._first, known):
                weight.copy_(first)
                weight.grad = gradient.clone() if gradient is not None else None

    def loss(self, zeroed: bool = False, steady: bool = False) -> float:
        """The loss as a number; leaves its gradient with the weights. Steady: with the same
        random draws.
        """
        torch = self.torch
        if steady:
            torch.manual_seed(0)
        with torch.enable_grad():
            self._now = self.tape.play(zeroed)
            total = sum(self._now(loss).reshape(()) for loss in self._losses)
            gradients: Any = [None] * len(self.weights)
            if total.requires_grad:
                gradients = torch.autograd.grad(total, self.weights, allow_unused=True)
        for weight, gradient in zip(self.weights, gradients):
            sparse = gradient is not None and gradient.layout is not torch.strided
            weight.grad = gradient.to_dense() if sparse else gradient
        return float(total.detach())

    def again(self) -> tuple[Tensor, Callable[[Any], float | None]]:
        """The loss with its graph, computed again; and a function that gives the value which a node
        of the graph computed, where that is a single number.
        """
        now = self.tape.play()
        total = sum(now(loss).reshape(()) for loss in self._losses)
        made = [now(tensor) for call in self.tape.calls for tensor in call.outputs]

        def value(node: Any) -> float | None:
            held = (one for one in made if one.grad_fn is node and one.numel() == 1)
            for one in held:
                return float(one.detach())
            return None

        return total, value

    def let_go(self) -> None:
        """Of all but what the loss is computed from."""
        self._first = []
        self._now = lambda tensor: tensor
        self.tape.slim()

    def steady_loss(
        self,
        given: Mapping[int, Tensor],
        evaluating: bool = False,
    ) -> float:
        """The loss as a number, with the same random draws each time and these tensors in the place
        of those of this identity.
        """
        self.torch.manual_seed(0)
        with self.torch.no_grad():
            now = self.tape.play(given=given, evaluating=evaluating)
            return float(sum(now(loss).reshape(()) for loss in self._losses))

    def accuracy(self) -> float | None:
        """Of the predictions computed last; the worst where there are several outputs."""
        with self.torch.no_grad():
            shares = [pair.accuracy(self._now) for pair in self.pairs]
        return min((share for share in shares if share is not None), default=None)


class TorchOptimizer:
    """The program's own optimizer object: nothing runs after the experiments, so none is spared."""

    def __init__(self, optimizer: Optimizer, clips: list[Function]) -> None:
        self._optimizer = optimizer
        self._first = copy.deepcopy(optimizer.state_dict())
        self._clips = clips
        """What the program does to the gradients before the step."""
        self.rate = first = float(optimizer.param_groups[0].get("lr", 0.0))
        rates = [float(group.get("lr", first)) for group in optimizer.param_groups]
        self._shares = [rate / first if first else 1.0 for rate in rates]
        self.refuses = ""
        step = inspect.signature(type(optimizer).step).parameters.get("closure")
        if step is not None and step.default is inspect.Parameter.empty:
            name = type(optimizer).__name__
            self.refuses = (
                f"range of rates: {name} chooses its own step length by asking for the loss again"
            )

    @property
    def weights(self) -> list[Tensor]:
        return [weight for group in self._optimizer.param_groups for weight in group["params"]]

    def reset(self) -> None:
        self._optimizer.load_state_dict(copy.deepcopy(self._first))

    def step(self, rate: float) -> None:
        for group, share in zip(self._optimizer.param_groups, self._shares):
            group["lr"] = rate * share
        for clip in self._clips:
            clip(self.weights)
        self._optimizer.step()


class KerasOptimizer:
    """A copy of the program's optimizer: same class, same settings, the rate set from outside."""

    refuses = ""

    def __init__(
        self,
        torch: Library,
        optimizer: Optimizer,
        variables: Any,
    ) -> None:
        self._torch = torch
        self._variables = list(variables)
        self.rate = float(optimizer.learning_rate)
        config = dict(optimizer.get_config(), learning_rate=1e-7)
        self._copy = type(optimizer).from_config(config)
        self._copy.build(self._variables)
        self._first = [variable.value.detach().clone() for variable in self._copy.variables]

    @property
    def weights(self) -> list[Tensor]:
        return [variable.value for variable in self._variables]

    def reset(self) -> None:
        with self._torch.no_grad():
            for variable, first in zip(self._copy.variables, self._first):
                variable.value.copy_(first)

    def step(self, rate: float) -> None:
        self._copy.learning_rate = rate
        with self._torch.no_grad():
            self._copy.apply(
                [variable.value.grad for variable in self._variables],
                self._variables,
            )


class Pair(NamedTuple):
    """A prediction and what it is compared with, as the program handed them to a loss."""

    prediction: Tensor
    target: Tensor
    logits: bool
    """Positive means yes; otherwise above one half does."""
    last_axis: bool
    """Classes lie along the last axis, as in Keras; along the second one otherwise."""

    def accuracy(
        self,
        now: Callable[[Tensor], Tensor],
    ) -> float | None:
        """As a number, or none for a regression; `now` gives what a tensor was when last
        computed.
        """
        prediction = now(self.prediction).detach()
        target = now(self.target).detach()
        target = target if target.is_floating_point() else target.long()
        same_rank = prediction.dim() == target.dim()
        if same_rank and target.dim() > 1 and target.shape[-1] == 1 and prediction.shape[-1] > 1:
            target = target.squeeze(-1)
        if not prediction.dim() or not target.numel() or bool((target != target.round()).any()):
            return None
        axis = -1 if self.last_axis else 1
        if (
            prediction.dim() == target.dim() + 1
            and prediction.dim() > 1
            and prediction.shape[axis] > 1
        ):
            right = right_classes(prediction, target, self.last_axis)
            if right is not None:
                return float(right.float().mean())
            return None
        if self.last_axis and prediction.numel() == target.numel():
            target = target.reshape(prediction.shape)
        if prediction.shape != target.shape or bool(((target != 0) & (target != 1)).any()):
            return None
        right = (prediction > (0.0 if self.logits else 0.5)) == (target > 0.5)
        if target.dim() > 1 and target.shape[axis] > 1 and bool((target.sum(axis) == 1).all()):
            right = prediction.argmax(axis) == target.argmax(axis)
        return float(right.float().mean())


def pair_of_call(torch: Library, call: Call) -> Pair | None:
    """The pair that a functional loss was given, or none."""
    tensors = [
        value for value in (*call.args, *call.kwargs.values()) if isinstance(value, torch.Tensor)
    ]
    if len(tensors) >= 2:
        return Pair(
            tensors[0],
            tensors[1],
            call.name in LOGITS,
            False,
        )
    return None


@dataclass(eq=False)
class Run:
    """Losses before each step, accuracy at the last one."""

    rate: float
    losses: list[float] = field(default_factory=list)
    accuracy: float | None = None

    @property
    def learnt(self) -> bool:
        low = self.losses[-1] <= LEARNT * abs(self.losses[0])
        return low and self.accuracy in (None, 1.0)

    @property
    def order(self) -> tuple[float, float]:
        """Smaller is better."""
        last = self.losses[-1]
        return -(self.accuracy or 0.0), last if math.isfinite(last) else math.inf


def one_batch(
    problem: Problem,
    budget: Budget,
    after_first: Callable[[], object] = lambda: None,
) -> tuple[Facts | None, float, str | None]:
    """Facts of the best run and seconds a step, or none and a sentence. `after_first` is called
    with the weights that the first run ends with.
    """
    began = CLOCK.now()
    problem.reset()
    problem.loss()
    seconds = budget.for_steps_of(CLOCK.now() - began)
    runs: list[Run] = []
    for rate in RATES:
        if not runs or not (runs[-1].learnt or CLOCK.now() > began + seconds):
            runs.append(_overfit(problem, rate, STEPS, began + seconds))
            if len(runs) == 1:
                after_first()
    best = _best(runs)
    spent = CLOCK.now() - began
    price = spent / sum(len(run.losses) for run in runs)
    if len(best.losses) < FEWEST and not best.learnt and math.isfinite(best.losses[-1]):
        return (
            None,
            price,
            f"one batch: {len(best.losses)} steps took {spent:.1f} s, too few to learn it",
        )
    zeroed = []
    if problem.can_zero:
        until = CLOCK.now() + seconds / 2
        zeroed = _overfit(
            problem,
            best.rate,
            len(best.losses),
            until,
            zeroed=True,
        ).losses
    facts = {
        "losses": best.losses,
        "accuracy": best.accuracy,
        "zeroed_losses": zeroed,
        "rate": best.rate,
    }
    return facts, price, None


def _best(runs: list[Run]) -> Run:
    """A run that the clock cut short says less than a whole one that came about as far."""
    whole = [run for run in runs if len(run.losses) == STEPS]
    best = min(runs, key=lambda run: run.order)
    longest = min(whole, key=lambda run: run.order, default=None)
    if longest is None or best.learnt or best.accuracy != longest.accuracy:
        return best
    if longest.losses[-1] <= AS_GOOD * abs(best.losses[-1]):
        return longest
    return best


def _overfit(
    problem: Problem,
    rate: float,
    steps: int,
    until: float,
    zeroed: bool = False,
) -> Run:
    problem.reset()
    optimizer = problem.torch.optim.Adam(problem.weights, lr=rate)
    run = Run(rate)
    for _ in range(steps):
        loss = problem.loss(zeroed)
        run.losses.append(loss)
        run.accuracy = problem.accuracy()
        over = CLOCK.now() > until
        if not math.isfinite(loss) or over or (run.learnt and not zeroed):
            break
        optimizer.step()
    return run


def rate_range(
    problem: Problem,
    optimizer: TorchOptimizer | KerasOptimizer,
    budget: Budget,
    price: float,
) -> tuple[Facts | None, str]:
    """Rates and the loss after a few steps at each, or none and a sentence."""
    if optimizer.refuses:
        return None, optimizer.refuses
    seconds = budget.for_steps_of(price)
    plan = next(
        (plan for plan in PLANS if plan[0] * plan[1] * price <= seconds),
        None,
    )
    if plan is None:
        return (
            None,
            f"range of rates: a step takes {price:.2f} s, too long for {seconds:g} s",
        )
    points, steps = plan
    growth = (HIGHEST / LOWEST) ** (1 / (points - 1))
    problem.reset()
    first = loss = problem.loss(steady=True)
    gradients = [weight.grad for weight in problem.weights]
    rates: list[float] = []
    losses: list[float] = []
    most = first + (DIVERGED - 1) * abs(first)
    while not rates or (len(rates) < points and math.isfinite(loss) and loss <= most):
        rates.append(LOWEST * growth ** len(rates))
        problem.reset(gradients)
        optimizer.reset()
        for _ in range(steps):
            optimizer.step(rates[-1])
            loss = problem.loss(steady=True)
            if not math.isfinite(loss):
                break
        losses.append(loss)
    return {"rates": rates, "losses": losses}, ""


def own_rate(
    problem: Problem,
    optimizer: TorchOptimizer | KerasOptimizer,
    tested: Facts,
    budget: Budget,
    price: float,
) -> Facts | None:
    """Losses at the program's own rate, at a tenth of it and with a warm-up; none where the rate
    lies below the one that lowered the loss most, or a step takes too long.
    """
    rate = optimizer.rate
    steps = min(OWN_STEPS, int(2 * budget.for_steps_of(price) / (3 * price)))
    losses = [loss if math.isfinite(loss) else math.inf for loss in tested["losses"]]
    if rate < tested["rates"][losses.index(min(losses))] or steps < FEWEST_OWN:
        return None

    def trained(rate_of: Callable[[int], float]) -> list[float]:
        problem.reset()
        optimizer.reset()
        found = [problem.loss(steady=True)]
        while len(found) <= steps and math.isfinite(found[-1]):
            optimizer.step(rate_of(len(found)))
            found.append(problem.loss(steady=True))
        return found

    courses: dict[str, Callable[[int], float]] = {
        "own": lambda _: rate,
        "lower": lambda _: rate / 10,
        "warmed": lambda step: rate * min(1.0, step / (WARM * steps)),
    }
    return {
        "rate": rate,
        **{name: trained(course) for name, course in courses.items()},
    }
