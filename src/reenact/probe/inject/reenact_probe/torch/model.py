"""The models of a torch program: which modules are called first, their parts' names, what they hold."""

from __future__ import annotations

import weakref
from typing import Any

from reenact_probe.places import Made
from reenact_probe.torch import graph, modules
from reenact_probe.torch.capture import Entry
from reenact_probe.torch.layers import LayerInfo, Layers, ParameterInfo, Parameters
from reenact_probe.torch.samples import plain
from reenact_probe.types import Facts, Library, Module, Optimizer, Place, Tensor


class Model:
    """The roots met so far, their layers and parameters, and the loss that trains them."""

    def __init__(self, torch: Library, made: Made) -> None:
        self.torch = torch
        self.made = made
        self.layers = Layers()
        self.parameters = Parameters()
        self.loss: Facts | None = None
        """Facts of the loss, once it is known."""
        self._roots: list[Any] = []
        self._captured: set[int] = set()
        self._names: dict[int, tuple[Any, str]] = {}
        self._taken: set[str] = set()
        self._described: tuple[int, bool, int] | None = None
        self._containers: dict[int, Any] = {}
        self._unregistered: list[str] = []

    def set_loss(self, facts: Facts | None) -> None:
        """The first loss that is known stays the loss."""
        if self.loss is None:
            self.loss = facts

    @property
    def from_logits(self) -> bool:
        return bool((self.loss or {}).get("from_logits"))

    # Roots ------------------------------------------------------------------------------------------------

    def is_new(self, module: Module) -> bool:
        return id(module) not in self._captured

    def captured(self, module: Module, called: list[Module]) -> None:
        """A pass through this root was seen: the last layer that was called makes the output."""
        self._captured.add(id(module))
        self.layers.set_last(called)

    def compiled(self, module: Module) -> bool:
        """A compiled or scripted module runs no Python that could be looked at."""
        return isinstance(module, self.torch.jit.ScriptModule) or type(module).__name__ == "OptimizedModule"

    def parts_of_compiled(self, module: Module) -> list[tuple[str, Module]]:
        """Layers of a compiled root: those it was made of, in the order they were made."""
        self._captured.add(id(module))
        self.name_parts(module)
        named = [(self._names.get(id(part)), part) for part in module.modules()]
        return [
            (known[1], part)
            for known, part in named
            if known is not None and not part._modules and not isinstance(part, self.torch.jit.ScriptModule)
        ]

    def new_layer(self, module: Module, root: Module) -> LayerInfo | None:
        """Number a layer that is called for the first time, in a pass through this root."""
        quiet = type(module).__name__ in modules.QUIET
        name, axis = self._name(module, root), modules.unit_axis(module)
        return self.layers.add(module, name, modules.activation_of(module), axis, quiet)

    def _name(self, module: Module, root: Module) -> str:
        self.name_parts(root)
        known = self._names.get(id(module))
        if known is not None and known[0]() is module:
            return known[1]
        name = self.unique(modules.snake(type(module).__name__))
        if module is not root:
            self._unregistered.append(name)
        return name

    def name_parts(self, root: Module) -> None:
        """Names of everything in a root: the first root's stand alone, later ones begin with their class."""
        if any(known() is root for known in self._roots):
            return
        prefix = f"{type(root).__name__}." if self._roots else ""
        self._roots.append(weakref.ref(root))
        for path, module in root.named_modules():
            path = _clean(path)
            if path:
                self._names.setdefault(id(module), (weakref.ref(module), self.unique(prefix + path)))
            for child in module.children():
                self._containers.setdefault(id(child), weakref.ref(module))
        for path, tensor in root.named_parameters():
            self.parameters.add(tensor, prefix + _clean(path))

    def unique(self, name: str) -> str:
        """A name that no other layer has."""
        number, candidate = 1, name
        while candidate in self._taken:
            number += 1
            candidate = f"{name}_{number}"
        self._taken.add(candidate)
        return candidate

    def place_of(self, module: Module) -> Place | None:
        """Where a module was made; a copy made by a library stands where what contains it was made."""
        for _ in range(51):
            place = self.made.place(module)
            if place is not None:
                return place
            ref = self._containers.get(id(module))
            module = ref() if ref is not None else None
            if module is None:
                return None
        return None

    # Parameters -------------------------------------------------------------------------------------------

    def followed(self, tensors: list[Tensor]) -> list[tuple[int, Tensor]]:
        """(index, tensor) of the parameters that an optimizer moves, as far as they are ordinary tensors."""
        entries = [(self._parameter(tensor), tensor) for tensor in tensors]
        return [(info.index, tensor) for info, tensor in entries if info is not None and info.plain]

    def _parameter(self, tensor: Tensor) -> ParameterInfo | None:
        name = f"unnamed.{len(self.parameters.all)}"
        info = self.parameters.get(tensor) or self.parameters.add(tensor, name)
        if info is not None and not info.in_optimizer:
            self.parameters.optimized(info, plain(self.torch, tensor))
        return info

    def trainable(self) -> list[Tensor]:
        """What a program without an optimizer may move by hand."""
        tensors = [info.ref() for info in self.parameters.all]
        return [tensor for tensor in tensors if tensor is not None and tensor.requires_grad]

    # The description --------------------------------------------------------------------------------------

    def take_header(self) -> Facts | None:
        """Layers and parameters for the header; none when there are no new ones."""
        if not (self.layers.dirty or self.parameters.dirty):
            return None
        return {"layers": self.layers.take_names(), "parameters": self.parameters.take_facts()}

    def take_news(self, layers: int, optimizer: Optimizer | None) -> bool:
        """Whether the graph of so many captured layers has something new to say."""
        # Of a torch that was only imported there is nothing to say: Keras may run on another engine.
        seen = self._roots or self.loss is not None or optimizer is not None or self.parameters.all
        state = (layers, self.loss is not None, id(optimizer))
        if not seen or state == self._described:
            return False
        self._described = state
        return True

    def graph(self, entries: list[Entry], optimizer: Optimizer | None, batch_size: int) -> Facts:
        """The model graph as JSON."""
        parameters = [info for info in self.parameters.all if info.ref() is not None]
        facts = None
        if optimizer is not None:
            facts = graph.optimizer_facts(optimizer, self.made.place(optimizer))
        return {
            "framework": "torch",
            "model": self._model_name(),
            "layers": graph.layer_facts(self.torch, entries, self._parameter_name),
            "loss": self.loss,
            "optimizer": facts,
            "parameters": sum(info.size for info in parameters),
            "trainable_parameters": sum(info.size for info in parameters if info.trainable),
            "unregistered": list(self._unregistered),
            "batch_size": batch_size or None,
        }

    def _model_name(self) -> str:
        """The class of the first root that holds weights, else of the first."""
        met = [known() for known in self._roots]
        roots = [modules.inner(root) for root in met if root is not None]
        weighted = [root for root in roots if any(True for _ in root.parameters())]
        return next((type(root).__name__ for root in (*weighted, *roots)), "")

    def _parameter_name(self, tensor: Tensor) -> str:
        info = self.parameters.get(tensor)
        return info.name if info is not None else ""


def _clean(path: str) -> str:
    """A path without what wrappers for compiling and data-parallel training put in front."""
    while path.startswith(("_orig_mod.", "module.")) or path in ("_orig_mod", "module"):
        path = path.partition(".")[2]
    return path
