"""Keras on torch: layers, gradients and weights, seen through the torch observer."""

from __future__ import annotations

import importlib
import weakref

from reenact_probe import keras_graph
from reenact_probe.guard import guarded, patch
from reenact_probe.keras_forward import KerasForward

RATE = 4
"""Column of the learning rate."""


class KerasTorch:
    """Joins the two observers: Keras's optimiser is the step, Keras's layers are the layers."""

    def __init__(self, keras, keras_watch, watch):
        self.keras = keras
        self.outer = keras_watch
        self.watch = watch
        watch.keras = self
        self.torch = watch.torch
        self.forward = KerasForward(keras, self.torch, watch.forwards)
        self._optimizer = None
        self._described = None
        base = importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer
        patch(base, "apply", self._wrap_apply)
        if watch.forwards.armed:
            self.forward.switch(True)

    def owns(self, module):
        return isinstance(module, self.keras.layers.Layer)

    # Layers -----------------------------------------------------------------------------------------------

    def new_layer(self, layer):
        """Number a Keras layer that is called for the first time."""
        watch = self.watch
        name = watch.model._unique(layer.name)
        quiet = type(layer).__name__ in keras_graph.QUIET
        return watch.layers.add(layer, name, keras_graph.activation_of(layer), -1, quiet)

    def root_called(self, model):
        """A Keras model passed forward: its variables get the names Keras gives them."""
        if self.outer.model is None and hasattr(model, "layers"):
            self.outer.model = model
        self._know(model.weights)

    def _know(self, variables):
        """Name the tensors behind variables. Not `value`: while Keras works out shapes, or casts, that is
        another tensor each time.
        """
        found = [(getattr(variable, "_value", None), variable.path) for variable in variables]
        found = [(tensor, path) for tensor, path in found if isinstance(tensor, self.torch.Tensor)]
        for tensor, path in found:
            self.watch.parameters.add(tensor, path)
        return [tensor for tensor, _ in found]

    def loss_called(self, y_true, y_pred):
        tensors = (self.torch.Tensor, self.torch.nn.Parameter)
        if self.watch.window is not None and self.torch.is_grad_enabled():
            if isinstance(y_pred, tensors) and isinstance(y_true, tensors):
                self.watch.sight.pair(y_pred, y_true)
            self.watch.model.loss = self.watch.model.loss or self.outer.loss

    # Steps ------------------------------------------------------------------------------------------------

    def _wrap_apply(self, original):
        def apply(optimizer, grads, trainable_variables=None):
            rate = self._before(optimizer, trainable_variables)
            result = original(optimizer, grads, trainable_variables)
            self._after(optimizer, rate)
            return result

        return apply

    @guarded("keras-apply")
    def _before(self, optimizer, variables):
        steps = self.watch.steps
        steps.know(optimizer)
        self._optimizer = weakref.ref(optimizer)
        rate = self._rate(optimizer)
        if self.watch.window is not None:
            # Anything else may be a generator, which only the optimiser may use up.
            listed = isinstance(variables, (list, tuple))
            given = variables if listed else getattr(optimizer, "_trainable_variables", ())
            self.watch.update.begins(self._know(given), late=False)
        return rate

    def _rate(self, optimizer):
        """Every step where it is a plain variable on the CPU. Elsewhere reading it costs: on sampled steps,
        and where nothing else is read.
        """
        variable = getattr(optimizer, "_learning_rate", None)
        value = getattr(variable, "_value", None)
        if isinstance(value, self.torch.Tensor) and value.device.type == "cpu":
            return value.item()
        wanted = self.watch.window is not None or self.watch.recorder.schedule.bare
        return self.outer.learning_rate(optimizer) if wanted else float("nan")

    @guarded("keras-apply-end")
    def _after(self, optimizer, rate):
        steps = self.watch.steps
        steps.end_step(optimizer, rate if rate is not None else float("nan"), steps.carried(optimizer))

    def fit_ends(self, model):
        """A schedule's last rate belongs into the last row, sampled or not."""
        rows = self.watch.recorder.tables["steps"].rows
        if rows and model.optimizer is not None and rows[-1][RATE] != rows[-1][RATE]:
            rate = self.outer.learning_rate(model.optimizer)
            rows[-1] = (*rows[-1][:RATE], rate, *rows[-1][RATE + 1 :])

    # The graph --------------------------------------------------------------------------------------------

    def graph(self):
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
        optimizer = self._optimizer() if self._optimizer is not None else None
        graph = self.outer.graph(layers, self.outer.model, optimizer)
        graph["batch_size"] = watch.batch_size() or None
        return graph
