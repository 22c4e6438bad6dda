"""Where in the program the nodes of a loss were made, for the passes that are followed anyway."""

from __future__ import annotations

from collections import deque
from typing import Any

from reenact_probe.places import caller
from reenact_probe.torch.samples import plain
from reenact_probe.types import Args, Library, Place

MOST = 600
MOST_LOSSES = 100
"""Losses whose nodes are noted: graphs are read of the first ones alone, and a line takes time to find."""
_NOTED_NAMES = """
add __add__ __radd__ sub __sub__ rsub __rsub__ mul __mul__ __rmul__ neg __neg__ div __truediv__ exp log pow
__pow__ square gather logsumexp min max minimum maximum relu clamp
"""
NOTED = frozenset(_NOTED_NAMES.split())
"""Functions whose lines are worth knowing."""
_ADD = frozenset({"add", "__add__", "__radd__", "sub", "__sub__"})
MOST_NUMBERS = 1 << 20
"""Numbers of what is added to that are read."""
MOST_SHIFTS = 32


class Trail:
    """Nodes with their lines, the newest ones, until the loss that is made of them goes backward."""

    def __init__(self, torch: Library) -> None:
        self.torch = torch
        self._made: deque[tuple[Any, Place | None]] = deque(maxlen=MOST)
        self._shifts: deque[Any] = deque(maxlen=MOST_SHIFTS)
        """Nodes that add one number to all of a row."""
        self._losses = 0

    def note(self, name: str, args: Args, output: Any) -> None:
        node = getattr(output, "grad_fn", None) if self._losses < MOST_LOSSES else None
        if node is not None:
            self._made.append((node, caller()))
            if name in _ADD and len(args) == 2 and _is_shift(self.torch, *args, output):
                self._shifts.append(node)

    def shifts(self, node: Any) -> bool:
        """Whether it adds one number to all of a row, which is not a number of that row itself."""
        return any(made is node for made in self._shifts)

    def place_of(self, node: Any) -> Place | None:
        """The line that made a node; none where no one followed it."""
        for made, place in self._made:
            if made is node:
                return place
        return None

    def forget(self) -> None:
        """Let go of every node."""
        self._losses += bool(self._made)
        self._made.clear()
        self._shifts.clear()


def _is_shift(torch: Library, first: Any, second: Any, output: Any) -> bool:
    """Whether one is a column and the other the rows that it is added to. The largest number of each
    row, its mean or its sum of exponentials are taken off for the sake of precision.
    """
    if not all(plain(torch, one) for one in (first, second, output)):
        return False
    shapes = [first.shape, second.shape]
    if output.dim() != 2 or output.shape[1] < 2 or output.numel() > MOST_NUMBERS:
        return False
    column = (output.shape[0], 1)
    if column not in shapes or output.shape not in shapes:
        return False
    column_first = shapes[0] == column
    added, rows = (first, second) if column_first else (second, first)
    added, rows = added.detach().float(), rows.detach().float()
    own = (rows.amax(1, True), rows.amin(1, True), rows.mean(1, True), rows.logsumexp(1, True))
    still = bool((added == added[:1]).all())
    return not still and not any(added.abs().allclose(one.abs(), 1e-3, 1e-4) for one in own)
