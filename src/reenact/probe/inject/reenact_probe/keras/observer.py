"""The observer of Keras 3: fit, evaluate and train_on_batch from outside; on torch also layers, gradients and
weights, seen through the observer of torch.
"""

from __future__ import annotations

import importlib
import math
import weakref
from collections.abc import Callable
from typing import Any

from reenact_probe.data import Data
from reenact_probe.guard import guarded, patch
from reenact_probe.keras import graph
from reenact_probe.keras.fit import Callbacks, Fit
from reenact_probe.places import Made
from reenact_probe.recorder import Recorder
from reenact_probe.torch.facts import graph as graph_facts
from reenact_probe.torch.forward import ForwardHooks
from reenact_probe.torch.model import LayerInfo
from reenact_probe.torch.observer import TorchObserver
from reenact_probe.types import Facts, Function, Library, Module, Optimizer, Place, Tensor

NAN = float("nan")
RATE = 4
"""Column of the learning rate."""


class KerasObserver:
    """One per process. On torch it works through the torch observer; elsewhere it sees what `fit` sees."""

    def __init__(self, keras: Library, recorder: Recorder, torch: TorchObserver | None) -> None:
        self.recorder = recorder
        backend = keras.backend.backend()
        recorder.note_framework("keras backend", backend)
        inside = torch if backend == "torch" else None
        # Places of things made, and facts of data: those of the torch observer where there is one.
        self.data = inside.data if inside is not None else Data()
        self._inside = OnTorch(keras, inside, self) if inside is not None else None
        self.parts = graph.Parts(keras, inside.made if inside is not None else Made(), self, inside is None)
        self._model: Module | None = None
        self._described: tuple[Module, list[Facts]] | None = None
        self._fit = Fit(keras, recorder, self.data, self)
        Callbacks(keras, recorder, self, sees_steps=inside is None)
        if inside is None:
            recorder.note_missing(
                f"gradients, weights and layer outputs: Keras runs on {backend}, "
                "only fit-level facts are seen"
            )

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
        return self._inside is not None and self._inside.observer.window is not None

    def model_called(self, model: Module) -> None:
        """The first model that is called counts until a `fit` says otherwise."""
        if self._model is None:
            self._model = model

    def fit_begins(self, model: Module, place: Place | None) -> None:
        self._model = model
        self.parts.fit_called(place)

    def fit_ends(self, model: Module) -> None:
        if self._inside is None:
            if self.recorder.owned:
                self.describe()
            return
        # A schedule's last rate belongs into the last row, sampled or not.
        table = self.recorder.tables["steps"]
        if table.rows and model.optimizer is not None and table.rows[-1][RATE] != table.rows[-1][RATE]:
            table.set(-1, RATE, graph.learning_rate(model.optimizer))

    def epoch_begins(self, steps: int | None) -> None:
        """An epoch of so many steps, where that is known."""
        if self._inside is None:
            # Now: while an epoch runs, JAX keeps the values of the variables to itself.
            self.describe()
        if steps:
            last = self.recorder.step + steps - 1
            if self.recorder.schedule.epoch_ends(last) and self._inside is not None:
                self._inside.observer.steps.look_by(last)

    def optimizer_made(self) -> None:
        if self._inside is not None:
            self._inside.observer.steps.expect_others()

    def loss_called(self, prediction: Any, target: Any) -> None:
        if self._inside is not None:
            self._inside.observer.keras_loss_called(prediction, target, self.parts.loss)

    def describe(self) -> None:
        """Write the graph of a model whose inside is not seen; its weights are those it began with."""
        model = self._model
        if model is None or not model.built:
            return
        if self._described is None or self._described[0] is not model:
            layers = [graph.layer_facts(layer, self.parts.made.place(layer)) for layer in graph.leaves(model)]
            self._described = (model, layers)
        self.recorder.write_graph(self.graph(self._described[1], model.optimizer))

    def graph(self, layers: list[Facts], optimizer: Optimizer | None, batch_size: int = 0) -> Facts:
        """The model graph as JSON, whoever found the layers."""
        model = self._model
        weights = model.weights if model is not None else []
        facts = None
        if optimizer is not None:
            given = len(getattr(optimizer, "_trainable_variables", ()))
            rate = graph.learning_rate(optimizer)
            facts = graph.optimizer_facts(optimizer, self.parts.place(optimizer), rate, given)
        name = type(model).__name__ if model is not None else ""
        sizes = [(math.prod(part or 1 for part in weight.shape), weight.trainable) for weight in weights]
        return graph_facts("keras", name, layers, self.parts.loss, facts, sizes, batch_size)

    def finish(self) -> None:
        """The process ends."""
        if self._inside is None and self.recorder.owned:
            self.recorder.write_data(self.data.take_news(self.recorder.step))

    def crash_facts(self, _: BaseException) -> Facts:
        return {}


class OnTorch:
    """Joins the two observers: Keras's optimizer is the step, Keras's layers are the layers."""

    def __init__(self, keras: Library, observer: TorchObserver, outer: KerasObserver) -> None:
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

    def owns(self, module: Module) -> bool:
        return isinstance(module, self.keras.layers.Layer)

    def new_layer(self, layer: Module) -> LayerInfo | None:
        """Number a Keras layer that is called for the first time."""
        model = self.observer.model
        quiet = type(layer).__name__ in graph.QUIET
        return model.add_layer(layer, model.unique(layer.name), graph.activation_of(layer), -1, quiet)

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
            self.observer.model.parameter(tensor, path)
        return [tensor for tensor, _ in tensors]

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

    def graph(self) -> Facts | None:
        """The captured layers of a Keras program, or none when it has none."""
        observer, model = self.observer, self.outer.model
        layers = [
            graph.layer_facts(entry.module, entry.place, entry.inputs, entry.output, entry.calls)
            for entry in observer.capture.entries
            if entry.module is not None and self.owns(entry.module)
        ]
        if not layers and model is None:
            return None
        if not layers:
            place_of = observer.model.place_of
            layers = [graph.layer_facts(layer, place_of(layer)) for layer in graph.leaves(model)]
        return self.outer.graph(layers, self._stepped(), observer.batch_size())


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
