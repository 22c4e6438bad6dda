"""Keras on torch: layers, gradients and weights are seen through the observer of torch.

Keras's optimizer is the step, Keras's layers are the layers.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from reenact_probe.guard import guarded, patch, when_made
from reenact_probe.keras import graph
from reenact_probe.keras.observer import NAN, KerasObserver, base_optimizer
from reenact_probe.recorder import Recorder
from reenact_probe.torch.model import LayerInfo
from reenact_probe.torch.observer import TorchObserver
from reenact_probe.types import Facts, Function, Library, Module, Optimizer, Tensor

RATE = 4
"""Column of the learning rate."""


class KerasOnTorch(KerasObserver):
    """Places of things made, and facts of data, are those of the torch observer."""

    def __init__(
        self,
        keras: Library,
        recorder: Recorder,
        inside: TorchObserver,
    ) -> None:
        self.keras = keras
        self.inside = inside
        self.torch = inside.torch
        self._stepped: Callable[[], Optimizer | None] = lambda: None
        """The optimizer that stepped last, held weakly."""
        super().__init__(keras, recorder, inside.data, inside.made)

    def _watch_steps(self, keras: Library) -> None:
        self.inside.keras = self
        patch(keras.layers.Layer, "__call__", self._wrap_layer_call)
        patch(base_optimizer(), "apply", self._wrap_apply)

        def made(_: Optimizer) -> None:
            self.inside.steps.others_step = True

        when_made(base_optimizer(), made)

    def _before_loss(
        self,
        loss: Any,
        y_true: Any,
        y_pred: Any,
        *args: Any,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> None:
        # In a sampled step every call of a loss is of interest.
        if not self._of_labels or self.inside.window is not None:
            self._loss_called(loss, y_true, y_pred)

    def _compared(self, prediction: Any, target: Any) -> None:
        batches = self.inside.batches
        model = self.inside.model
        if self.inside.window is not None and self.torch.is_grad_enabled():
            if all(isinstance(value, self.torch.Tensor) for value in (prediction, target)):
                # The first one in a step counts.
                batches.pair = batches.pair or (prediction, target, True)
            model.loss = self.loss or model.loss

    @guarded("fit-end")
    def _fit_ends(self, model: Module) -> None:
        # A schedule's last rate belongs into the last row, sampled or not.
        table = self.recorder.tables["steps"]
        if (
            table.rows
            and model.optimizer is not None
            and table.rows[-1][RATE] != table.rows[-1][RATE]
        ):
            table.set(
                -1,
                RATE,
                graph.learning_rate(model.optimizer),
            )

    def _expect(self, steps: int | None) -> None:
        last = self._ask_for_last(steps)
        if last is not None:
            self.inside.steps.next_look = min(self.inside.steps.next_look, last)

    def finish(self) -> None:
        """The observer of torch writes what is left."""

    def owns(self, module: Module) -> bool:
        return isinstance(module, self.keras.layers.Layer)

    def new_layer(self, layer: Module) -> LayerInfo | None:
        """Number a Keras layer that is called for the first time."""
        model = self.inside.model
        quiet = type(layer).__name__ in graph.QUIET
        return model.add_layer(
            layer,
            model.unique(layer.name),
            graph.activation_of(layer),
            -1,
            quiet,
        )

    def root_called(self, model: Module) -> None:
        """A Keras model passed forward: its variables get the names Keras gives them."""
        if hasattr(model, "layers") and self.model is None:
            # The first model that is called counts until a `fit` says otherwise.
            self.model = model
        self._name(model.weights)

    def _name(self, variables: Any) -> list[Tensor]:
        """Name the tensors behind variables. Not `value`: while Keras works out shapes, or casts,
        that is another tensor each time.
        """
        behind = [(getattr(variable, "_value", None), variable.path) for variable in variables]
        tensors = [
            (tensor, path) for tensor, path in behind if isinstance(tensor, self.torch.Tensor)
        ]
        for tensor, path in tensors:
            self.inside.model.parameter(tensor, path)
        return [tensor for tensor, _ in tensors]

    def _wrap_apply(self, original: Function) -> Function:
        inside = self.inside
        bare = self.recorder.schedule.bare

        def apply(optimizer: Optimizer, grads: Any, trainable_variables: Any = None) -> Any:
            rate = None
            if bare or inside.window is not None or self._stepped() is not optimizer:
                rate = self._before(optimizer, trainable_variables)
            result = original(optimizer, grads, trainable_variables)
            self._after(optimizer, rate)
            return result

        return apply

    @guarded("keras-apply")
    def _before(self, optimizer: Optimizer, variables: Any) -> float:
        """Gives the rate of the step to come: after the step, a schedule reports the next one."""
        self.inside.steps.know(optimizer)
        self._stepped = weakref.ref(optimizer)
        if self.inside.window is not None:
            # Anything else may be a generator, which only the optimizer may use up.
            listed = isinstance(variables, (list, tuple))
            given = variables if listed else getattr(optimizer, "_trainable_variables", ())
            self.inside.update_begins(self._name(given))
        return graph.learning_rate(optimizer)

    @guarded("keras-apply-end")
    def _after(self, optimizer: Optimizer, rate: float | None) -> None:
        steps = self.inside.steps
        if rate is None:
            # On a step no one looks at, it is read only where that costs nothing: from a variable
            # on the CPU.
            value = getattr(getattr(optimizer, "_learning_rate", None), "_value", None)
            rate = value.item() if isinstance(value, self.torch.Tensor) and value.is_cpu else NAN
        steps.end_step(optimizer, rate, steps.carried(optimizer))

    def graph(self) -> Facts | None:
        """The captured layers of a Keras program, or none when it has none."""
        entries = [entry for entry in self.inside.capture.entries if self.owns(entry.module)]
        # A model that is loaded or made again after the training is another one.
        own = (
            {id(layer) for layer in self.model._flatten_layers()}
            if self.model is not None
            else set()
        )
        trained = [entry for entry in entries if id(entry.module) in own]
        layers = [
            graph.layer_facts(
                entry.module,
                entry.place,
                entry.inputs,
                entry.output,
                entry.calls,
            )
            for entry in (trained or entries)
        ]
        if not layers and self.model is None:
            return None
        if not layers:
            place_of = self.inside.model.place_of
            layers = [
                graph.layer_facts(layer, place_of(layer)) for layer in graph.leaves(self.model)
            ]
        return self.graph_of(
            layers,
            self._stepped(),
            self.inside.batch_size(),
        )

    def _wrap_layer_call(self, original: Function) -> Function:
        """Feeds calls of Keras layers to the same stack that torch modules use, unless Keras only
        works out shapes.

        The wrapper stays in its place: to put it there and take it away for every look would make
        the interpreter forget, each time, what it had learned about all classes of layers.
        """
        forwards = self.inside.forwards
        try:
            from keras.src.backend.common.symbolic_scope import in_symbolic_scope
        except ImportError:
            from keras.src.backend.common.stateless_scope import (
                in_stateless_scope as in_symbolic_scope,
            )

        def __call__(layer: Module, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if not forwards.handles or in_symbolic_scope():
                return original(layer, *args, **kwargs)
            forwards.before(layer, args)
            try:
                output = original(layer, *args, **kwargs)
            except Exception:
                forwards.after(layer, args, None)
                raise
            forwards.after(layer, args, kwargs, output)
            return output

        return __call__
