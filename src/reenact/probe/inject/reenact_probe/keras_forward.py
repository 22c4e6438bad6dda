"""Sees the layers of Keras models on the torch backend: `Layer.__call__` is wrapped only while somebody
looks.
"""

from __future__ import annotations

from reenact_probe.guard import state


class KerasForward:
    """Feeds calls of Keras layers to the same stack that torch modules use."""

    def __init__(self, keras, torch, forwards):
        self.torch = torch
        self.forwards = forwards
        self.layer = keras.layers.Layer
        self.original = self.layer.__call__
        self.symbolic = _symbolic_test()
        self.on = False
        forwards.on_change.append(self.switch)
        state.undo.append(lambda: self.switch(False))

    def switch(self, on):
        """Put the wrapper in its place, or take it away."""
        if on == self.on:
            return
        self.on = on
        self.layer.__call__ = self._wrapped() if on else self.original

    def _wrapped(self):
        original, forwards, symbolic = self.original, self.forwards, self.symbolic

        def __call__(layer, *args, **kwargs):  # noqa: N807
            if symbolic():
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


def _symbolic_test():
    """Whether Keras only works out shapes right now."""
    try:
        from keras.src.backend.common.symbolic_scope import in_symbolic_scope
    except ImportError:
        from keras.src.backend.common.stateless_scope import in_stateless_scope as in_symbolic_scope
    return in_symbolic_scope
