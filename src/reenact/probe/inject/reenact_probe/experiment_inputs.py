"""Finds what a model is given: the tensors handed to the outermost module that takes any."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from reenact_probe.experiment_tape import tensors_in
from reenact_probe.guard import guarded, patch
from reenact_probe.types import Args, Function, Kwargs, Library, Module

if TYPE_CHECKING:
    from reenact_probe.experiment_tape import Tape

_NOT_INPUTS = ("label", "target", "mask", "y_true")
"""Words in the name of an argument that is no input."""


class Inputs:
    """Follows how modules are nested. A loss is a module too, but has no weights."""

    def __init__(self, torch: Library, tape: Tape) -> None:
        self.torch = torch
        self.tape = tape
        self._depth = 0
        self._found = False
        self._thread = threading.get_ident()
        # Module hooks are not told of keyword arguments, and Keras's layers do not run them.
        patch(torch.nn.Module, "__call__", self._wrap_call)

    def join_keras(self, keras: Library) -> None:
        patch(keras.layers.Layer, "__call__", self._wrap_call)

    def _wrap_call(self, original: Function) -> Function:
        def __call__(module: Module, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if not self.tape.open or threading.get_ident() != self._thread:
                return original(module, *args, **kwargs)
            self._enter(module, args, kwargs)
            self._depth += 1
            try:
                return original(module, *args, **kwargs)
            finally:
                self._depth -= 1

        return __call__

    @guarded("experiment-forward")
    def _enter(self, module: Module, args: Args, kwargs: Kwargs) -> None:
        if not self._depth:
            self._found = False
        if self._found or not self.torch.is_grad_enabled() or not self._has_weights(module):
            return
        named = {key: value for key, value in kwargs.items() if not any(word in key for word in _NOT_INPUTS)}
        for tensor in tensors_in((args, named)):
            if tensor.device.type != "meta" and tensor.dtype is not self.torch.bool:
                self.tape.add_input(tensor)
                self._found = True

    def _has_weights(self, module: Module) -> bool:
        """A Keras layer may make its weights only when it is called; Keras's losses are no layers."""
        return hasattr(module, "stateless_call") or next(module.parameters(), None) is not None
