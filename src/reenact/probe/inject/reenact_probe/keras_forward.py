"""Sees the layers of Keras models on the torch backend: `Layer.__call__` asks whether somebody looks.

The wrapper stays in its place: to put it there and take it away for every look would make the interpreter
forget, each time, what it had learned about all classes of layers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reenact_probe.guard import patch
from reenact_probe.types import Function, Library

if TYPE_CHECKING:
    from reenact_probe.torch_forward import ForwardHooks


class KerasForward:
    """Feeds calls of Keras layers to the same stack that torch modules use."""

    def __init__(self, keras: Library, forwards: ForwardHooks) -> None:
        self.forwards = forwards
        self.symbolic = _symbolic_test()
        patch(keras.layers.Layer, "__call__", self._wrap_call)

    def _wrap_call(self, original: Function) -> Function:
        forwards, symbolic = self.forwards, self.symbolic

        def __call__(layer: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if not forwards._handles or symbolic():
                return original(layer, *args, **kwargs)
            forwards._before(layer, args)
            try:
                output = original(layer, *args, **kwargs)
            except Exception:
                forwards._after(layer, args, None)
                raise
            forwards._after(layer, args, kwargs, output)
            return output

        return __call__


def _symbolic_test() -> Callable[[], bool]:
    """Whether Keras only works out shapes right now."""
    try:
        from keras.src.backend.common.symbolic_scope import in_symbolic_scope
    except ImportError:
        from keras.src.backend.common.stateless_scope import in_stateless_scope as in_symbolic_scope
    return in_symbolic_scope
