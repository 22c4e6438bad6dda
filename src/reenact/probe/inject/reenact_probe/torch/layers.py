"""The layers and parameters met so far, numbered in the order in which they are met."""

from __future__ import annotations

import math
import weakref

from reenact_probe.types import Facts, Module, Tensor

RELU_LIKE = frozenset({"relu", "relu_", "relu6", "exponential"})


class LayerInfo:
    """What the hot path needs to know about a layer."""

    __slots__ = ("activation", "follower", "index", "is_last", "name", "quiet", "ref", "unit_axis")

    def __init__(
        self,
        index: int,
        name: str,
        module: Module,
        activation: str | None,
        unit_axis: int | None,
        quiet: bool,
    ) -> None:
        self.index = index
        self.name = name
        self.ref = weakref.ref(module)
        self.activation = activation
        """The non-linearity it applies itself, or is."""
        self.follower: str | None = None
        """A functional activation applied to its output."""
        self.unit_axis = unit_axis
        self.quiet = quiet
        """Its output says nothing that its input did not: no statistics."""
        self.is_last = False

    def followed_by(self, activation: str) -> None:
        """A functional activation was applied to the output; the first one counts."""
        self.follower = self.follower or activation

    @property
    def relu_like(self) -> bool:
        return self.activation in RELU_LIKE or self.follower in RELU_LIKE


class Layers:
    """By the module's identity, held weakly: a model that the program drops is not kept alive here."""

    MAXIMUM = 2000

    def __init__(self) -> None:
        self._by_id: dict[int, LayerInfo] = {}
        self.all: list[LayerInfo] = []
        self.dirty = False
        """Something new since the header was written."""

    def get(self, module: Module) -> LayerInfo | None:
        info = self._by_id.get(id(module))
        return info if info is not None and info.ref() is module else None

    def add(
        self, module: Module, name: str, activation: str | None, unit_axis: int | None, quiet: bool = False
    ) -> LayerInfo | None:
        """A new layer, or none when there are too many to follow."""
        if len(self.all) >= self.MAXIMUM:
            return None
        info = LayerInfo(len(self.all), name, module, activation, unit_axis, quiet)
        self.all.append(info)
        self._by_id[id(module)] = info
        self.dirty = True
        return info

    def set_last(self, modules: list[Module]) -> None:
        """The last of these layers, called in this order, makes the output of the model."""
        infos = [self.get(module) for module in modules]
        for info in infos:
            if info is not None:
                info.is_last = False
        if infos and infos[-1] is not None:
            infos[-1].is_last = True

    def take_names(self) -> list[str]:
        """All names, for the header."""
        self.dirty = False
        return [info.name for info in self.all]


class ParameterInfo:
    """A parameter tensor, and what the header says of it."""

    __slots__ = ("in_optimizer", "index", "name", "plain", "ref", "shape", "trainable")

    def __init__(self, index: int, tensor: Tensor, name: str) -> None:
        self.index = index
        self.ref = weakref.ref(tensor)
        self.name = name
        self.shape = list(tensor.shape)
        self.trainable = bool(tensor.requires_grad)
        self.in_optimizer = False
        self.plain = False
        """An ordinary dense tensor, whose values can be read."""

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def facts(self) -> Facts:
        return {
            "name": self.name,
            "shape": self.shape,
            "trainable": self.trainable,
            "in_optimizer": self.in_optimizer,
        }


class Parameters:
    """Parameter tensors by identity, with the name their model gives them."""

    MAXIMUM = 5000

    def __init__(self) -> None:
        self._by_id: dict[int, ParameterInfo] = {}
        self.all: list[ParameterInfo] = []
        self.dirty = False

    def get(self, tensor: Tensor) -> ParameterInfo | None:
        info = self._by_id.get(id(tensor))
        return info if info is not None and info.ref() is tensor else None

    def add(self, tensor: Tensor, name: str) -> ParameterInfo | None:
        """The entry of a tensor, made when it is new; none when there are too many to follow."""
        info = self.get(tensor)
        if info is None and len(self.all) < self.MAXIMUM:
            info = self._by_id[id(tensor)] = ParameterInfo(len(self.all), tensor, name)
            self.all.append(info)
            self.dirty = True
        return info

    def optimized(self, info: ParameterInfo, plain: bool) -> None:
        """An optimizer moves this one."""
        info.in_optimizer, info.plain = True, plain
        self.dirty = True

    def take_facts(self) -> list[Facts]:
        """All parameters, for the header."""
        self.dirty = False
        return [info.facts() for info in self.all]
