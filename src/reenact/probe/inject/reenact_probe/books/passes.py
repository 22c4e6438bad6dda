"""Which forward pass a tensor comes from: each is known by the graph of what it gave.

Of a step with several passes, micro-batches whose gradients are collected, two towers, an evaluation that
keeps gradients, the graph alone says which of them a loss is made of.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

from reenact_probe.types import Library, Tensor

MARK = "reenact-pass"
MOST_NODES = 20_000


class Passes:
    """The passes with gradients since the last step, by number."""

    def __init__(self, torch: Library) -> None:
        self.torch = torch
        self._next = 0
        self._open: set[int] = set()
        """Of passes that have not gone backward."""
        self._last: Any = None
        self._found: set[int] = set()
        """The loss that was asked about last, held weakly, and the later passes."""

    def mark(self, output: Any) -> int | None:
        """The number of the pass that gave this; none where nothing in it has a graph."""
        nodes = [one.grad_fn for one in tensors_of(self.torch, output) if one.grad_fn is not None]
        if not nodes:
            return None
        number = next((node.metadata[MARK] for node in nodes if MARK in node.metadata), None)
        if number is None:
            self._next += 1
            number = self._next
        for node in nodes:
            node.metadata[MARK] = number
        self._open.add(number)
        return int(number)

    def behind(self, tensor: Any) -> set[int]:
        """The open passes that a tensor is made of."""
        if self._last is not None and self._last() is tensor:
            return self._found
        found: set[int] = set()
        for node in nodes_behind(tensor) if self._open else ():
            number = node.metadata.get(MARK)
            if number in self._open:
                found.add(number)
                if len(found) == len(self._open):
                    break
        if isinstance(tensor, self.torch.Tensor):
            self._last, self._found = weakref.ref(tensor), found
        return found

    def clear(self) -> None:
        """A step begins: passes of those before it are over."""
        self._open = set()
        self._last = None


def tensors_of(torch: Library, value: Any, depth: int = 3) -> list[Tensor]:
    """Tensors in what a model gave."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (tuple, list)) or not depth:
        return []
    return [tensor for part in value[:8] for tensor in tensors_of(torch, part, depth - 1)]


def nodes_behind(tensor: Any, most: int = MOST_NODES) -> Iterator[Any]:
    """The nodes of the graph behind a tensor, the nearest first, up to a number."""
    todo: list[Any] = [getattr(tensor, "grad_fn", None)]
    # Held, so that no identity is used twice.
    seen: dict[int, Any] = {}
    for node in todo:
        if node is not None and id(node) not in seen:
            if len(seen) >= most:
                return
            seen[id(node)] = node
            yield node
            todo.extend(before for before, _ in node.next_functions)
