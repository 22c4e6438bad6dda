"""Where in the program the nodes of a loss were made, for the passes that are followed anyway."""

from __future__ import annotations

from collections import deque
from typing import Any

from reenact_probe.places import caller
from reenact_probe.types import Place

MOST = 600
MOST_LOSSES = 100
"""Losses whose nodes are noted: graphs are read of the first ones alone, and a line takes time to find."""
_NOTED_NAMES = """
add __add__ __radd__ sub __sub__ rsub __rsub__ mul __mul__ __rmul__ neg __neg__ div __truediv__ exp log pow
__pow__ square gather logsumexp min max minimum maximum relu clamp
"""
NOTED = frozenset(_NOTED_NAMES.split())
"""Functions whose lines are worth knowing."""


class Trail:
    """Nodes with their lines, the newest ones, until the loss that is made of them goes backward."""

    def __init__(self) -> None:
        self._made: deque[tuple[Any, Place | None]] = deque(maxlen=MOST)
        self._losses = 0

    def note(self, output: Any) -> None:
        node = getattr(output, "grad_fn", None) if self._losses < MOST_LOSSES else None
        if node is not None:
            self._made.append((node, caller()))

    def place_of(self, node: Any) -> Place | None:
        """The line that made a node; none where nobody followed it."""
        return next((place for made, place in self._made if made is node), None)

    def forget(self) -> None:
        """Let go of every node."""
        self._losses += bool(self._made)
        self._made.clear()
