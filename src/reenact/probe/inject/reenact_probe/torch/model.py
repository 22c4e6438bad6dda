"""The models of a torch program: which modules are called first, their layers, parameters and
loss.
"""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from reenact_probe.places import Made
from reenact_probe.torch import facts
from reenact_probe.torch.facts import Entry
from reenact_probe.torch.samples import outputs_in, plain
from reenact_probe.types import Facts, Library, Module, Optimizer, Place, Tensor

RELU_LIKE = frozenset({"relu", "relu_", "relu6", "exponential"})
MOST_LAYERS = 2000
MOST_PARAMETERS = 5000


@dataclass(eq=False)
class Known:
    """A layer or a parameter, by number and name; held weakly, so that what the program drops
    is freed.
    """

    index: int
    name: str
    ref: Callable[[], Any]


@dataclass(eq=False)
class LayerInfo(Known):
    """What the hot path needs to know about a layer."""

    activation: str | None
    """The non-linearity it applies itself, or is."""
    unit_axis: int | None
    quiet: bool
    """Its output says nothing that its input did not: no statistics."""
    follower: str | None = None
    """The first functional activation applied to its output."""
    is_last: bool = False


@dataclass(eq=False)
class ParameterInfo(Known):
    """A parameter tensor, and what the header says of it."""

    shape: list[int]
    trainable: bool
    in_optimizer: bool = False
    plain: bool = False
    """An ordinary dense tensor, whose values can be read."""
    graded: bool = False
    """A gradient came to it while no optimizer had it."""


K = TypeVar("K", bound=Known)


class Registry(Generic[K]):
    """Things met so far, numbered in the order in which they are met."""

    def __init__(self, most: int) -> None:
        self.all: list[K] = []
        self.dirty = False
        """Something new since the header was written."""
        self._most = most
        self._by_id: dict[int, K] = {}

    def get(self, thing: Any) -> K | None:
        info = self._by_id.get(id(thing))
        if info is not None and info.ref() is thing:
            return info
        return None

    def add(self, thing: Any, info: K) -> K | None:
        """Keep a new one; none when there are too many to follow."""
        if len(self.all) >= self._most:
            return None
        self.all.append(info)
        self._by_id[id(thing)] = info
        self.dirty = True
        return info


class Model:
    """The roots met so far, their layers and parameters, and the loss that trains them."""

    def __init__(self, torch: Library, made: Made) -> None:
        self.torch = torch
        self.made = made
        self.layers: Registry[LayerInfo] = Registry(MOST_LAYERS)
        self.parameters: Registry[ParameterInfo] = Registry(MOST_PARAMETERS)
        self.loss: Facts | None = None
        """Facts of the first loss that is known."""
        self.outputs: int | None = 0
        """Tensors with gradients that the captured roots gave; none where that is not known."""
        self._roots: list[Any] = []
        self._captured: set[int] = set()
        self._names: dict[int, tuple[Any, str]] = {}
        self._taken: set[str] = set()
        self._described: tuple[int, bool, int, int | None] | None = None
        self._containers: dict[int, Any] = {}
        self._first: dict[str, Facts] = {}
        """By the name of a weight: its facts when it was met first."""
        self._unregistered: list[str] = []
        self._lost_at: Place | None = None
        """Where the first of them, or what holds it, was made."""

    @property
    def from_logits(self) -> bool:
        return bool((self.loss or {}).get("from_logits"))

    def is_new(self, module: Module) -> bool:
        return id(module) not in self._captured

    def captured(self, module: Module, called: list[Module | None]) -> None:
        """A pass through this root was seen: the last layer that was called makes the output."""
        self._captured.add(id(module))
        infos = [self.layers.get(part) for part in called if part is not None]
        for number, info in enumerate(infos, 1):
            if info is not None:
                info.is_last = number == len(infos)

    def gave(self, output: Any) -> None:
        """What a captured pass through a root that is a model came to."""
        given = outputs_in(self.torch, output)
        if self.outputs is not None:
            self.outputs = None if given is None else self.outputs + given

    def compiled(self, module: Module) -> bool:
        """A compiled or scripted module runs no Python that could be looked at."""
        in_place = getattr(module, "_compiled_call_impl", None) is not None
        whole = type(module).__name__ == "OptimizedModule"
        return in_place or whole or isinstance(module, self.torch.jit.ScriptModule)

    def parts_of_compiled(self, module: Module) -> list[tuple[str, Module]]:
        """Layers of a compiled root: those it was made of, in the order they were made."""
        self._captured.add(id(module))
        self.name_parts(module)
        script = self.torch.jit.ScriptModule
        leaves = [p for p in module.modules() if not p._modules and not isinstance(p, script)]
        return [
            (
                self._names[id(part)][1],
                part,
            )
            for part in leaves
            if id(part) in self._names
        ]

    def new_layer(self, module: Module, within: list[Module]) -> LayerInfo | None:
        """Number a layer that is called for the first time, within these modules, the root
        first.
        """
        quiet = facts.library_kind(module) in facts.QUIET
        name = self._name(module, within)
        axis = facts.unit_axis(module)
        return self.add_layer(
            module,
            name,
            facts.activation_of(module),
            axis,
            quiet,
        )

    def add_layer(
        self,
        module: Module,
        name: str,
        activation: str | None,
        unit_axis: int | None,
        quiet: bool,
    ) -> LayerInfo | None:
        known = (
            len(self.layers.all),
            name,
            weakref.ref(module),
        )
        return self.layers.add(
            module,
            LayerInfo(*known, activation, unit_axis, quiet),
        )

    def _name(self, module: Module, within: list[Module]) -> str:
        root = within[0] if within else module
        self.name_parts(root)
        if not self._is_named(module):
            # A layer that was put in later: a new head, an adapter.
            self._name_all(root)
        if self._is_named(module):
            return self._names[id(module)][1]
        name = self.unique(facts.snake(type(module).__name__))
        # What a compiler made is in no one's parameters; what has no weights need not be.
        made = type(module).__module__.startswith(("torch.fx.", "torch._"))
        if module is not root and not made and any(True for _ in module.parameters()):
            holders = (part for part in (*within[1:], module) if not self._is_named(part))
            self._lost_at = self._lost_at or self.place_of(next(holders))
            self._unregistered.append(name)
        return name

    def _is_named(self, module: Module) -> bool:
        known = self._names.get(id(module))
        return known is not None and known[0]() is module

    def name_parts(self, root: Module) -> None:
        """Names of everything in a root: the first root's stand alone, later ones begin with
        their class.
        """
        if not any(known() is root for known in self._roots):
            self._roots.append(weakref.ref(root))
            self._name_all(root)

    def _name_all(self, root: Module) -> None:
        prefix = "" if self._roots[0]() is root else f"{type(root).__name__}."
        for path, module in root.named_modules():
            path = _clean(path)
            if path and not self._is_named(module):
                self._names[id(module)] = (
                    weakref.ref(module),
                    self.unique(prefix + path),
                )
            for child in module.children():
                self._containers.setdefault(
                    id(child),
                    weakref.ref(module),
                )
        for path, tensor in root.named_parameters():
            self.parameter(tensor, prefix + _clean(path))

    def unique(self, name: str) -> str:
        """A name that no other layer has."""
        candidates = itertools.chain(
            [name],
            (f"{name}_{number}" for number in itertools.count(2)),
        )
        free = next(candidate for candidate in candidates if candidate not in self._taken)
        self._taken.add(free)
        return free

    def place_of(self, module: Module) -> Place | None:
        """Where a module was made; a copy made by a library is where what contains it was
        made.
        """
        for _ in range(51):
            place = self.made.place(module)
            if place is not None or module is None:
                return place
            module = self._containers.get(
                id(module),
                lambda: None,
            )()
        return None

    def parameter(self, tensor: Tensor, name: str) -> ParameterInfo | None:
        """The entry of a tensor, made under this name when it is new."""
        known = (
            len(self.parameters.all),
            name,
            weakref.ref(tensor),
        )
        info = ParameterInfo(
            *known,
            list(tensor.shape),
            bool(tensor.requires_grad),
        )
        return self.parameters.get(tensor) or self.parameters.add(tensor, info)

    def followed(self, tensors: list[Tensor]) -> list[tuple[int, Tensor]]:
        """(index, tensor) of the parameters that an optimizer moves, as far as they are
        ordinary tensors.
        """
        followed = []
        for tensor in tensors:
            info = self.parameter(
                tensor,
                f"unnamed.{len(self.parameters.all)}",
            )
            if info is not None and not info.in_optimizer:
                info.in_optimizer, info.plain = True, plain(self.torch, tensor)
                self.parameters.dirty = True
            if info is not None and info.plain:
                followed.append((info.index, tensor))
        for info in self.parameters.all:
            if (
                not info.in_optimizer
                and not info.graded
                and getattr(info.ref(), "grad", None) is not None
            ):
                info.graded = self.parameters.dirty = True
        return followed

    def learns(self, module: Module) -> bool:
        """Whether an optimizer moves one of its weights; of a program without optimizers no one
        knows.
        """
        if not any(info.in_optimizer for info in self.parameters.all):
            return True
        known = (self.parameters.get(tensor) for tensor in module.parameters())
        return any(info.in_optimizer for info in known if info is not None)

    def trainable(self) -> list[Tensor]:
        """What a program without an optimizer may move by hand."""
        tensors = [info.ref() for info in self.parameters.all]
        return [tensor for tensor in tensors if tensor is not None and tensor.requires_grad]

    def take_header(self) -> Facts | None:
        """Layers and parameters for the header; none when there are no new ones."""
        if not (self.layers.dirty or self.parameters.dirty):
            return None
        self.layers.dirty = self.parameters.dirty = False
        kept = ("name", "shape", "trainable", "in_optimizer", "graded")
        facts = [{name: getattr(info, name) for name in kept} for info in self.parameters.all]
        return {
            "layers": [info.name for info in self.layers.all],
            "parameters": facts,
        }

    def take_news(self, layers: int, optimizer: Optimizer | None) -> bool:
        """Whether the graph of so many captured layers has something new to say."""
        # Of a torch that was only imported there is nothing to say: Keras may run on another
        # engine.
        seen = self._roots or self.loss is not None or optimizer is not None or self.parameters.all
        state = (layers, self.loss is not None, id(optimizer), self.outputs)
        news = bool(seen) and state != self._described
        self._described = state if news else self._described
        return news

    def graph(
        self,
        entries: list[Entry],
        optimizer: Optimizer | None,
        batch_size: int,
    ) -> Facts:
        """The model graph as JSON."""
        sizes = [
            (math.prod(p.shape), p.trainable) for p in self.parameters.all if p.ref() is not None
        ]
        made_at = self.made.place(optimizer)
        described = facts.optimizer_facts(optimizer, made_at) if optimizer is not None else None
        layers = facts.layer_facts(
            self.torch,
            entries,
            self.parameters.get,
            self._first,
        )
        # The model is the first root that holds weights, else the first.
        roots = sorted(
            self.roots(),
            key=lambda root: next(root.parameters(), None) is None,
        )
        name = type(roots[0]).__name__ if roots else ""
        made = {
            "framework": "torch",
            "model": name,
            "layers": layers,
            "loss": self.loss,
        }
        graph = facts.graph(sizes, batch_size, optimizer=described, **made)
        return dict(
            graph,
            unregistered=list(self._unregistered),
            unregistered_at=self._lost_at,
            outputs=self.outputs or None,
        )

    def roots(self) -> list[Module]:
        """Those that are still there, without wrappers."""
        return [facts.inner(root) for known in self._roots if (root := known()) is not None]


def _clean(path: str) -> str:
    """A path without what wrappers for compiling and data-parallel training put in front."""
    while path.startswith(("_orig_mod.", "module.")) or path in ("_orig_mod", "module"):
        path = path.partition(".")[2]
    return path
