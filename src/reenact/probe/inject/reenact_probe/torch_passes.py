"""Forward passes of a looked-at step: what each module that is called means for the trace."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from reenact_probe.samples import first_tensor
from reenact_probe.torch_layers import inner
from reenact_probe.types import Args, Kwargs, Library, Module

if TYPE_CHECKING:
    from reenact_probe.layers import LayerInfo


class Passes:
    """Listens to the forward hooks: layers go to the open window, losses and whole passes to the sight."""

    def __init__(self, torch: Library, watch: Any) -> None:
        self.torch = torch
        self.watch = watch

    def root_begins(self, module: Module) -> None:
        watch = self.watch
        if watch.window is None or not self.torch.is_grad_enabled() or not inner(module).training:
            watch.leave_mode()
            return
        if watch.model.is_new(module):
            watch.capture.begin()
            if not self.torch.compiler.is_compiling() and not watch.model.compiled(module):
                watch.mode.enter()

    def is_closed(self, module: Module) -> bool:
        """Whether what runs inside a layer is its own business: the cell of a recurrent Keras layer."""
        keras = self.watch.keras
        return keras is not None and keras.owns(module) and hasattr(module, "cell")

    def layer_called(self, module: Module, args: Args, kwargs: Kwargs, output: Any) -> None:
        began = time.perf_counter()
        sight = self.watch.sight
        if self.watch.model.compiled(module):
            self.watch.model.closed(module)
        elif sight.is_loss(module, output):
            sight.loss_called(module, args, kwargs, output)
        elif not sight.is_metric(module):
            self._layer(module, args, kwargs, output)
        self.watch.price += time.perf_counter() - began

    def _layer(self, module: Module, args: Args, kwargs: Kwargs, output: Any) -> None:
        watch = self.watch
        info = watch.layers.get(module) or self._new_layer(module)
        if info is None:
            return
        if watch.capture.follows:
            watch.capture.layer(module, info, args, kwargs, output)
        evaluating = not self.torch.is_grad_enabled()
        window = watch.sight.window if evaluating else watch.window
        if window is not None and not info.quiet:
            window.output(info, first_tensor(self.torch, output), int(evaluating), float(module.training))

    def _new_layer(self, module: Module) -> LayerInfo | None:
        keras = self.watch.keras
        if keras is not None and keras.owns(module):
            return keras.new_layer(module)
        return self.watch.model.new_layer(module)

    def root_ends(self, module: Module, args: Args, kwargs: Kwargs, output: Any) -> str | None:
        watch = self.watch
        began = time.perf_counter()
        if watch.keras is not None and watch.keras.owns(module):
            watch.keras.root_called(module)
        if watch.capture.follows:
            watch.capture.end()
            watch.model.captured(module)
        kind = self._kind(module, output)
        if kind == "training":
            watch.training = float(inner(module).training)
            watch.sight.training_pass(args, kwargs)
        elif kind == "evaluation":
            watch.sight.evaluation_pass(module, args, kwargs, output)
        watch.price += time.perf_counter() - began
        return kind

    def _kind(self, module: Module, output: Any) -> str | None:
        if self.watch.sight.is_auxiliary(module, output):
            return None
        return "training" if self.torch.is_grad_enabled() else "evaluation"
