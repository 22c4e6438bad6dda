"""Notices graphs of earlier steps that something in the program still holds, and what holds them.

The graph of a pass lives as long as a tensor that came of it. A mark in the last node of the pass
dies with the graph, so marks of earlier steps that are still there tell that graphs are kept. A
loss whose graph is larger at every look is computed from what earlier steps left.
"""

from __future__ import annotations

import collections
import sys
import traceback
import weakref
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from reenact_probe.guard import guarded
from reenact_probe.places import caller, is_library
from reenact_probe.recorder import Recorder
from reenact_probe.torch.samples import first_tensor
from reenact_probe.types import Library

NAME = "reenact"
FEWEST = 10
"""Graphs of earlier steps that must be there still."""
EVALUATIONS = 3
"""The same of evaluations, which are fewer."""
LEAST = 0.3
"""Share of the marked passes: a program may make several a step and keep those of one kind."""
GROWN = 3.0
"""Times that a graph must have grown."""
MOST_NODES, MOST_HELD = 20_000, 64
EVENT = "graphs-kept"


class Mark:
    """Lies in a node of a graph and says of which step that is."""

    def __init__(self, step: int) -> None:
        self.step = step


class Graphs:
    """Marks passes of steps that are looked at, and counts the nodes after their losses."""

    def __init__(self, torch: Library, recorder: Recorder) -> None:
        self.torch = torch
        self.recorder = recorder
        self._marks: list[weakref.ref[Mark]] = []
        self._of_evaluations: list[weakref.ref[Mark]] = []
        self._sizes: list[int] = []
        self._grows = True
        """At every look so far; most programs are counted twice."""

    @guarded("graphs")
    def mark(self, output: Any, evaluating: bool = False) -> None:
        """A pass ended: leave a mark in its graph, and look for those of earlier steps. A pass in
        evaluation mode may have a graph too, and is compared with its like.
        """
        node = getattr(first_tensor(self.torch, output), "grad_fn", None)
        if node is None or EVENT in self.recorder.kinds:
            return
        mark = node.metadata[NAME] = Mark(self.recorder.step)
        marks = self._of_evaluations if evaluating else self._marks
        marks.append(weakref.ref(mark))
        there = [held for one in marks if (held := one()) is not None]
        old = [one.step for one in there if self._is_old(one)]
        kept = len(old)
        enough = len(set(old)) >= EVALUATIONS if evaluating else kept >= FEWEST
        if enough and kept >= LEAST * len(marks):
            name = next(
                (name for name, tensors in self._held() if any(map(self._is_kept, tensors))),
                "",
            )
            self.recorder.event(
                EVENT,
                held=kept,
                name=name,
                place=caller(),
            )

    @guarded("graphs")
    def goes_back(self, loss: Any) -> None:
        """A loss goes backward: a graph that is larger at every look reaches back to earlier
        steps.
        """
        if (
            not self._grows
            or not isinstance(loss, self.torch.Tensor)
            or EVENT in self.recorder.kinds
        ):
            return
        nodes = len(list(_nodes([loss])))
        self._grows = not self._sizes or nodes > self._sizes[-1]
        self._sizes.append(nodes)
        first = self._sizes[0]
        if self._grows and len(self._sizes) > FEWEST and nodes > GROWN * first:
            # Variables of the step under way reach back too, through what is held.
            lasting = (
                (name, tensors) for name, tensors in self._held() if "." in name or len(tensors) > 1
            )
            name = next(
                (name for name, held in lasting if len(list(_nodes(held))) > nodes / GROWN),
                "",
            )
            self.recorder.event(
                EVENT,
                nodes=[first, nodes],
                name=name,
                place=caller(),
            )

    def _is_old(self, mark: Mark) -> bool:
        # What the step before left in its variables goes when they are given the next value.
        return mark.step < self.recorder.step - 1

    def _is_kept(self, tensor: Any) -> bool:
        """Whether the graph of a tensor reaches back to a step before the last."""
        marks = (node.metadata.get(NAME) for node in _nodes([tensor]))
        return any(mark is not None and self._is_old(mark) for mark in marks)

    def _held(self) -> Iterator[tuple[str, list[Any]]]:
        """Variables of the running functions and their attributes, with the tensors in each."""
        for frame, _ in traceback.walk_stack(sys._getframe(1)):
            own = {} if is_library(frame.f_code.co_filename) else dict(frame.f_locals)
            for name, value in own.items():
                parts = {} if isinstance(value, ModuleType) else getattr(value, "__dict__", {})
                inside = {f"{name}.{part}": one for part, one in list(parts.items())}
                for path, one in {name: value, **inside}.items():
                    yield path, self._tensors(one)

    def _tensors(self, value: Any) -> list[Any]:
        if isinstance(value, dict):
            value = list(value.values())
        # A list that grows holds the oldest first.
        held = (
            list(value)[:MOST_HELD]
            if isinstance(value, (list, tuple, collections.deque))
            else [value]
        )
        return [one for one in held if isinstance(one, self.torch.Tensor)]


def _nodes(tensors: list[Any]) -> Iterator[Any]:
    """The nodes of the graphs of tensors, up to a number."""
    todo: list[Any] = [tensor.grad_fn for tensor in tensors]
    # Held, so that no identity is used twice.
    seen: dict[int, Any] = {}
    while todo and len(seen) < MOST_NODES:
        node = todo.pop()
        if node is not None and id(node) not in seen:
            seen[id(node)] = node
            yield node
            todo += [before for before, _ in node.next_functions]
