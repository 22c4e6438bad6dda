"""One look at a whole forward pass: the order of layers and functional calls, their shapes, what follows
what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reenact_probe import torch_layers
from reenact_probe.samples import first_tensor
from reenact_probe.torch_functions import ACTIVATIONS, LOSSES, SHAPING
from reenact_probe.torch_layers import shape_of
from reenact_probe.types import Args, Facts, Kwargs, Library, Module, Place, Tensor

if TYPE_CHECKING:
    from reenact_probe.layers import LayerInfo

_CLEAN = {"relu_": "relu", "elu_": "elu", "selu_": "selu", "leaky_relu_": "leaky_relu", "tanh_": "tanh",
          "sigmoid_": "sigmoid"}  # fmt: skip


Origin = tuple["Entry | None", "LayerInfo | None"]
"""What made a tensor: the entry, and the layer whose output it still is."""


class Entry:
    """One layer or functional call, in the order of the first pass."""

    def __init__(
        self,
        name: str,
        module: Module | None,
        function: str | None,
        place: Place | None,
        inputs: list[list[int] | None],
        output: list[int] | None,
    ) -> None:
        self.name = name
        self.module = module
        self.function = function
        self.place = place
        self.inputs = inputs
        self.output = output
        self.calls = 1
        self.settings: Facts = {}


class Capture:
    """The pass being looked at, or the last one that was."""

    MAXIMUM = 4000

    def __init__(self, torch: Library, watch: Any) -> None:
        self.torch = torch
        self.watch = watch
        self.entries: list[Entry] = []
        self.follows = False
        """True while a pass is being captured: every call is followed, to know what feeds what."""
        self.losses: list[tuple[str, Args, Kwargs, Place | None]] = []
        self._by_module: dict[int, Entry] = {}
        self._origin: dict[int, Origin] = {}
        self._kept: list[Tensor] = []

    def begin(self) -> None:
        self.follows = True

    def end(self) -> None:
        """Let go of every tensor."""
        self.follows = False
        self._origin, self._kept = {}, []

    def layer(self, module: Module, info: LayerInfo, args: Args, kwargs: Kwargs, output: Any) -> None:
        entry = self._by_module.get(id(module))
        if entry is not None:
            entry.calls += 1
        elif len(self.entries) < self.MAXIMUM:
            entry = Entry(
                info.name, module, None, self.watch.place_of(module), *self._shapes(args, kwargs, output)
            )
            entry.settings = torch_layers.settings_of(module)
            self._by_module[id(module)] = entry
            self.entries.append(entry)
        self._produced(output, (entry, info))

    def part(self, name: str, module: Module) -> None:
        """A layer that is known to be there, though nobody saw it called."""
        if id(module) not in self._by_module and len(self.entries) < self.MAXIMUM:
            entry = self._by_module[id(module)] = Entry(
                name, module, None, self.watch.place_of(module), [], None
            )
            entry.settings = torch_layers.settings_of(module)
            self.entries.append(entry)

    def _shapes(
        self, args: Args, kwargs: Kwargs, output: Any
    ) -> tuple[list[list[int] | None], list[int] | None]:
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, self.torch.Tensor)]
        return [shape_of(tensor) for tensor in tensors[:8]], shape_of(first_tensor(self.torch, output))

    def function_called(
        self, name: str, args: Args, kwargs: Kwargs, output: Any, place: Place | None
    ) -> None:
        top = self.watch.forwards.stack[-1].module if self.watch.forwards.stack else None
        in_library = top is not None and type(top).__module__.startswith("torch.nn")
        if name in LOSSES and not in_library:
            self.losses.append((torch_layers.loss_name(name), args, kwargs, place))
        if not self.follows or (in_library and _closed(top)):
            return
        source = self._source(args)
        if self._is_layer(name, args, output, in_library):
            self._functional(
                _CLEAN.get(name, name), args, kwargs, output, source, self._place(top, in_library, place)
            )
        elif source is not None:
            self._produced(output, source)

    def _is_layer(self, name: str, args: Args, output: Any, in_library: bool) -> bool:
        if name in ("view", "reshape", "flatten"):
            return not in_library and _flattens(first_tensor(self.torch, args), output)
        return name in ACTIVATIONS or (name in SHAPING and not in_library)

    def _place(self, top: Module, in_library: bool, place: Place | None) -> Place | None:
        return self.watch.place_of(top) if in_library else place

    def _functional(
        self, name: str, args: Args, kwargs: Kwargs, output: Any, source: Origin | None, place: Place | None
    ) -> None:
        owner = source[0].name if source is not None and source[0] is not None else ""
        label = f"{owner}>{name}" if owner else name
        known = [entry for entry in self.entries if entry.name == label and entry.place == place]
        if known:
            known[0].calls += 1
        elif len(self.entries) < self.MAXIMUM:
            entry = Entry(label, None, name, place, *self._shapes(args, {}, output))
            entry.settings = {key: value for key, value in kwargs.items() if torch_layers.is_plain(value)}
            self.entries.append(entry)
        if name in ACTIVATIONS and source is not None and source[1] is not None:
            source[1].follower = source[1].follower or name
        made = known[0] if known else self.entries[-1]
        self._produced(output, (made, None if name in ACTIVATIONS else source[1] if source else None))

    def _source(self, args: Args) -> Origin | None:
        tensor = first_tensor(self.torch, args)
        return self._origin.get(id(tensor)) if tensor is not None else None

    def _produced(self, output: Any, origin: Origin) -> None:
        tensor = first_tensor(self.torch, output)
        if tensor is not None and self.follows and len(self._kept) < 4 * self.MAXIMUM:
            self._origin[id(tensor)] = origin
            self._kept.append(tensor)


def _closed(module: Module) -> bool:
    """A library module whose inside is its own business."""
    return not module._modules or type(module).__name__ == "MultiheadAttention"


def _flattens(before: Any, after: Any) -> bool:
    old, new = shape_of(before) or (), shape_of(after) or ()
    return len(old) > 2 and len(new) == 2 and old[0] == new[0]
