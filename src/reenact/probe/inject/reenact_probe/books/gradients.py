"""The book of gradients: what each backward pass brings, and what becomes of it until a step spends it.

The purse of an optimizer is a sample of the gradients of its weights: numbers at places that stay the
same, so that "equal", "sum" and "multiple" can be distinguished. It is read before and after each backward
pass and right before a step. Whether it was cleared is seen in the numbers, no matter who cleared it and how.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy

from reenact_probe.books import Book
from reenact_probe.books.spending import Ledger, Reading
from reenact_probe.places import caller
from reenact_probe.recorder import Recorder
from reenact_probe.torch.samples import plain
from reenact_probe.torch.transfer import Later, Transfer
from reenact_probe.types import Array, Facts, Library, Optimizer, Place, Tensor

SAMPLED = 4096
"""Numbers of a purse."""
TENSORS = 64
"""Tensors that a purse looks into."""
WATCHED, WEIGHTS = 4, 8
"""Tensors whose weights are looked at, and numbers of each: they tell whether weights moved."""
OWNERS = 8
HELD = 48
"""Readings that may wait on a device."""
NODES, WALKS = 20_000, 6
"""Nodes of a graph that are walked over, and graphs that are."""
PASSES = 256
"""Backward passes of one look: a training whose steps never come is not followed on and on."""


class Purse:
    """Where the gradients of one optimizer are read."""

    def __init__(
        self,
        torch: Library,
        owner: Any,
        parameters: list[Tensor],
    ) -> None:
        self.torch = torch
        self.owner = owner
        self.known = len(parameters)
        self.first = weakref.ref(parameters[0]) if parameters else None
        usable = [one for one in parameters if _usable(torch, one)]
        self.usable = len(usable)
        stride = max(1, -(-len(usable) // TENSORS))
        chosen = usable[::stride]
        self.weights = [weakref.ref(one) for one in chosen]
        each = max(1, SAMPLED // max(1, len(chosen)))
        self.sizes = [min(each, one.numel()) for one in chosen]

    def holds(self, parameters: list[Tensor]) -> bool:
        """Whether these are its weights: some libraries wrap an optimizer in one of their own."""
        same = self.first is not None and bool(parameters) and self.first() is parameters[0]
        return same and self.known == len(parameters)

    def read(self) -> Tensor | None:
        """A copy of the numbers, on their device; zeros where there is no gradient."""
        torch = self.torch
        parts = []
        with torch.no_grad():
            weights = [ref() for ref in self.weights]
            device = next((one.device for one in weights if one is not None), None)
            for weight, size in zip(weights, self.sizes):
                grad = None if weight is None else weight.grad
                readable = grad is not None and plain(torch, grad) and grad.device == device
                parts.append(
                    _some(torch, grad, size) if readable else torch.zeros(size, device=device)
                )
            for weight in weights[:WATCHED]:
                if weight is not None:
                    parts.append(_some(torch, weight.detach(), min(WEIGHTS, weight.numel())))
            if parts:
                return torch.cat([part.float() for part in parts])
            return None


def _usable(torch: Library, weight: Tensor) -> bool:
    return plain(torch, weight) and weight.is_floating_point() and weight.numel() > 0


def _some(torch: Library, tensor: Tensor, size: int) -> Tensor:
    """Numbers at a stride, those of a copy only where they do not lie in one piece."""
    tensor = tensor.detach()
    step = tensor.numel() // size
    if not tensor.is_contiguous():
        tensor = tensor.reshape(-1)
    return torch.as_strided(tensor, (size,), (step,), tensor.storage_offset())


class Gradients(Book):
    """One per process."""

    name = "gradients"

    def __init__(self, torch: Library, recorder: Recorder, transfer: Transfer) -> None:
        self.torch = torch
        self.recorder = recorder
        self.later = Later(transfer)
        self.ledger = Ledger()
        self._purses: dict[int, Purse] = {}
        """By number, which is the order in which the optimizers were met."""
        self._held: list[Reading] = []
        """What was read and waits to be brought over."""
        self._looking = False
        self._last_look = -2
        self._stepping: int | None = None
        self._came = True
        self._passes = 0
        """Of the look under way."""
        self._others: dict[int, bool] = {}
        """By line of a backward pass: whether it reaches leaves that no optimizer holds."""

    def look_begins(self) -> None:
        step = self.recorder.step
        self._looking = True
        follows = step == self._last_look + 1
        self._last_look = step
        self._stepping = None
        self._passes = 0
        self._note("look", -1, None, follows=follows, step=step)
        if not follows:
            self._read_all("found")

    def cleared(self, optimizer: Optimizer | None) -> None:
        if self._looking and optimizer is not None:
            self._know(optimizer, _weights(optimizer))

    def goes_back(self, loss: Tensor) -> None:
        self._passes += 1
        if self._passes > PASSES:
            return
        self._came = False
        self._read_all("before")
        place = caller()
        self._note(
            "pass",
            -1,
            None,
            place=place,
            others=self._is_for_others(loss, place),
        )

    def came(self) -> None:
        if not self._came:
            self._came = True
            self._read_all("came")
            if len(self._held) > HELD:
                self._bring_over()

    def steps(self, optimizer: Optimizer | None, parameters: list[Tensor]) -> None:
        number = self._know(optimizer, parameters)
        self._stepping = number
        if number is not None:
            self._note("step", number, self._purses[number].read(), place=caller())

    def stepped(self) -> None:
        self._looking = False
        number = self._stepping
        if number is not None:
            self._note("stepped", number, self._purses[number].read())
        self._bring_over()

    def settled(self) -> None:
        self.later.settle()

    def facts(self) -> Facts | None:
        self._bring_over()
        self.later.settle()
        return self.ledger.facts()

    def _know(self, optimizer: Optimizer | None, parameters: list[Tensor]) -> int | None:
        """The number of an optimizer; a new purse where it holds other weights than before."""
        for number, purse in self._purses.items():
            if purse.holds(parameters):
                return number
        for number, purse in self._purses.items():
            held = purse.owner() if purse.owner is not None else None
            if held is optimizer:
                self._open(number, optimizer, parameters)
                return number
        number = len(self._purses)
        if number >= OWNERS:
            return None
        self._open(number, optimizer, parameters)
        return number

    def _open(
        self,
        number: int,
        optimizer: Optimizer | None,
        parameters: list[Tensor],
    ) -> None:
        owner = weakref.ref(optimizer) if optimizer is not None else None
        purse = self._purses[number] = Purse(self.torch, owner, parameters)
        self._note(
            "opened",
            number,
            purse.read(),
            type=type(optimizer).__name__ if optimizer is not None else "",
            tensors=purse.known,
            sizes=purse.sizes,
            usable=purse.usable,
        )

    def _read_all(self, event: str) -> None:
        for number, purse in self._purses.items():
            self._note(event, number, purse.read())

    def _note(
        self,
        event: str,
        owner: int,
        values: Tensor | None,
        **facts: Any,
    ) -> None:
        self._held.append(Reading(event, owner, values, facts))

    def _bring_over(self) -> None:
        """Enter all readings, in one piece where they are on a device."""
        held, self._held = self._held, []
        there = [one.values for one in held if one.values is not None]
        if not held:
            return
        sizes = [one.numel() for one in there]
        for one in held:
            one.values = one.values is not None
        if there and not all(self.later.transfer.is_away(one) for one in there):
            there = [one.cpu() for one in there]
        whole = [self.torch.cat([one.to(there[0].device) for one in there])] if there else []
        self.later.do(whole, lambda arrays: self._enter(held, arrays, sizes))

    def _enter(self, held: list[Reading], arrays: list[Array], sizes: list[int]) -> None:
        ends = numpy.cumsum(sizes)[:-1]
        parts = iter(numpy.split(arrays[0], ends) if arrays else ())
        for one in held:
            one.values = next(parts) if one.values else None
            self.ledger.enter(one)

    def _is_for_others(self, loss: Tensor, place: Place | None) -> bool:
        """Asked once a line, and only where something was thrown away."""
        line = place[1] if place else -1
        if line not in self._others and self.ledger.suspects and len(self._others) < WALKS:
            self._others[line] = self._reaches_others(loss)
        return self._others.get(line, False)

    def _reaches_others(self, loss: Tensor) -> bool:
        """Whether a loss reaches leaves that no optimizer holds, such as an input that is attacked."""
        ours: set[int] = set()
        for purse in self._purses.values():
            held = purse.owner() if purse.owner is not None else None
            ours.update(id(one) for one in (_weights(held) if held is not None else ()))
        todo: list[Any] = [loss.grad_fn]
        seen: dict[int, Any] = {}
        while todo and len(seen) < NODES:
            node = todo.pop()
            if node is None or id(node) in seen:
                continue
            seen[id(node)] = node
            variable = getattr(node, "variable", None)
            if variable is not None and id(variable) not in ours:
                return True
            todo += [before for before, _ in node.next_functions]
        return False


def _weights(optimizer: Optimizer) -> list[Tensor]:
    return [weight for group in optimizer.param_groups for weight in group["params"]]
