"""The models of a torch program: which modules are called first, how their parts are called, what they
hold.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from reenact_probe import torch_graph, torch_layers
from reenact_probe.samples import plain
from reenact_probe.types import Facts, Library, Module, Optimizer, Place, Tensor

if TYPE_CHECKING:
    from reenact_probe.layers import LayerInfo, ParameterInfo


class Model:
    """The roots met so far, and the graph made of them."""

    def __init__(self, torch: Library, watch: Any) -> None:
        self.torch = torch
        self.watch = watch
        self.roots: list[Any] = []
        self.loss: Facts | None = None
        """Facts of the loss, once it is known."""
        self._captured: set[int] = set()
        self._names: dict[int, tuple[Any, str]] = {}
        self._taken: set[str] = set()
        self._described: tuple[int, bool, int] | None = None
        self._containers: dict[int, Any] = {}
        self._unregistered: list[str] = []

    def is_new(self, module: Module) -> bool:
        return id(module) not in self._captured

    def captured(self, module: Module) -> None:
        """A pass through this root was seen: its last layer makes the output."""
        self._captured.add(id(module))
        called = [entry.module for entry in self.watch.capture.entries if entry.module is not None]
        infos = [self.watch.layers.get(called_module) for called_module in called]
        for info in infos:
            if info is not None:
                info.is_last = False
        if infos and infos[-1] is not None:
            infos[-1].is_last = True

    def compiled(self, module: Module) -> bool:
        """A compiled or scripted module runs no Python that could be looked at."""
        return isinstance(module, self.torch.jit.ScriptModule) or type(module).__name__ == "OptimizedModule"

    def closed(self, module: Module) -> None:
        """A compiled root was called: its layers are those it was made of, in the order they were made."""
        if not self.is_new(module):
            return
        self._captured.add(id(module))
        self._know(module)
        self.watch.recorder.note_missing("layer outputs and their shapes: the model is compiled")
        for part in module.modules():
            known = self._names.get(id(part))
            if known is not None and not part._modules and not isinstance(part, self.torch.jit.ScriptModule):
                self.watch.capture.part(known[1], part)

    def new_layer(self, module: Module) -> LayerInfo | None:
        """Number a layer that is called for the first time."""
        name = self._name(module)
        quiet = type(module).__name__ in torch_layers.QUIET
        axis = torch_layers.unit_axis(module)
        return self.watch.layers.add(module, name, torch_layers.activation_of(module), axis, quiet)

    def _name(self, module: Module) -> str:
        root = self.watch.forwards.stack[0].module if self.watch.forwards.stack else module
        self._know(root)
        known = self._names.get(id(module))
        if known is not None and known[0]() is module:
            return known[1]
        name = self._unique(torch_layers.snake(type(module).__name__))
        if module is not root:
            self._unregistered.append(name)
        return name

    def _know(self, root: Any) -> None:
        """Names of everything in a root: the first root's stand alone, later ones begin with their class."""
        if any(known() is root for known in self.roots):
            return
        prefix = f"{type(root).__name__}." if self.roots else ""
        self.roots.append(weakref.ref(root))
        for path, module in root.named_modules():
            path = _clean(path)
            if path:
                self._names.setdefault(id(module), (weakref.ref(module), self._unique(prefix + path)))
            for child in module.children():
                self._containers.setdefault(id(child), weakref.ref(module))
        for path, tensor in root.named_parameters():
            self.watch.parameters.add(tensor, prefix + _clean(path))

    def _unique(self, name: str) -> str:
        number, candidate = 1, name
        while candidate in self._taken:
            number += 1
            candidate = f"{name}_{number}"
        self._taken.add(candidate)
        return candidate

    def place_of_container(self, module: Module) -> Place | None:
        for _ in range(50):
            ref = self._containers.get(id(module))
            module = ref() if ref is not None else None
            if module is None:
                return None
            place = self.watch.made.place(module)
            if place is not None:
                return place
        return None

    def followed(self, tensors: list[Tensor]) -> list[tuple[int, Tensor]]:
        """(index, tensor) of the parameters that an optimiser moves, as far as they are ordinary tensors."""
        entries = [(self._parameter(tensor), tensor) for tensor in tensors]
        return [(info.index, tensor) for info, tensor in entries if info is not None and info.plain]

    def _parameter(self, tensor: Tensor) -> ParameterInfo | None:
        info = self.watch.parameters.get(tensor)
        if info is None:
            info = self.watch.parameters.add(tensor, f"unnamed.{len(self.watch.parameters.all)}")
        if info is not None and not info.in_optimizer:
            info.in_optimizer = True
            info.plain = plain(self.torch, tensor)
            self.watch.parameters.dirty = True
        return info

    def trainable(self) -> list[Tensor]:
        """What a program without an optimiser may move by hand."""
        tensors = [info.ref() for info in self.watch.parameters.all]
        return [tensor for tensor in tensors if tensor is not None and tensor.requires_grad]

    def describe(self) -> None:
        """Write header and graph when there is something new to say."""
        watch = self.watch
        optimizer = watch.current_optimizer
        state = (len(watch.capture.entries), self.loss is not None, id(optimizer))
        if watch.layers.dirty or watch.parameters.dirty:
            watch.layers.dirty = watch.parameters.dirty = False
            watch.recorder.write_header(layers=watch.layers.names(), parameters=watch.parameters.facts())
        seen = self.roots or self.loss is not None or optimizer is not None or watch.parameters.all
        if seen and state != self._described:
            # Of a torch that was only imported there is nothing to say: Keras may run on another engine.
            self._described = state
            watch.recorder.write_graph(self.graph(optimizer))

    def graph(self, optimizer: Optimizer | None) -> Facts:
        watch = self.watch
        known = watch.keras.graph() if watch.keras is not None else None
        if known is not None:
            return known
        entries = watch.capture.entries
        parameters = [info for info in watch.parameters.all if info.ref() is not None]
        return {
            "framework": "torch",
            "model": self._model_name(),
            "layers": torch_graph.layer_facts(self.torch, entries, self._parameter_name),
            "loss": self.loss,
            "optimizer": torch_graph.optimizer_facts(optimizer, watch.made.place(optimizer))
            if optimizer
            else None,
            "parameters": sum(_size(info.shape) for info in parameters),
            "trainable_parameters": sum(_size(info.shape) for info in parameters if info.trainable),
            "unregistered": list(self._unregistered),
            "batch_size": watch.batch_size() or None,
        }

    def _model_name(self) -> str:
        """The class of the first root that holds weights, else of the first."""
        roots = [known() for known in self.roots]
        roots = [torch_layers.inner(root) for root in roots if root is not None]
        weighted = [root for root in roots if any(True for _ in root.parameters())]
        return next((type(root).__name__ for root in (*weighted, *roots)), "")

    def _parameter_name(self, tensor: Tensor) -> str:
        info = self.watch.parameters.get(tensor)
        return info.name if info is not None else ""


def _clean(path: str) -> str:
    """A path without what wrappers for compiling and data-parallel training put in front."""
    while path.startswith(("_orig_mod.", "module.")) or path in ("_orig_mod", "module"):
        path = path.partition(".")[2]
    return path


def _size(shape: Any) -> int:
    size = 1
    for part in shape:
        size *= part
    return size
