"""Notices graphs of earlier steps that something in the program still holds, and what holds them.

The graph of a pass lives as long as a tensor that came of it. A mark in the last node of the pass dies with
the graph, so marks of earlier steps that are still there tell that graphs are kept.
"""

from __future__ import annotations

import collections
import sys
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

from reenact_probe.guard import guarded
from reenact_probe.places import caller, is_library
from reenact_probe.recorder import Recorder
from reenact_probe.types import Library

NAME = "reenact"
FEWEST = 10
"""Graphs of earlier steps that must be there still."""
LEAST = 0.3
"""Share of the marked passes: a program may make several a step and keep those of one kind."""
MOST_NODES = 20_000
EVENT = "graphs-kept"


class Mark:
    """Lies in a node of a graph and says of which step that is."""

    def __init__(self, step: int) -> None:
        self.step = step


class Graphs:
    """Marks passes of steps that are looked at."""

    def __init__(self, torch: Library, recorder: Recorder) -> None:
        self.torch = torch
        self.recorder = recorder
        self._marks: list[weakref.ref[Mark]] = []

    @guarded("graphs")
    def mark(self, output: Any) -> None:
        """A pass ended: leave a mark in its graph, and look for those of earlier steps."""
        node = getattr(output, "grad_fn", None)
        if node is None or EVENT in self.recorder.kinds:
            return
        mark = node.metadata[NAME] = Mark(self.recorder.step)
        self._marks.append(weakref.ref(mark))
        there = [held for one in self._marks if (held := one()) is not None]
        kept = sum(self._is_old(one) for one in there)
        if kept >= FEWEST and kept >= LEAST * len(self._marks):
            name = next(self._holders(), "")
            self.recorder.event(EVENT, held=kept, of=len(self._marks), name=name, place=caller())

    def _is_old(self, mark: Mark) -> bool:
        # What the step before left in its variables goes when they are given the next value.
        return mark.step < self.recorder.step - 1

    def _holders(self) -> Iterator[str]:
        """Variables of the running functions, and attributes of theirs, that hold such a graph."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if not is_library(frame.f_code.co_filename):
                for name, value in list(frame.f_locals.items()):
                    parts = getattr(value, "__dict__", {}) if not isinstance(value, type(sys)) else {}
                    if self._holds(value):
                        yield name
                    yield from (f"{name}.{part}" for part, one in list(parts.items()) if self._holds(one))
            frame = frame.f_back

    def _holds(self, value: Any) -> bool:
        if isinstance(value, dict):
            value = list(value.values())
        # A list that grows holds the oldest first.
        held = list(value)[:FEWEST] if isinstance(value, (list, tuple, collections.deque)) else [value]
        return any(self._is_kept(one) for one in held if isinstance(one, self.torch.Tensor))

    def _is_kept(self, tensor: Any) -> bool:
        """Whether the graph of a tensor reaches back to a step before the last."""
        todo: list[Any] = [tensor.grad_fn]
        seen: dict[int, Any] = {}
        while todo and len(seen) < MOST_NODES:
            node = todo.pop()
            if node is None or id(node) in seen:
                continue
            # Held, so that no identity is used twice.
            seen[id(node)] = node
            mark = node.metadata.get(NAME)
            if mark is not None and self._is_old(mark):
                return True
            todo += [before for before, _ in node.next_functions]
        return False
