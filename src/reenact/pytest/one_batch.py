"""Training on one batch over and over, on a copy: what the probe does to a program, done to a model at hand.

The model that was given stays bit for bit as it was, and so do the random numbers of whoever asked. A Keras
model is trained on any engine, as a clone with the same weights and its own loss.
"""

import math
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from reenact.errors import InputError
from reenact.probe.trace import OneBatch

RATES = (1e-2, 1e-3, 1e-1)
"""Of Adam, in the order tried: the first is quick, deep models need the next, far labels the third."""
LEARNT = 0.02
"""Share of the first loss that is as good as none."""


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
        low = self.losses[-1] <= LEARNT * abs(self.losses[0])
        return low and self.accuracy in (None, 1.0)

    @property
    def over(self) -> bool:
        return self.learnt or not math.isfinite(self.losses[-1])

    @property
    def order(self) -> tuple[float, float]:
        """Smaller is better."""
        last = self.losses[-1]
        return -(self.accuracy or 0.0), last if math.isfinite(last) else math.inf


class Learner(Protocol):
    """A model of a framework, ready to be copied and trained on its batch."""

    can_zero: bool
    """Whether inputs set to zero mean anything: they do not for words and classes."""

    def train(self, rate: float, steps: int, *, zeroed: bool = False) -> Trained:
        """Train a fresh copy with Adam at this rate until it has learnt the batch, or for so many steps."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The best attempt, and the same with inputs set to zero."""

    best: Trained
    rates: tuple[float, ...]
    zeroed: tuple[float, ...] = ()

    @property
    def as_experiment(self) -> OneBatch:
        best = self.best
        return OneBatch(len(best.losses), tuple(best.losses), best.accuracy, self.zeroed)


def learner_for(model: Any, batch: Any, loss: Any) -> Learner:
    """The learner of the model's framework. InputError when it is of none that is known."""
    kinds = {kind.__module__.partition(".")[0] for kind in type(model).__mro__}
    if "keras" in kinds:
        return KerasLearner(model, batch, loss)
    if "torch" in kinds:
        from reenact.pytest.torch_batch import TorchLearner

        return TorchLearner(model, batch, loss)
    raise InputError(
        f"A model is a torch module, a Lightning module or a Keras model. Received: {type(model).__name__}."
    )


def overfit(learner: Learner, steps: int, rates: Sequence[float]) -> Tried:
    """Try the rates until one learns; the best counts. Then once more without looking at the inputs."""
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
    return Tried(best, tuple(one.rate for one in tried), tuple(zeroed))


@contextmanager
def random_numbers_kept() -> Iterator[None]:
    """Python's and NumPy's random numbers go on afterwards as if nothing had been drawn."""
    numpy = sys.modules.get("numpy")
    own, theirs = random.getstate(), numpy.random.get_state() if numpy is not None else None
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
            raise InputError(
                f"{type(model).__name__} has no loss.", next_step="Compile it, or give loss='mse'."
            )
        if not (isinstance(batch, tuple | list) and len(batch) == 2):
            raise InputError("A batch is a pair: inputs and targets. Received: " + type(batch).__name__ + ".")
        self._inputs, self._targets = batch
        self.can_zero = "float" in str(getattr(self._inputs, "dtype", ""))

    def train(self, rate: float, steps: int, *, zeroed: bool = False) -> Trained:
        import keras

        inputs = self._inputs * 0 if zeroed else self._inputs
        model = self._copied(keras)
        model.compile(optimizer=keras.optimizers.Adam(rate), loss=self._loss)
        run = Trained(rate)
        for _ in range(steps):
            # The loss that a step tells is a mean over all steps since the last reset.
            model.reset_metrics()
            logs = model.train_on_batch(inputs, self._targets)
            run.losses.append(float(logs[0] if isinstance(logs, list) else logs))
            if run.over and not (zeroed and run.learnt):
                break
        return run

    def _copied(self, keras: Any) -> Any:
        if not self._model.built:
            raise InputError(
                f"{type(self._model).__name__} has no weights yet.", next_step="Call it once on the inputs."
            )
        try:
            model = keras.models.clone_model(self._model)
            if not model.built:
                model(self._inputs)
            model.set_weights(self._model.get_weights())
        except Exception as error:
            raise InputError(f"{type(self._model).__name__} cannot be cloned: {error}.") from error
        return model
