"""Keras on torch: layers, gradients and weights, seen through the torch observer."""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable
from typing import Any, Protocol

from reenact_probe.guard import guarded, patch
from reenact_probe.keras import graph
from reenact_probe.torch.forward import ForwardHooks
from reenact_probe.torch.layers import LayerInfo
from reenact_probe.torch.observer import TorchObserver
from reenact_probe.types import Facts, Function, Library, Module, Optimizer, Tensor

NAN = float("nan")
RATE = 4
"""Column of the learning rate."""


class KerasSide(Protocol):
    """What the observer of Keras knows."""

    @property
    def in_fit(self) -> bool: ...

    @property
    def model(self) -> Module | None: ...

    def model_called(self, model: Module) -> None: ...

    def graph(self, layers: list[Facts], optimizer: Optimizer | None) -> Facts: ...


class KerasOnTorch:
    """Joins the two observers: Keras's optimizer is the step, Keras's layers are the layers."""

    def __init__(self, keras: Library, observer: TorchObserver, outer: KerasSide) -> None:
        self.keras = keras
        self.observer = observer
        self.outer = outer
        self.torch = observer.torch
        self._stepped: Callable[[], Optimizer | None] = lambda: None
        """The optimizer that stepped last, held weakly."""
        observer.join_keras(self)
        patch(keras.layers.Layer, "__call__", _wrap_layer_call(observer.forwards))
        base = importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer
        patch(base, "apply", self._wrap_apply)

    @property
    def in_fit(self) -> bool:
        return self.outer.in_fit

    @property
    def looking(self) -> bool:
        return self.observer.window is not None

    def owns(self, module: Module) -> bool:
        return isinstance(module, self.keras.layers.Layer)

    # Layers -----------------------------------------------------------------------------------------------

    def new_layer(self, layer: Module) -> LayerInfo | None:
        """Number a Keras layer that is called for the first time."""
        model = self.observer.model
        quiet = type(layer).__name__ in graph.QUIET
        return model.layers.add(layer, model.unique(layer.name), graph.activation_of(layer), -1, quiet)

    def root_called(self, model: Module) -> None:
        """A Keras model passed forward: its variables get the names Keras gives them."""
        if hasattr(model, "layers"):
            self.outer.model_called(model)
        self._name(model.weights)

    def _name(self, variables: Any) -> list[Tensor]:
        """Name the tensors behind variables. Not `value`: while Keras works out shapes, or casts, that is
        another tensor each time.
        """
        behind = [(getattr(variable, "_value", None), variable.path) for variable in variables]
        tensors = [(tensor, path) for tensor, path in behind if isinstance(tensor, self.torch.Tensor)]
        for tensor, path in tensors:
            self.observer.model.parameters.add(tensor, path)
        return [tensor for tensor, _ in tensors]

    def loss_called(self, prediction: Any, target: Any, facts: Facts | None) -> None:
        self.observer.keras_loss_called(prediction, target, facts)

    # Steps ------------------------------------------------------------------------------------------------

    def optimizer_made(self) -> None:
        self.observer.steps.expect_others()

    def look_by(self, step: int) -> None:
        """The step that ends an epoch is looked at."""
        self.observer.steps.look_by(step)

    def _wrap_apply(self, original: Function) -> Function:
        observer, bare = self.observer, self.observer.recorder.schedule.bare

        def apply(optimizer: Optimizer, grads: Any, trainable_variables: Any = None) -> Any:
            rate = None
            if bare or observer.window is not None or self._stepped() is not optimizer:
                rate = self._before(optimizer, trainable_variables)
            result = original(optimizer, grads, trainable_variables)
            self._after(optimizer, rate)
            return result

        return apply

    @guarded("keras-apply")
    def _before(self, optimizer: Optimizer, variables: Any) -> float:
        """Gives the rate of the step to come: after the step, a schedule tells the next one."""
        self.observer.steps.know(optimizer)
        self._stepped = weakref.ref(optimizer)
        if self.observer.window is not None:
            # Anything else may be a generator, which only the optimizer may use up.
            listed = isinstance(variables, (list, tuple))
            given = variables if listed else getattr(optimizer, "_trainable_variables", ())
            self.observer.update_begins(self._name(given))
        return graph.learning_rate(optimizer)

    @guarded("keras-apply-end")
    def _after(self, optimizer: Optimizer, rate: float | None) -> None:
        steps = self.observer.steps
        rate = self._plain_rate(optimizer) if rate is None else rate
        steps.end_step(optimizer, rate, steps.carried(optimizer))

    def _plain_rate(self, optimizer: Optimizer) -> float:
        """On a step nobody looks at, the rate is read only where it costs nothing: a variable on the CPU."""
        value = getattr(getattr(optimizer, "_learning_rate", None), "_value", None)
        return value.item() if isinstance(value, self.torch.Tensor) and value.is_cpu else NAN

    def fit_ends(self, model: Module) -> None:
        """A schedule's last rate belongs into the last row, sampled or not."""
        table = self.observer.recorder.tables["steps"]
        if table.rows and model.optimizer is not None and table.rows[-1][RATE] != table.rows[-1][RATE]:
            table.set(-1, RATE, graph.learning_rate(model.optimizer))

    # The graph --------------------------------------------------------------------------------------------

    def graph(self) -> Facts | None:
        """The captured layers of a Keras program, or none when it has none."""
        observer, model = self.observer, self.outer.model
        entries = [entry for entry in observer.capture.entries if entry.module is not None]
        layers = [
            graph.layer_facts(entry.module, entry.place, entry.inputs, entry.output, entry.calls)
            for entry in entries
            if self.owns(entry.module)
        ]
        if not layers and model is None:
            return None
        if not layers:
            place_of = observer.model.place_of
            layers = [graph.layer_facts(layer, place_of(layer)) for layer in graph.leaves(model)]
        facts = self.outer.graph(layers, self._stepped())
        facts["batch_size"] = observer.batch_size() or None
        return facts


def _wrap_layer_call(forwards: ForwardHooks) -> Callable[[Function], Function]:
    """Feeds calls of Keras layers to the same stack that torch modules use.

    The wrapper stays in its place: to put it there and take it away for every look would make the interpreter
    forget, each time, what it had learned about all classes of layers.
    """
    symbolic = _symbolic_test()

    def wrap(original: Function) -> Function:
        def __call__(layer: Module, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if not forwards.handles or symbolic():
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

    return wrap


def _symbolic_test() -> Callable[[], bool]:
    """Whether Keras only works out shapes right now."""
    try:
        from keras.src.backend.common.symbolic_scope import in_symbolic_scope
    except ImportError:
        from keras.src.backend.common.stateless_scope import in_stateless_scope as in_symbolic_scope
    return in_symbolic_scope
