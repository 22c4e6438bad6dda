"""The observer of Keras 3: fit, evaluate and train_on_batch from outside; layers and gradients on the
torch backend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reenact_probe import keras_graph
from reenact_probe.keras_callbacks import Callbacks
from reenact_probe.keras_fit import Fit
from reenact_probe.keras_parts import Parts
from reenact_probe.types import Facts, Library, Module, Optimizer

if TYPE_CHECKING:
    from reenact_probe.boot import Session
    from reenact_probe.facts import Data
    from reenact_probe.made import Made

NAN = float("nan")


class KerasWatch:
    """One per process. On torch it works through the torch observer; elsewhere it sees what `fit` sees."""

    def __init__(self, keras: Library, session: Session) -> None:
        self.recorder = session.recorder
        backend = keras.backend.backend()
        self.recorder.note_framework("keras backend", backend)
        self.torch_watch = session.torch if backend == "torch" else None
        self.model: Module | None = None
        self._described: tuple[Module, list[Facts]] | None = None
        self.made, self.data = self._shared()
        self.callbacks = Callbacks(keras, self)
        self.fit = Fit(keras, self)
        self.parts = Parts(keras, self)
        if self.torch_watch is not None:
            from reenact_probe.keras_torch import KerasTorch

            self.torch_part = KerasTorch(keras, self, self.torch_watch)
        else:
            self.recorder.note_missing(
                f"gradients, weights and layer outputs: Keras runs on {backend}, "
                "only fit-level facts are seen"
            )

    def _shared(self) -> tuple[Made, Data]:
        """Places of things made, and facts of data: those of the torch observer where there is one."""
        if self.torch_watch is not None:
            return self.torch_watch.made, self.torch_watch.data
        from reenact_probe.facts import Data
        from reenact_probe.made import Made

        return Made(), Data()

    @property
    def in_fit(self) -> bool:
        return self.fit.under_way

    @property
    def loss(self) -> Facts | None:
        return self.parts.loss

    def joined(self, model: Module, begins: bool) -> None:
        """A callback joins a `fit` that began before anybody looked, or leaves it."""
        self.model = model
        self.fit.under_way = begins

    def fit_ends(self, model: Module) -> None:
        if self.torch_watch is not None:
            self.torch_part.fit_ends(model)
        elif self.recorder.owned:
            self.describe()

    @staticmethod
    def learning_rate(optimizer: Optimizer) -> float:
        """The rate of the step to come, as a number."""
        try:
            value = optimizer._get_current_learning_rate()
            value = getattr(value, "value", value)
            return float(value.item() if hasattr(value, "item") else value)
        except (AttributeError, TypeError, ValueError):
            return NAN

    def describe(self) -> None:
        """Write the graph of a model whose inside is not seen; its weights are those it began with."""
        model = self.model
        if model is None or not model.built:
            return
        if self._described is None or self._described[0] is not model:
            leaves = keras_graph.leaves(model)
            layers = [keras_graph.layer_facts(layer, self.made.place(layer)) for layer in leaves]
            self._described = (model, layers)
        self.recorder.write_graph(self.graph(self._described[1], model, model.optimizer))

    def graph(self, layers: list[Facts], model: Module | None, optimizer: Optimizer | None) -> Facts:
        """The model graph as JSON, whoever found the layers."""
        weights = model.weights if model is not None else []
        facts = None
        if optimizer is not None:
            given = len(getattr(optimizer, "_trainable_variables", ()))
            rate = self.learning_rate(optimizer)
            facts = keras_graph.optimizer_facts(optimizer, self.parts.place(optimizer), rate, given)
        return {
            "framework": "keras",
            "model": type(model).__name__ if model is not None else "",
            "layers": layers,
            "loss": self.loss,
            "optimizer": facts,
            "parameters": int(sum(_size(variable.shape) for variable in weights)),
            "trainable_parameters": int(
                sum(_size(variable.shape) for variable in weights if variable.trainable)
            ),
            "unregistered": [],
            "batch_size": None,
        }

    def finish(self) -> None:
        """The process ends."""
        if self.torch_watch is None and self.recorder.owned and self.data.dirty:
            self.recorder.folder.write_json("data.json", self.data.as_dict(self.recorder.step))

    @staticmethod
    def crash_facts(_: Any) -> Facts:
        return {}


def _size(shape: Any) -> int:
    size = 1
    for part in shape:
        size *= part or 1
    return size
