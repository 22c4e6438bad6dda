"""The observer of Keras 3: fit, evaluate and train_on_batch from outside; layers and gradients on the torch
backend.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

from reenact_probe.data import Data
from reenact_probe.guard import before, guarded, when_made
from reenact_probe.keras import graph
from reenact_probe.keras.fit import Callbacks, Fit
from reenact_probe.keras.on_torch import KerasOnTorch
from reenact_probe.places import Made, caller
from reenact_probe.recorder import Recorder
from reenact_probe.torch.observer import TorchObserver
from reenact_probe.types import Facts, Function, Library, Module, Optimizer, Place


class KerasObserver:
    """One per process. On torch it works through the torch observer; elsewhere it sees what `fit` sees."""

    def __init__(self, keras: Library, recorder: Recorder, torch: TorchObserver | None) -> None:
        self.recorder = recorder
        backend = keras.backend.backend()
        recorder.note_framework("keras backend", backend)
        inside = torch if backend == "torch" else None
        # Places of things made, and facts of data: those of the torch observer where there is one.
        self.data = inside.data if inside is not None else Data()
        self.parts = Parts(keras, inside.made if inside is not None else Made(), self, inside is None)
        self._model: Module | None = None
        self._described: tuple[Module, list[Facts]] | None = None
        self._fit = Fit(keras, recorder, self.data, self)
        self._inside: KerasOnTorch | None = None
        if inside is None:
            recorder.note_missing(
                f"gradients, weights and layer outputs: Keras runs on {backend}, "
                "only fit-level facts are seen"
            )
        else:
            self._inside = KerasOnTorch(keras, inside, self)
        Callbacks(keras, recorder, self, sees_steps=inside is None)

    @property
    def in_fit(self) -> bool:
        return self._fit.under_way

    @property
    def model(self) -> Module | None:
        """The model that is trained, once it is known."""
        return self._model

    @property
    def looks_inside(self) -> bool:
        """The step under way is sampled: every call of a loss is of interest."""
        return self._inside is not None and self._inside.looking

    def joined(self, model: Module, begins: bool) -> None:
        """A callback joins a `fit` that began before anybody looked, or leaves it."""
        self._model = model
        self._fit.joined(begins)

    def model_called(self, model: Module) -> None:
        """The first model that is called counts until a `fit` says otherwise."""
        if self._model is None:
            self._model = model

    def fit_begins(self, model: Module, place: Place | None) -> None:
        self._model = model
        self.parts.fit_called(place)

    def fit_ends(self, model: Module) -> None:
        if self._inside is not None:
            self._inside.fit_ends(model)
        elif self.recorder.owned:
            self.describe()

    def epoch_begins(self, steps: int | None) -> None:
        """An epoch of so many steps, where that is known."""
        if self._inside is None:
            # Now: while an epoch runs, JAX keeps the values of the variables to itself.
            self.describe()
        if steps:
            last = self.recorder.step + steps - 1
            if self.recorder.schedule.epoch_ends(last) and self._inside is not None:
                self._inside.look_by(last)

    def optimizer_made(self) -> None:
        if self._inside is not None:
            self._inside.optimizer_made()

    def loss_called(self, prediction: Any, target: Any) -> None:
        if self._inside is not None:
            self._inside.loss_called(prediction, target, self.parts.loss)

    def describe(self) -> None:
        """Write the graph of a model whose inside is not seen; its weights are those it began with."""
        model = self._model
        if model is None or not model.built:
            return
        if self._described is None or self._described[0] is not model:
            layers = [graph.layer_facts(layer, self.parts.made.place(layer)) for layer in graph.leaves(model)]
            self._described = (model, layers)
        self.recorder.write_graph(self.graph(self._described[1], model.optimizer))

    def graph(self, layers: list[Facts], optimizer: Optimizer | None) -> Facts:
        """The model graph as JSON, whoever found the layers."""
        model = self._model
        weights = model.weights if model is not None else []
        facts = None
        if optimizer is not None:
            given = len(getattr(optimizer, "_trainable_variables", ()))
            rate = graph.learning_rate(optimizer)
            facts = graph.optimizer_facts(optimizer, self.parts.place(optimizer), rate, given)
        return {
            "framework": "keras",
            "model": type(model).__name__ if model is not None else "",
            "layers": layers,
            "loss": self.parts.loss,
            "optimizer": facts,
            "parameters": sum(_size(variable) for variable in weights),
            "trainable_parameters": sum(_size(variable) for variable in weights if variable.trainable),
            "unregistered": [],
            "batch_size": None,
        }

    def finish(self) -> None:
        """The process ends."""
        if self._inside is None and self.recorder.owned:
            facts = self.data.take_news(self.recorder.step)
            if facts is not None:
                self.recorder.folder.write_json("data.json", facts)

    def crash_facts(self, _: BaseException) -> Facts:
        return {}


class Parts:
    """Losses, optimizers and layers as they are made, and the loss that is called first.

    Remembers where each was made; one that Keras makes itself stands where `compile` is called.
    """

    def __init__(self, keras: Library, made: Made, observer: KerasObserver, notes_layers: bool) -> None:
        self.made = made
        self.observer = observer
        self.loss: Facts | None = None
        """Facts of the first loss that was called."""
        self._compiled_at: Place | None = None
        self._fit_at: Place | None = None
        trainer = next(base for base in keras.Model.__mro__ if "compile" in vars(base))
        before(trainer, "compile", lambda *_, **__: self._compiled())
        when_made(keras.losses.Loss, self._note)
        before(keras.losses.Loss, "__call__", self._before_loss)
        if notes_layers:
            # Not `__init__`: Keras reads that signature to learn what a layer was given.
            layer = keras.layers.Layer
            layer.__new__ = staticmethod(self._wrap_new(layer.__new__))
        optimizer = importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer
        when_made(optimizer, self._optimizer_made)

    def fit_called(self, place: Place | None) -> None:
        self._fit_at = place

    def place(self, thing: Any) -> Place | None:
        """Where a part was made. What `compile` was given by name, `fit` makes."""
        place = self.made.place(thing)
        return self._compiled_at if place is None or place == self._fit_at else place

    def _wrap_new(self, original: Function) -> Function:
        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            layer = original(cls, *args, **kwargs)
            self._note(layer)
            return layer

        return __new__

    def _optimizer_made(self, optimizer: Optimizer) -> None:
        self._note(optimizer)
        self.observer.optimizer_made()

    @guarded("keras-construct")
    def _note(self, thing: Any) -> None:
        self.made.note(thing)

    @guarded("compile")
    def _compiled(self) -> None:
        self._compiled_at = caller()

    def _before_loss(self, loss: Any, y_true: Any, y_pred: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002
        if self.loss is None or self.observer.looks_inside:
            self._loss_called(loss, y_true, y_pred)

    @guarded("keras-loss")
    def _loss_called(self, loss: Any, y_true: Any, y_pred: Any) -> None:
        if type(loss).__name__ == "CompileLoss":
            return
        if self.loss is None:
            self.loss = graph.loss_facts(loss, self.place(loss))
        self.observer.loss_called(y_pred, y_true)


def _size(variable: Any) -> int:
    return int(math.prod(part or 1 for part in variable.shape))
