"""Parts of a Keras training as they are made: losses, optimisers, layers, and the loss that is called."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from reenact_probe import keras_graph
from reenact_probe.guard import guarded, patch
from reenact_probe.places import caller
from reenact_probe.types import Facts, Function, Library, Place

if TYPE_CHECKING:
    from reenact_probe.keras_watch import KerasWatch


class Parts:
    """Remembers where each part was made; a part that Keras makes itself stands where `compile` is called."""

    def __init__(self, keras: Library, watch: KerasWatch) -> None:
        self.watch = watch
        self.loss: Facts | None = None
        """Facts of the first loss that was called."""
        self.compiled_at: Place | None = None
        trainer = next(base for base in keras.Model.__mro__ if "compile" in vars(base))
        patch(trainer, "compile", self._wrap_compile)
        patch(keras.losses.Loss, "__init__", self._wrap_made)
        patch(keras.losses.Loss, "__call__", self._wrap_loss)
        if watch.torch_watch is None:
            # Not `__init__`: Keras reads that signature to learn what a layer was given.
            layer = keras.layers.Layer
            layer.__new__ = staticmethod(self._wrap_new(layer.__new__))
        optimizer = importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer
        patch(optimizer, "__init__", self._wrap_optimizer)

    def place(self, thing: Any) -> Place | None:
        """Where a part was made. What `compile` was given by name, `fit` makes."""
        place = self.watch.made.place(thing)
        return self.compiled_at if place is None or place == self.watch.fit.called_at else place

    def _wrap_made(self, original: Function) -> Function:
        def __init__(thing: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(thing, *args, **kwargs)
            self._note(thing)

        return __init__

    def _wrap_new(self, original: Function) -> Function:
        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            layer = original(cls, *args, **kwargs)
            self._note(layer)
            return layer

        return __new__

    def _wrap_optimizer(self, original: Function) -> Function:
        def __init__(thing: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(thing, *args, **kwargs)
            self._note(thing)
            if self.watch.torch_watch is not None:
                self.watch.torch_watch.external_optimizer = True

        return __init__

    @guarded("keras-construct")
    def _note(self, thing: Any) -> None:
        self.watch.made.note(thing)

    def _wrap_compile(self, original: Function) -> Function:
        def compile(model: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A001
            self._compiled()
            return original(model, *args, **kwargs)

        return compile

    @guarded("compile")
    def _compiled(self) -> None:
        self.compiled_at = caller()

    def _wrap_loss(self, original: Function) -> Function:
        inside = self.watch.torch_watch

        def __call__(loss: Any, y_true: Any, y_pred: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if self.loss is None or (inside is not None and inside.window is not None):
                self._loss_called(loss, y_true, y_pred)
            return original(loss, y_true, y_pred, *args, **kwargs)

        return __call__

    @guarded("keras-loss")
    def _loss_called(self, loss: Any, y_true: Any, y_pred: Any) -> None:
        if type(loss).__name__ == "CompileLoss":
            return
        if self.loss is None:
            self.loss = keras_graph.loss_facts(loss, self.place(loss))
        if self.watch.torch_watch is not None:
            self.watch.torch_part.loss_called(y_true, y_pred)
