"""What the experiments work on: the loss of the first batch as a function of the weights, and optimisers."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from reenact_probe.experiment_accuracy import pair_of_call
from reenact_probe.experiment_tape import Unseen
from reenact_probe.torch_functions import LOSSES
from reenact_probe.types import Function, Library, Optimizer, Tensor

if TYPE_CHECKING:
    from reenact_probe.experiment_accuracy import Pair
    from reenact_probe.experiment_tape import Tape

MOST_PAIRS = 16


class ProgramOptimizer(Protocol):
    """What the experiments ask of an optimizer."""

    refuses: str
    """Why there is no range of rates, or empty."""

    @property
    def weights(self) -> list[Tensor]: ...

    def reset(self) -> None:
        """Forget every step."""

    def step(self, rate: float) -> None:
        """One step at this rate."""


class Problem:
    """The tape of one step, with the weights that the optimiser was to move."""

    def __init__(
        self, torch: Library, tape: Tape, losses: list[Tensor], weights: list[Tensor], pairs: list[Pair]
    ) -> None:
        self.torch = torch
        self.weights = [weight for weight in weights if weight.requires_grad and weight.is_leaf]
        if not self.weights:
            raise Unseen("the optimiser holds no weight that can be trained")
        self._tape = tape
        self._losses = losses
        tape.cut(losses)
        made = {id(tensor) for call in tape.calls for tensor in call.outputs}
        pairs = [pair for pair in pairs if id(pair.prediction) in made]
        if not pairs:
            found = [pair_of_call(torch, call) for call in tape.calls if call.name in LOSSES]
            pairs = [pair for pair in found if pair is not None]
        self._pairs = pairs[-MOST_PAIRS:]
        # A target that comes from the inputs (an autoencoder's, a language model's) would be zeroed too.
        self.can_zero = bool(tape.inputs) and not any(tape.holds(pair.target) for pair in self._pairs)
        self._first = [weight.detach().clone() for weight in self.weights]
        self._now: Callable[[Tensor], Tensor] = lambda tensor: tensor

    def reset(self, gradients: list[Tensor | None] | None = None) -> None:
        """Weights as the program made them, with these gradients."""
        with self.torch.no_grad():
            for number, weight in enumerate(self.weights):
                weight.copy_(self._first[number])
                known = gradients[number] if gradients is not None else None
                weight.grad = known.clone() if known is not None else None

    def gradients(self) -> list[Tensor | None]:
        return [weight.grad for weight in self.weights]

    def loss(self, zeroed: bool = False, steady: bool = False) -> float:
        """The loss as a number; leaves its gradient with the weights. Steady: with the same random draws."""
        torch = self.torch
        if steady:
            torch.manual_seed(0)
        with torch.enable_grad():
            self._now = self._tape.play(zeroed)
            total = sum(self._now(loss).reshape(()) for loss in self._losses)
            gradients: Any = [None] * len(self.weights)
            if total.requires_grad:
                gradients = torch.autograd.grad(total, self.weights, allow_unused=True)
        for weight, gradient in zip(self.weights, gradients):
            sparse = gradient is not None and gradient.layout is not torch.strided
            weight.grad = gradient.to_dense() if sparse else gradient
        return float(total.detach())

    def accuracy(self) -> float | None:
        """Of the predictions computed last; the worst where there are several outputs."""
        with self.torch.no_grad():
            found = [pair.accuracy(self._now) for pair in self._pairs]
        return min((share for share in found if share is not None), default=None)


class TorchOptimizer:
    """The program's own optimiser object: nothing runs after the experiments, so none is spared."""

    def __init__(self, optimizer: Optimizer, clips: list[Function]) -> None:
        self._optimizer = optimizer
        self._first = copy.deepcopy(optimizer.state_dict())
        self._clips = clips
        """What the program does to the gradients before the step."""
        first = float(optimizer.param_groups[0].get("lr", 0.0))
        self._shares = [
            float(group.get("lr", first)) / first if first else 1.0 for group in optimizer.param_groups
        ]
        self.refuses = ""
        step = inspect.signature(type(optimizer).step).parameters.get("closure")
        if step is not None and step.default is inspect.Parameter.empty:
            name = type(optimizer).__name__
            self.refuses = f"range of rates: {name} chooses its own step length by asking for the loss again"

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
    """A copy of the program's optimiser: same class, same settings, the rate set from outside."""

    refuses = ""

    def __init__(self, torch: Library, optimizer: Optimizer, variables: Any) -> None:
        self._torch = torch
        self._variables = list(variables)
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
            self._copy.apply([variable.value.grad for variable in self._variables], self._variables)
