"""Keras on torch: layers, gradients and weights, seen through the torch observer."""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reenact_probe import keras_graph
from reenact_probe.guard import guarded, patch
from reenact_probe.keras_forward import KerasForward
from reenact_probe.types import Facts, Function, Library, Module, Optimizer, Tensor

if TYPE_CHECKING:
    from reenact_probe.keras_watch import KerasWatch
    from reenact_probe.layers import LayerInfo
    from reenact_probe.torch_watch import TorchWatch

NAN = float("nan")
RATE = 4
"""Column of the learning rate."""


class KerasTorch:
    """Joins the two observers: Keras's optimiser is the step, Keras's layers are the layers."""

    def __init__(self, keras: Library, keras_watch: KerasWatch, watch: TorchWatch) -> None:
        self.keras = keras
        self.outer = keras_watch
        self.watch = watch
        watch.keras = self
        self.torch = watch.torch
        KerasForward(keras, watch.forwards)
        self._stepped: Callable[[], Optimizer | None] = lambda: None
        """The optimiser that stepped last, held weakly."""
        base = importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer
        patch(base, "apply", self._wrap_apply)

    def owns(self, module: Module) -> bool:
        return isinstance(module, self.keras.layers.Layer)

    # Layers -----------------------------------------------------------------------------------------------

    def new_layer(self, layer: Module) -> LayerInfo | None:
        """Number a Keras layer that is called for the first time."""
        watch = self.watch
        name = watch.model._unique(layer.name)
        quiet = type(layer).__name__ in keras_graph.QUIET
        return watch.layers.add(layer, name, keras_graph.activation_of(layer), -1, quiet)

    def root_called(self, model: Module) -> None:
        """A Keras model passed forward: its variables get the names Keras gives them."""
        if self.outer.model is None and hasattr(model, "layers"):
            self.outer.model = model
        self._know(model.weights)

    def _know(self, variables: Any) -> list[Tensor]:
        """Name the tensors behind variables. Not `value`: while Keras works out shapes, or casts, that is
        another tensor each time.
        """
        found = [(getattr(variable, "_value", None), variable.path) for variable in variables]
        found = [(tensor, path) for tensor, path in found if isinstance(tensor, self.torch.Tensor)]
        for tensor, path in found:
            self.watch.parameters.add(tensor, path)
        return [tensor for tensor, _ in found]

    def loss_called(self, y_true: Any, y_pred: Any) -> None:
        tensors = (self.torch.Tensor, self.torch.nn.Parameter)
        if self.watch.window is not None and self.torch.is_grad_enabled():
            if isinstance(y_pred, tensors) and isinstance(y_true, tensors):
                self.watch.sight.pair(y_pred, y_true)
            self.watch.model.loss = self.watch.model.loss or self.outer.loss

    # Steps ------------------------------------------------------------------------------------------------

    def _wrap_apply(self, original: Function) -> Function:
        watch, bare = self.watch, self.watch.recorder.schedule.bare

        def apply(optimizer: Optimizer, grads: Any, trainable_variables: Any = None) -> Any:
            rate = None
            if bare or watch.window is not None or self._stepped() is not optimizer:
                rate = self._before(optimizer, trainable_variables)
            result = original(optimizer, grads, trainable_variables)
            self._after(optimizer, rate)
            return result

        return apply

    @guarded("keras-apply")
    def _before(self, optimizer: Optimizer, variables: Any) -> float:
        """Gives the rate of the step to come: after the step, a schedule tells the next one."""
        self.watch.steps.know(optimizer)
        self._stepped = weakref.ref(optimizer)
        if self.watch.window is not None:
            # Anything else may be a generator, which only the optimiser may use up.
            listed = isinstance(variables, (list, tuple))
            given = variables if listed else getattr(optimizer, "_trainable_variables", ())
            self.watch.update.begins(self._know(given), late=False)
        return self.outer.learning_rate(optimizer)

    @guarded("keras-apply-end")
    def _after(self, optimizer: Optimizer, rate: float) -> None:
        steps = self.watch.steps
        rate = self._plain_rate(optimizer) if rate is None else rate
        steps.end_step(optimizer, rate, steps.carried(optimizer))

    def _plain_rate(self, optimizer: Optimizer) -> float:
        """On a step nobody looks at, the rate is read only where it costs nothing: a variable on the CPU."""
        value = getattr(getattr(optimizer, "_learning_rate", None), "_value", None)
        return value.item() if isinstance(value, self.torch.Tensor) and value.is_cpu else NAN

    def fit_ends(self, model: Module) -> None:
        """A schedule's last rate belongs into the last row, sampled or not."""
        rows = self.watch.recorder.tables["steps"].rows
        if rows and model.optimizer is not None and rows[-1][RATE] != rows[-1][RATE]:
            rate = self.outer.learning_rate(model.optimizer)
            rows[-1] = (*rows[-1][:RATE], rate, *rows[-1][RATE + 1 :])

    # The graph --------------------------------------------------------------------------------------------

    def graph(self) -> Facts | None:
        """The captured layers of a Keras program, or none when it has none."""
        watch = self.watch
        entries = [
            entry for entry in watch.capture.entries if entry.module is not None and self.owns(entry.module)
        ]
        if not entries and self.outer.model is None:
            return None
        layers = [
            keras_graph.layer_facts(entry.module, entry.place, entry.inputs, entry.output, entry.calls)
            for entry in entries
        ]
        if not layers:
            layers = [
                keras_graph.layer_facts(layer, watch.place_of(layer))
                for layer in keras_graph.leaves(self.outer.model)
            ]
        optimizer = self._stepped()
        graph = self.outer.graph(layers, self.outer.model, optimizer)
        graph["batch_size"] = watch.batch_size() or None
        return graph
