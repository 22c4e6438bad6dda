"""Keras's `fit` and `evaluate`: what they are asked to do, and with which data."""

from __future__ import annotations

import inspect
from inspect import Signature
from typing import TYPE_CHECKING, Any

from reenact_probe import keras_data
from reenact_probe.guard import guarded, patch
from reenact_probe.places import caller
from reenact_probe.types import Args, Facts, Function, Kwargs, Library, Module, Place

if TYPE_CHECKING:
    from reenact_probe.keras_watch import KerasWatch

WANTED = ("batch_size", "epochs", "validation_split", "initial_epoch")


class Fit:
    """Knows whether a `fit` is under way."""

    def __init__(self, keras: Library, watch: KerasWatch) -> None:
        self.watch = watch
        self.recorder = watch.recorder
        self.under_way = False
        self.called_at: Place | None = None
        owner = next(base for base in keras.Model.__mro__ if "fit" in vars(base))
        patch(owner, "fit", self._wrap_fit)
        patch(owner, "evaluate", self._wrap_evaluate)

    def _wrap_fit(self, original: Function) -> Function:
        signature = inspect.signature(original)

        def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
            outer = self.under_way
            self._begins(model, signature, args, kwargs)
            self.under_way = True
            try:
                return original(model, *args, **kwargs)
            finally:
                self.under_way = outer
                self._ends(model)

        return fit

    @guarded("fit")
    def _begins(self, model: Module, signature: Signature, args: Args, kwargs: Kwargs) -> None:
        self.watch.model = model
        self.called_at = caller()
        try:
            given = signature.bind(model, *args, **kwargs)
        except TypeError:
            return
        given.apply_defaults()
        wanted = given.arguments
        facts = {key: wanted.get(key) for key in WANTED}
        facts["shuffle"] = bool(wanted.get("shuffle"))
        facts["validation"] = wanted.get("validation_data") is not None or bool(
            wanted.get("validation_split")
        )
        facts["callbacks"] = [type(item).__name__ for item in _as_list(wanted.get("callbacks"))]
        facts["class_weight"] = wanted.get("class_weight") is not None
        facts["data"] = type(wanted.get("x")).__name__
        self.recorder.event("fit", place=self.called_at, **facts)
        self._read_data(wanted)

    def _read_data(self, wanted: Facts) -> None:
        x, y, held = wanted.get("x"), wanted.get("y"), wanted.get("validation_data")
        share = wanted.get("validation_split")
        if held is None and share and y is not None and keras_data.in_memory(x):
            (x, y), held = keras_data.split_off(x, y, share)
        data = self.watch.data
        keras_data.read(data, "train", x, y, self.recorder.step)
        if isinstance(held, (tuple, list)) and len(held) >= 2:
            keras_data.read(data, "validation", held[0], held[1], self.recorder.step)

    @guarded("fit-end")
    def _ends(self, model: Module) -> None:
        self.watch.fit_ends(model)

    def _wrap_evaluate(self, original: Function) -> Function:
        signature = inspect.signature(original)

        def evaluate(model: Any, *args: Any, **kwargs: Any) -> Any:
            if not self.under_way:
                self._evaluates(model, signature, args, kwargs)
            return original(model, *args, **kwargs)

        return evaluate

    @guarded("evaluate")
    def _evaluates(self, model: Module, signature: Signature, args: Args, kwargs: Kwargs) -> None:
        try:
            given = signature.bind(model, *args, **kwargs).arguments
        except TypeError:
            return
        keras_data.read(self.watch.data, "test", given.get("x"), given.get("y"), self.recorder.step)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]
