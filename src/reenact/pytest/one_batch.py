"""Training on one batch over and over, on a copy: what the probe does to a program, done to a model
at hand.

The model that was given stays bit for bit as it was, and so do the random numbers of anyone who asked.
A Keras model is trained on any engine, as a clone with the same weights and its own loss.
"""

import copy
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from reenact.errors import InputError

RATES = (1e-2, 1e-3, 1e-1)
"""Of Adam, in the order tried: the first is quick, deep models need the next, far labels the
third.
"""
LEARNT = 0.02
"""Share of the first loss that is as good as none."""
SEED = 0
LABELS = "labels"
Learner: TypeAlias = "KerasLearner | TorchLearner"
"""A model of a framework, ready to be copied and trained on its batch."""


@dataclass(slots=True)
class Trained:
    """Losses before each step and the accuracy at the last one, of one attempt."""

    rate: float
    losses: list[float] = field(default_factory=list)
    accuracy: float | None = None
    untouched: tuple[str, ...] = ()
    """Weights that no gradient reached in the first step."""
    detached: tuple[str, ...] = ()
    """Those of them whose layer took part in that step."""
    bent: str = ""
    """The function that made probabilities of an output whose loss wants logits."""

    @property
    def learnt(self) -> bool:
        return self.losses[-1] <= LEARNT * abs(self.losses[0]) and self.accuracy in (
            None,
            1.0,
        )

    @property
    def over(self) -> bool:
        return self.learnt or not math.isfinite(self.losses[-1])

    @property
    def order(self) -> tuple[float, float]:
        """Smaller is better."""
        last = self.losses[-1]
        return -(self.accuracy or 0.0), last if math.isfinite(last) else math.inf


@dataclass(frozen=True, slots=True)
class Tried:
    """The best attempt, and the same with inputs set to zero."""

    best: Trained
    rates: tuple[float, ...]
    zeroed: tuple[float, ...] = ()


def learner_for(model: Any, batch: Any, loss: Any) -> Learner:
    """The learner of the model's framework. InputError when it is of none that is known."""
    kinds = {kind.__module__.partition(".")[0] for kind in type(model).__mro__}
    if "keras" in kinds:
        return KerasLearner(model, batch, loss)
    if "torch" in kinds:
        return TorchLearner(model, batch, loss)
    got = f"Received: {type(model).__name__}."
    raise InputError(f"A model is a torch module, a Lightning module or a Keras model. {got}")


def overfit(learner: Learner, steps: int, rates: Sequence[float]) -> Tried:
    """Try the rates until one learns; the best counts. Then once more without looking at the
    inputs.
    """
    with random_numbers_kept():
        tried: list[Trained] = []
        for rate in rates:
            tried.append(learner.train(rate, steps))
            if tried[-1].learnt:
                break
        best = min(tried, key=lambda one: one.order)
        zeroed: list[float] = []
        if learner.can_zero:
            zeroed = learner.train(best.rate, len(best.losses), zeroed=True).losses
    return Tried(
        best,
        tuple(one.rate for one in tried),
        tuple(zeroed),
    )


@contextmanager
def random_numbers_kept() -> Iterator[None]:
    """Python's and NumPy's random numbers go on afterwards as if nothing had been drawn."""
    numpy = sys.modules.get("numpy")
    own = random.getstate()
    theirs = numpy.random.get_state() if numpy is not None else None
    try:
        yield
    finally:
        random.setstate(own)
        if numpy is not None:
            numpy.random.set_state(theirs)


class KerasLearner:
    """A Keras model with its batch."""

    def __init__(self, model: Any, batch: Any, loss: Any) -> None:
        self._model = model
        self._loss = loss if loss is not None else getattr(model, "loss", None)
        if not self._loss:
            fix = "Compile it, or give loss='mse'."
            raise InputError(
                f"{type(model).__name__} has no loss.",
                next_step=fix,
            )
        if not (isinstance(batch, tuple | list) and len(batch) == 2):
            raise InputError(
                "A batch is a pair: inputs and targets. Received: " + type(batch).__name__ + "."
            )
        self._inputs, self._targets = batch
        # Whether inputs set to zero mean anything: they do not for words and classes.
        self.can_zero = "float" in str(getattr(self._inputs, "dtype", ""))

    def train(
        self,
        rate: float,
        steps: int,
        *,
        zeroed: bool = False,
    ) -> Trained:
        """Train a fresh copy with Adam at this rate until it has learnt the batch, or for so
        many steps.
        """
        import keras

        inputs = self._inputs * 0 if zeroed else self._inputs
        if not self._model.built:
            says = f"{type(self._model).__name__} has no weights yet."
            raise InputError(says, next_step="Call it once on the inputs.")
        try:
            model = keras.models.clone_model(self._model)
            if not model.built:
                model(self._inputs)
            model.set_weights(self._model.get_weights())
        except Exception as error:
            raise InputError(f"{type(self._model).__name__} cannot be cloned: {error}.") from error
        model.compile(
            optimizer=keras.optimizers.Adam(rate),
            loss=self._loss,
        )
        run = Trained(rate)
        for _ in range(steps):
            # The loss that a step reports is a mean over all steps since the last reset.
            model.reset_metrics()
            logs = model.train_on_batch(inputs, self._targets)
            run.losses.append(float(logs[0] if isinstance(logs, list) else logs))
            if run.over and not (zeroed and run.learnt):
                break
        return run


class TorchLearner:
    """A torch or Lightning module with its batch: by its own `training_step`, or by a loss that
    fits.
    """

    def __init__(
        self,
        model: Any,
        batch: Any,
        loss: Callable[[Any, Any], Any] | None,
    ) -> None:
        self._model = model
        self._batch = batch
        self._loss = loss
        self._own_step = loss is None and callable(getattr(model, "training_step", None))
        if not self._own_step and isinstance(batch, dict) and (loss is None or LABELS in batch):
            # As Hugging Face models take it: labels among the inputs, the loss among the outputs.
            inputs = (
                batch
                if loss is None
                else {name: part for name, part in batch.items() if name != LABELS}
            )
            self._batch = (inputs, batch.get(LABELS))
        elif not self._own_step and not (isinstance(batch, tuple | list) and len(batch) == 2):
            says = "A batch is a pair of inputs and targets, or a dict that the model takes."
            raise InputError(f"{says} Received: {type(batch).__name__}.")
        self.can_zero = not self._own_step and all(
            getattr(part, "is_floating_point", bool)()
            for part in _named_parts(self._batch[0]).values()
        )

    def train(
        self,
        rate: float,
        steps: int,
        *,
        zeroed: bool = False,
    ) -> Trained:
        import torch

        devices = sorted(
            {p.device.index for p in self._model.parameters() if p.device.type == "cuda"}
        )
        with torch.random.fork_rng(devices=devices), torch.enable_grad():
            torch.manual_seed(SEED)
            try:
                model = copy.deepcopy(self._model)
            except Exception as error:
                fix = (
                    "Give a model that has not been run yet, or one without tensors made by others."
                )
                what = f"{type(self._model).__name__} cannot be copied: {error}."
                raise InputError(what, next_step=fix) from error
            return self._train(model, rate, steps, zeroed)

    def _train(
        self,
        model: Any,
        rate: float,
        steps: int,
        zeroed: bool,
    ) -> Trained:
        import torch

        named = [
            (name, weight) for name, weight in model.named_parameters() if weight.requires_grad
        ]
        if not named:
            raise InputError(f"{type(model).__name__} has no weight that may be trained.")
        optimizer = torch.optim.Adam(
            [weight for _, weight in named],
            lr=rate,
        )
        run = Trained(rate)
        model.train()
        for step in range(steps):
            optimizer.zero_grad()
            with _calls_of(model if step == 0 else None) as called:
                loss, run.accuracy = self._step(model, zeroed, run)
            run.losses.append(float(loss.detach()))
            if run.over and not (zeroed and run.learnt):
                break
            loss.backward()
            if step == 0:
                run.untouched = tuple(
                    name for name, one in named if one.grad is None or not one.grad.any()
                )
                run.detached = tuple(
                    name for name in run.untouched if name.rpartition(".")[0] in called
                )
            optimizer.step()
        return run

    def _step(
        self,
        model: Any,
        zeroed: bool,
        run: Trained,
    ) -> tuple[Any, float | None]:
        if self._own_step:
            output = model.training_step(self._batch, 0)
            return output["loss"] if isinstance(output, dict) else output, None
        inputs, targets = self._batch
        parts = {name: part * 0 if zeroed else part for name, part in _named_parts(inputs).items()}
        output = model(**parts) if isinstance(inputs, dict) else model(*parts.values())
        # What a model gives: a tensor, or among others the scores as `logits` and its own loss.
        given = output.get if isinstance(output, dict) else partial(getattr, output)
        if (
            self._loss is None
            and isinstance(inputs, dict)
            and (own := given("loss", None)) is not None
        ):
            return own, None
        if targets is None:
            fix = "Put labels in it, or give loss=..."
            raise InputError("The model gives no loss for this dict.", next_step=fix)
        scores = given("logits", None)
        if scores is not None:
            output = scores
        if self._loss is None or _takes_logits(self._loss):
            # The function that made probabilities of the output; empty for logits.
            made_by = getattr(getattr(output, "grad_fn", None), "name", str)()
            run.bent = next(
                (one for one in ("Softmax", "Sigmoid") if made_by.startswith(one)), ""
            ).lower()
        loss = _fitting_loss if self._loss is None else self._loss
        return loss(output, targets), _accuracy(output, targets)


def _named_parts(inputs: Any) -> dict[str, Any]:
    """The inputs of a model by name; those without one by number."""
    if isinstance(inputs, dict):
        return inputs
    return {
        str(at): one
        for at, one in enumerate(inputs if isinstance(inputs, tuple | list) else [inputs])
    }


@contextmanager
def _calls_of(model: Any) -> Iterator[set[str]]:
    """Names of the innermost modules that are called meanwhile; none of them without a model."""
    called: set[str] = set()
    leaves = []
    if model is not None:
        leaves = [pair for pair in model.named_modules() if not list(pair[1].children())]
    hooks = [
        leaf.register_forward_hook(lambda *_, of=name: called.add(of))
        for name, leaf in leaves
        if name
    ]
    try:
        yield called
    finally:
        for hook in hooks:
            hook.remove()


def _takes_logits(loss: Any) -> bool:
    from torch import nn

    named = (
        nn.functional.cross_entropy,
        nn.functional.binary_cross_entropy_with_logits,
    )
    return loss in named or isinstance(loss, nn.CrossEntropyLoss | nn.BCEWithLogitsLoss)


def _fitting_loss(output: Any, targets: Any) -> Any:
    """Cross-entropy for classes, logistic for yes or no, else the squared error."""
    from torch import Tensor
    from torch.nn import functional

    if not isinstance(output, Tensor) or not isinstance(targets, Tensor):
        kind = type(output).__name__
        raise InputError(
            f"No loss is known for an output of type {kind}.", next_step="Give loss=..."
        )
    if not targets.is_floating_point() and output.dim() == targets.dim() + 1:
        return functional.cross_entropy(output, targets)
    if output.numel() != targets.numel():
        got = f"output={tuple(output.shape)}, targets={tuple(targets.shape)}"
        raise InputError(
            f"No loss is known for these shapes. Received: {got}.",
            next_step="Give loss=...",
        )
    wanted = targets.reshape(output.shape).to(output.dtype)
    if ((targets == 0) | (targets == 1)).all() and (targets == 1).any():
        return functional.binary_cross_entropy_with_logits(output, wanted)
    return functional.mse_loss(output, wanted)


def _accuracy(output: Any, targets: Any) -> float | None:
    """The share of right answers; none where the targets are not classes."""
    from torch import Tensor

    if (
        not isinstance(output, Tensor)
        or not isinstance(targets, Tensor)
        or targets.is_floating_point()
    ):
        return None
    if output.dim() == targets.dim() + 1 and output.shape[1] > 1:
        return float((output.argmax(1) == targets).float().mean())
    return None
