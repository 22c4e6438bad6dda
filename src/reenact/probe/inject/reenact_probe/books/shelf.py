"""The tensors of numbers that a training could learn, known by what they are: not by their names.

Each is held weakly. Of its values there is a sketch, a few numbers at fixed positions: the first that was
taken, and the last. Two books share it: that of parameters, and that of models.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from reenact_probe.guard import after, guarded, patch
from reenact_probe.places import caller
from reenact_probe.torch.samples import plain, take
from reenact_probe.torch.transfer import Transfer, bring_over
from reenact_probe.types import Function, Library, Module, Optimizer, Place, Tensor

SKETCH = 48
"""Numbers of each tensor."""
SAMPLE = 1 << 16
"""Numbers that its distribution is read from, once."""
MOST = 1500
MOST_ROOTS = 12
LEAST_DRAWN = 64
"""A kernel must hold so many numbers before their distribution says anything."""
BARE = -1
"""The number of the model of a tensor that is in none."""


@dataclass(eq=False)
class Known:
    """One tensor that could learn."""

    number: int
    root: int
    path: str
    shape: list[int]
    trainable: bool
    is_parameter: bool
    ref: Any
    look: int
    """The look at which it was met."""
    first: Any = None
    last: Any = None
    spread: Any = None
    """Moments of its values when it was met, where it is a kernel."""
    owners: set[int] = field(default_factory=set)
    graded: int = 0
    """Looks at which a gradient came to it."""
    spent: int = 0
    """Steps of its optimizer at which it had one."""
    stepped: int = 0
    """Steps of its optimizer that were read."""
    asked: int = 0
    """Passes with gradients in which the layer that holds it ran."""
    order: int = -1
    """When its layer ran first, among all."""
    asked_without: int = 0
    gone: int = -1
    """The look at which its model no longer held it."""
    given: str = ""
    """Where its values came from, other than by chance: loaded, copied."""

    @property
    def moved(self) -> bool:
        """Whether its values changed since it was met."""
        return self.first is not None and not _same(self.first, self.last)


@dataclass(eq=False)
class Root:
    """A model that passed forward."""

    number: int
    name: str
    ref: Any
    numbers: list[int] = field(default_factory=list)
    """Its tensors, in order."""
    parts: list[Any] = field(default_factory=list)
    """Where its parts were made."""


class Shelf:
    """All tensors and models known so far."""

    def __init__(self, torch: Library, transfer: Transfer) -> None:
        self.torch = torch
        self.transfer = transfer
        self.looks = 0
        self.all: list[Known] = []
        self.roots: list[Root] = []
        self._by_id: dict[int, Known] = {}
        self._owned: dict[int, tuple[Any, set[int]]] = {}
        self._given: dict[int, tuple[Any, str]] = {}
        self.ties = Ties()
        self._watch_origins()

    def _watch_origins(self) -> None:
        torch = self.torch
        after(torch.optim.Optimizer, "add_param_group", guarded("shelf")(self._group_added))
        after(torch.nn.Module, "load_state_dict", guarded("shelf")(self._loaded))
        patch(torch.nn.Parameter, "__deepcopy__", self._wrap_copy)
        patch(torch.nn.Module, "register_parameter", self.ties.wrap)

    def _group_added(
        self,
        _: Any,
        optimizer: Optimizer,
        group: Any,
        *__: Any,
        **___: Any,
    ) -> None:
        for tensor in list(group["params"]):
            self.own(tensor, id(optimizer))

    def own(self, tensor: Tensor, owner: int) -> None:
        """An optimizer may move this."""
        held = self._owned.get(id(tensor))
        if held is None or held[0]() is not tensor:
            held = self._owned[id(tensor)] = (weakref.ref(tensor), set())
        held[1].add(owner)

    def _loaded(self, _: Any, module: Module, *__: Any, **___: Any) -> None:
        for tensor in module.parameters():
            self._note_origin(tensor, "loaded")

    def _wrap_copy(self, original: Function) -> Function:
        def __deepcopy__(tensor: Tensor, memo: Any) -> Any:  # noqa: N807
            copied = original(tensor, memo)
            self._copied(copied)
            return copied

        return __deepcopy__

    @guarded("shelf")
    def _copied(self, tensor: Tensor) -> None:
        self._note_origin(tensor, "copied")

    def _note_origin(self, tensor: Tensor, origin: str) -> None:
        self._given[id(tensor)] = (weakref.ref(tensor), origin)
        known = self.get(tensor)
        if known is not None:
            known.given = known.given or origin

    def get(self, tensor: Any) -> Known | None:
        """The entry of a tensor that is known."""
        known = self._by_id.get(id(tensor))
        if known is not None and known.ref() is tensor:
            return known
        return None

    def root_of(self, module: Module) -> Root | None:
        """The model that passed forward, met now where it is new; none beyond a few."""
        for root in self.roots:
            if root.ref() is module:
                return root
        if len(self.roots) >= MOST_ROOTS:
            return None
        root = Root(len(self.roots), type(module).__name__, weakref.ref(module))
        self.roots.append(root)
        self.read(root)
        return root

    def read(self, root: Root) -> None:
        """Meet what a model holds now; what it held and holds no longer is gone."""
        module = root.ref()
        if module is None:
            return
        held = [self.meet(one, root.number, path) for path, one in module.named_parameters()]
        numbers = [known.number for known in held if known is not None]
        for number in set(root.numbers).difference(numbers):
            known = self.all[number]
            known.gone = self.looks if known.gone < 0 else known.gone
        root.numbers = numbers

    def meet(self, tensor: Tensor, root: int, path: str) -> Known | None:
        """The entry of a tensor, made where it is new; none beyond a number of them."""
        known = self.get(tensor)
        may_be_kept = known is None and len(self.all) < MOST
        if may_be_kept and plain(self.torch, tensor) and tensor.numel():
            known = self._by_id[id(tensor)] = Known(
                len(self.all),
                root,
                path[-200:],
                list(tensor.shape),
                bool(tensor.requires_grad),
                isinstance(tensor, self.torch.nn.Parameter),
                weakref.ref(tensor),
                self.looks,
            )
            self.all.append(known)
            self._begin(known, tensor)
        if known is not None:
            if known.root < 0:
                known.root = root
            known.gone = -1
            known.trainable = known.trainable or bool(tensor.requires_grad)
        return known

    def _begin(self, known: Known, tensor: Tensor) -> None:
        known.first = take(tensor, SKETCH)
        known.last = known.first
        held, origin = self._given.get(id(tensor), (None, ""))
        known.given = origin if held is not None and held() is tensor else ""
        if tensor.dim() > 1 and tensor.numel() >= LEAST_DRAWN and tensor.is_floating_point():
            known.spread = _spread(self.torch, tensor)

    def sketch(self, numbers: list[int]) -> None:
        """Take the last sketch of tensors, by number."""
        for number in numbers:
            known = self.all[number]
            tensor = known.ref()
            if tensor is not None and plain(self.torch, tensor):
                known.last = take(tensor, SKETCH)

    def bring_over(self) -> None:
        """Have every sketch on the host, with one wait for all that are on a device."""
        held = [value for one in self.all for value in (one.first, one.last, one.spread)]
        values = iter(bring_over(self.transfer, held))
        for one in self.all:
            one.first = next(values)
            one.last = next(values)
            one.spread = next(values)

    def owners_of(self, known: Known) -> set[int]:
        """The optimizers that were given it, and what moved it otherwise."""
        held, owners = self._owned.get(id(known.ref()), (None, set()))
        if held is not None and held() is known.ref():
            known.owners |= owners
        return known.owners

    def moved(self, tensors: list[Tensor], owner: int) -> None:
        """Something is about to move these."""
        for tensor in tensors:
            self.own(tensor, owner)


class Ties:
    """Layers that were given the parameter of another one, and whether they still hold it."""

    MOST = 64

    def __init__(self) -> None:
        self._holders: dict[int, tuple[Any, Any, str]] = {}
        """By parameter: itself, the layer that was given it first, and under which name."""
        self.made: list[tuple[Any, str, Any, str, Place | None]] = []
        self._parted: dict[tuple[int, str], Place | None] = {}
        """Where a layer of a pair was given another parameter."""

    def wrap(self, original: Function) -> Function:
        def register_parameter(
            module: Module,
            name: str,
            param: Any,
            *rest: Any,
        ) -> Any:
            result = original(module, name, param, *rest)
            if param is not None:
                self._registered(module, name, param)
            return result

        return register_parameter

    @guarded("ties")
    def _registered(self, module: Module, name: str, tensor: Tensor) -> None:
        for one, own, other, others, _ in self.made:
            is_first = one() is module and own == name
            is_second = other() is module and others == name
            if is_first or is_second:
                self._parted[id(module), name] = caller()
        held = self._holders.get(id(tensor))
        if held is None or held[0]() is not tensor:
            self._holders[id(tensor)] = (weakref.ref(tensor), weakref.ref(module), name)
        elif held[1]() is not None and held[1]() is not module and len(self.made) < self.MOST:
            self.made.append((held[1], held[2], weakref.ref(module), name, caller()))

    def broken(self, modules: dict[int, str]) -> Iterator[tuple[str, str, Tensor, Tensor, Any]]:
        """Pairs of these layers that shared a parameter and hold two now."""
        for one, own, other, others, _ in self.made:
            layers = (one(), other())
            if not all(layer is not None and id(layer) in modules for layer in layers):
                continue
            first = layers[0]._parameters.get(own)
            second = layers[1]._parameters.get(others)
            if first is None or second is None or first is second:
                continue
            ends = ((id(layers[0]), own), (id(layers[1]), others))
            place = next((self._parted[end] for end in ends if end in self._parted), None)
            name = f"{modules[id(layers[0])]}.{own}"
            other_name = f"{modules[id(layers[1])]}.{others}"
            yield name, other_name, first, second, place


def _spread(torch: Library, tensor: Tensor) -> Any:
    """Mean, deviation, fourth moment over the squared variance, largest size, of many of its numbers."""
    values = tensor.detach().reshape(-1)[:SAMPLE].float()
    mean = values.mean()
    off = values - mean
    variance = (off * off).mean()
    fourth = (off**4).mean() / (variance * variance).clamp(min=1e-30)
    return torch.stack([mean, variance.sqrt(), fourth, values.abs().max()])


def _same(one: Any, other: Any) -> bool:
    return len(one) == len(other) and bool((one == other).all())


def numbers_of(values: Any) -> list[float]:
    """A sketch as numbers, wherever it lies."""
    listed: list[float] = values.tolist() if values is not None else []
    return listed
