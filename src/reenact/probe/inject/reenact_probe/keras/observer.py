"""The observer of Keras 3 on any backend: what `fit` is asked to do, what its callbacks hear
meanwhile, where losses, optimizers and layers are made. What happens inside is seen on torch alone
(`on_torch`).
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import time
from typing import Any

import numpy

from reenact_probe import ending
from reenact_probe.data import Data, Split
from reenact_probe.folder import STEP
from reenact_probe.guard import before, guarded, patch, when_made
from reenact_probe.keras import graph
from reenact_probe.places import Made, caller
from reenact_probe.recorder import Recorder
from reenact_probe.torch.facts import graph as graph_facts
from reenact_probe.types import (
    Args,
    Array,
    Facts,
    Function,
    Kwargs,
    Library,
    Logs,
    Module,
    Optimizer,
    Place,
)

NAN = float("nan")


def base_optimizer() -> Any:
    """The class of all optimizers of Keras."""
    return importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer


def definer(cls: type, name: str) -> Any:
    """The class that a method comes from."""
    return next(base for base in cls.__mro__ if name in vars(base))


def _row_shape(shape: Any) -> tuple[int, ...]:
    """The shape of one row, without last dimensions of one."""
    sizes = [int(size) if size is not None else 0 for size in shape[1:]]
    while sizes and sizes[-1] == 1:
        sizes.pop()
    return tuple(sizes)


class KerasObserver:
    """One per process. What is inside `fit` it does not see: a step is what the callbacks tell
    of it.
    """

    def __init__(
        self,
        keras: Library,
        recorder: Recorder,
        data: Data | None = None,
        made: Made | None = None,
    ) -> None:
        self.recorder = recorder
        self.data = data or Data()
        self.made = made or Made()
        self.in_fit = False
        """A `fit` is under way."""
        self.model: Module | None = None
        """The model that is trained, once it is known."""
        self.loss: Facts | None = None
        """Facts of the first loss that was called with the labels, else of the first."""
        self._label_shape: tuple[int, ...] | None = None
        """Of one row, where `fit` was given arrays."""
        self._of_labels = False
        """The loss that is known compares with the labels, not with inputs to be rebuilt."""
        self._described: tuple[Module, list[Facts]] | None = None
        self._compiled_at: Place | None = None
        self._fit_at: Place | None = None
        self._epochs_begun = 0
        trainer = definer(keras.Model, "fit")
        before(definer(keras.Model, "compile"), "compile", self._compiled)
        patch(trainer, "fit", self._wrap_fit)
        signature = inspect.signature(trainer.evaluate)
        before(
            trainer,
            "evaluate",
            lambda *args, **kwargs: self._evaluates(signature, args, kwargs),
        )
        callbacks = keras.callbacks.CallbackList
        before(callbacks, "on_epoch_begin", self._epoch_begins)
        before(
            callbacks,
            "on_epoch_end",
            lambda list_, epoch, logs=None: self._logged(logs, ""),  # noqa: ARG005
        )
        before(
            callbacks,
            "on_test_end",
            lambda _, logs=None: self._logged(logs, "test_"),
        )
        when_made(keras.losses.Loss, self._note)
        before(keras.losses.Loss, "__call__", self._before_loss)
        when_made(base_optimizer(), self._note)
        self._watch_steps(keras)

    def _watch_steps(self, keras: Library) -> None:
        """Note layers and steps, from outside."""
        # Not `__init__`: Keras reads that signature to learn what a layer was given.
        layer = keras.layers.Layer
        original = keras.layers.Layer.__new__

        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            made = original(cls, *args, **kwargs)
            self._note(made)
            return made

        layer.__new__ = staticmethod(__new__)
        callbacks = keras.callbacks.CallbackList
        before(
            callbacks,
            "on_train_batch_end",
            lambda list_, batch, logs=None: self._step_ends(logs),  # noqa: ARG005
        )

    def place(self, thing: Any) -> Place | None:
        """Where a part was made. One that Keras makes itself, of a name, is where `compile`
        is called.
        """
        place = self.made.place(thing)
        if place is None or place == self._fit_at:
            return self._compiled_at
        return place

    @guarded("keras-construct")
    def _note(self, thing: Any) -> None:
        self.made.note(thing)

    @guarded("compile")
    def _compiled(self, *_: Any, **__: Any) -> None:
        self._compiled_at = caller()

    def _before_loss(
        self,
        loss: Any,
        y_true: Any,
        y_pred: Any,
        *args: Any,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> None:
        if not self._of_labels:
            self._loss_called(loss, y_true, y_pred)

    @guarded("keras-loss")
    def _loss_called(self, loss: Any, y_true: Any, y_pred: Any) -> None:
        if type(loss).__name__ == "CompileLoss":
            return
        shapes = [list(getattr(value, "shape", ())) for value in (y_pred, y_true)]
        of_labels = self._label_shape is None or _row_shape(shapes[1]) == self._label_shape
        if self.loss is None or (of_labels and not self._of_labels):
            # Keras itself takes away or adds a last dimension of one.
            same_rank = len(shapes[0]) == len(shapes[1])
            facts = graph.loss_facts(loss, self.place(loss))
            self.loss = dict(facts, compared=shapes if same_rank else None)
            self._of_labels = of_labels
        if of_labels or not self._of_labels:
            self._compared(y_pred, y_true)

    def _compared(self, prediction: Any, target: Any) -> None:
        """A loss compares these two."""

    def _wrap_fit(self, original: Function) -> Function:
        signature = inspect.signature(original)

        def fit(model: Module, *args: Any, **kwargs: Any) -> Any:
            outer = self.in_fit
            self._fit_begins(model, signature, args, kwargs)
            self.in_fit = True
            try:
                return original(model, *args, **kwargs)
            finally:
                self.in_fit = outer
                self._fit_ends(model)

        return fit

    @guarded("fit")
    def _fit_begins(
        self,
        model: Module,
        signature: inspect.Signature,
        args: Args,
        kwargs: Kwargs,
    ) -> None:
        self.model, self._fit_at = model, caller()
        try:
            given = signature.bind(model, *args, **kwargs)
        except TypeError:
            return
        given.apply_defaults()
        wanted = given.arguments
        facts = {key: wanted.get(key) for key in ("batch_size", "epochs", "validation_split")}
        facts.update(
            shuffle=bool(wanted.get("shuffle")),
            data=type(wanted.get("x")).__name__,
        )
        facts["weighted"] = any(
            wanted.get(name) is not None for name in ("class_weight", "sample_weight")
        )
        labels = getattr(wanted.get("y"), "shape", None)
        self._label_shape = _row_shape(labels) if labels is not None else None
        self.recorder.event("fit", place=self._fit_at, **facts)
        x = wanted.get("x")
        y = wanted.get("y")
        held = wanted.get("validation_data")
        share = wanted.get("validation_split")
        first = _array(x)
        if held is None and share and y is not None and first is not None:
            # What Keras itself does with `validation_split`: the last rows are held out.
            cut = int(len(first) * (1 - share))
            held = _cut(x, slice(cut, None)), _cut(y, slice(cut, None))
            x = _cut(x, slice(cut))
            y = _cut(y, slice(cut))
        self._read_split("train", x, y)
        if isinstance(held, (tuple, list)) and len(held) >= 2:
            self._read_split("validation", held[0], held[1])

    def _read_split(self, name: str, x: Any, y: Any) -> None:
        """Facts of the data of `fit` or `evaluate`: arrays are read in place, generators left
        alone.
        """
        split = Split(self.recorder.step)
        inputs = _array(x)
        for role, array in (
            ("input", inputs),
            ("label", _array(y)),
        ):
            if inputs is not None and array is not None:
                split.read(
                    role,
                    functools.partial(_rows, array),
                    len(array),
                    array.dtype,
                )
        if inputs is not None:
            self.data.whole[name], self.data.dirty = split, True

    @guarded("fit-end")
    def _fit_ends(self, model: Module) -> None:  # noqa: ARG002
        if self.recorder.owned:
            self.describe()

    @guarded("evaluate")
    def _evaluates(
        self,
        signature: inspect.Signature,
        args: Args,
        kwargs: Kwargs,
    ) -> None:
        if self.in_fit:
            return
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return
        self._read_split(
            "test",
            given.get("x"),
            given.get("y"),
        )

    @guarded("epoch")
    def _epoch_begins(self, container: Any, *_: Any, **__: Any) -> None:
        self.recorder.epoch = self._epochs_begun
        self._epochs_begun += 1
        self._expect((getattr(container, "params", None) or {}).get("steps"))

    def _expect(self, steps: int | None) -> None:
        """An epoch of so many steps, where that is known, is about to run."""
        # Now: while an epoch runs, JAX keeps the values of the variables to itself.
        self.describe()
        self._ask_for_last(steps)

    def _ask_for_last(self, steps: int | None) -> int | None:
        """The last step of the epoch, when it will be looked at."""
        last = self.recorder.step + (steps or 0) - 1
        if steps and self.recorder.schedule.epoch_ends(last):
            return last
        return None

    @guarded("metrics")
    def _logged(self, logs: Logs, prefix: str) -> None:
        for name, value in (logs or {}).items():
            if not (prefix and self.in_fit):
                self.recorder.metric(prefix + name, value, "keras")

    @guarded("keras-step")
    def _step_ends(self, logs: Logs) -> None:
        """A step on a backend whose inside is not seen: the loss is read on sampled steps only."""
        recorder = self.recorder
        schedule = recorder.schedule
        now = time.perf_counter()
        sampled = not schedule.bare and schedule.next(recorder.step) == recorder.step
        if sampled:
            schedule.looked(recorder.step)
        read = sampled or schedule.bare
        loss = float((logs or {}).get("loss", NAN)) if read else NAN
        rate = graph.learning_rate(self.model.optimizer) if read and self.model is not None else NAN
        row = [NAN] * len(STEP)
        row[:5] = recorder.step, now - recorder.began, recorder.epoch, loss, rate
        row[6] = 1
        row[8] = 1
        row[9] = float(sampled)
        row[10] = 0
        recorder.tables["steps"].add(row)
        recorder.step += 1
        if recorder.step == 1:
            recorder.note_missing("the loss of a step is the running mean of its epoch")
            self.describe()
        if now >= recorder.next_flush:
            recorder.flush()
        if recorder.config.stop_after is not None and recorder.step >= recorder.config.stop_after:
            ending.stop_here(recorder)

    def describe(self) -> None:
        """Write the graph of a model whose inside is not seen; its weights are those it began
        with.
        """
        model = self.model
        if model is None or not model.built:
            return
        if self._described is None or self._described[0] is not model:
            layers = [
                graph.layer_facts(
                    layer,
                    self.made.place(layer),
                )
                for layer in graph.leaves(model)
            ]
            self._described = (model, layers)
        self.recorder.write_graph(
            self.graph_of(
                self._described[1],
                model.optimizer,
            )
        )

    def graph_of(
        self,
        layers: list[Facts],
        optimizer: Optimizer | None,
        batch_size: int = 0,
    ) -> Facts:
        """The model graph as JSON, no matter who found the layers."""
        model = self.model
        weights = model.weights if model is not None else []
        facts = (
            graph.optimizer_facts(optimizer, self.place(optimizer))
            if optimizer is not None
            else None
        )
        name = type(model).__name__ if model is not None else ""
        sizes = [
            (
                math.prod(part or 1 for part in weight.shape),
                weight.trainable,
            )
            for weight in weights
        ]
        made = {
            "framework": "keras",
            "model": name,
            "layers": layers,
            "loss": self.loss,
        }
        return graph_facts(sizes, batch_size, optimizer=facts, **made)

    def finish(self) -> None:
        """The process ends."""
        if self.recorder.owned:
            self.recorder.write_data(self.data.take_news(self.recorder.step))

    def crash_facts(self, _: BaseException) -> Facts:
        return {}


def _array(value: Any) -> Any:
    """The first array in what was given: numpy, torch on the CPU, or a list of them; none for a
    generator.
    """
    if isinstance(value, (list, tuple)) and value and hasattr(value[0], "shape"):
        value = value[0]
    if isinstance(value, dict) and value:
        value = next(iter(value.values()))
    if type(value).__module__.startswith("pandas"):
        value = value.to_numpy()
    if isinstance(value, (list, tuple)):
        try:
            value = numpy.asarray(value)
        except (ValueError, TypeError):
            return None
        if value.dtype.kind not in "fiub":
            return None
    shape = getattr(value, "shape", None)
    usable = shape is not None and len(shape) > 0 and len(value) > 0
    usable = usable and str(getattr(value, "dtype", "object")) not in (
        "object",
        "string",
    )
    # What lies on a device is not read.
    if usable and getattr(getattr(value, "device", None), "type", "cpu") == "cpu":
        return value
    return None


def _rows(array: Any, chosen: slice) -> Array:
    rows = array[chosen]
    if hasattr(rows, "detach"):
        return rows.detach().numpy()
    return numpy.asarray(rows)


def _cut(value: Any, rows: slice) -> Any:
    if isinstance(value, dict):
        return {key: _cut(part, rows) for key, part in value.items()}
    if isinstance(value, (list, tuple)) and value and hasattr(value[0], "shape"):
        return [part[rows] for part in value]
    return value[rows]
