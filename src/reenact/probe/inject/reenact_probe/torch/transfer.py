"""Brings small tensors over from a device without waiting for it.

A copy is begun where it is wanted and read after the step that is looked at has been waited for anyway. To
read a number at once (`item`, `cpu`) makes the program wait until the device has done all that it was
given, which no clock of ours sees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reenact_probe.torch.samples import NOT_NUMPY
from reenact_probe.types import Array, Library, Tensor

MOST = 48
"""Pieces of work that may wait for their numbers."""

Work = Callable[[list[Array]], None]


class Transfer:
    """Copies that were begun and not waited for."""

    def __init__(self, torch: Library) -> None:
        self.torch = torch
        self.waits = 0
        """How often a device was waited for."""
        self._sources: list[Tensor] = []
        """Held until their copies are there: their memory must not be used again before."""
        self._events: dict[Any, Any] = {}
        """By device: what is reached when the last copy is there."""

    def is_away(self, tensor: Tensor) -> bool:
        """Whether reading it would wait for a device."""
        return not tensor.is_cpu

    def begin(self, tensor: Tensor) -> Tensor:
        """A copy in the memory of the host, which is complete once `finish` was called."""
        if not self.is_away(tensor):
            return tensor.clone()
        if tensor.device.type != "cuda":
            self.waits += 1
            return tensor.to("cpu", copy=True)
        self._sources.append(tensor)
        pinned = self.torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
        pinned.copy_(tensor, non_blocking=True)
        event = self._events[tensor.device] = self.torch.cuda.Event()
        event.record(self.torch.cuda.current_stream(tensor.device))
        return pinned

    def finish(self) -> None:
        """Wait for what is under way: no time where the program, or a look, has waited since."""
        events, self._events = self._events, {}
        for event in events.values():
            if not event.query():
                self.waits += 1
                event.synchronize()
        self._sources = []


class Later:
    """Work on numbers, in its order: at once where they are on the host, else once they have come over."""

    def __init__(self, transfer: Transfer) -> None:
        self.transfer = transfer
        self._waiting: list[tuple[Work, list[Tensor]]] = []

    def do(self, tensors: Sequence[Tensor], work: Work) -> None:
        """Have work done with these tensors as arrays."""
        if not self._waiting and not any(self.transfer.is_away(one) for one in tensors):
            work([array_of(one) for one in tensors])
            return
        with self.transfer.torch.no_grad():
            self._waiting.append((work, [self.transfer.begin(one) for one in tensors]))
        if len(self._waiting) > MOST:
            self.settle()

    def settle(self) -> None:
        """Do all that waits."""
        if not self._waiting:
            return
        self.transfer.finish()
        waiting, self._waiting = self._waiting, []
        for work, tensors in waiting:
            work([array_of(one) for one in tensors])


def array_of(tensor: Tensor) -> Array:
    """A tensor of the host as numpy holds it."""
    return (tensor.float() if tensor.dtype in NOT_NUMPY else tensor).numpy()


def bring_over(transfer: Transfer, values: Sequence[Any]) -> list[Any]:
    """Samples as arrays, those on a device with one wait for all."""
    there = [one is not None and hasattr(one, "is_cpu") for one in values]
    copies = [transfer.begin(one) if away else one for one, away in zip(values, there)]
    transfer.finish()
    return [array_of(one) if away else one for one, away in zip(copies, there)]
