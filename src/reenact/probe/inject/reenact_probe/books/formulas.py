"""The book of formulas: losses of known families, by what they are given and by the graph they leave."""

from __future__ import annotations

from reenact_probe.books import Book
from reenact_probe.books.addends import addends
from reenact_probe.books.divergences import given_to_divergence, turned_divergences
from reenact_probe.places import caller
from reenact_probe.recorder import Recorder
from reenact_probe.torch.capture import LossCall
from reenact_probe.torch.trail import Trail
from reenact_probe.types import Facts, Library, Optimizer, Place, Tensor

MOST_CALLS = 64
"""Calls of losses whose numbers are looked at."""
MOST_LINES = 16
MOST_READ = 12
"""Losses of one line whose graphs are read."""


class FormulasBook(Book):
    """One per process."""

    name = "formulas"

    def __init__(self, torch: Library, recorder: Recorder) -> None:
        self.torch = torch
        self.recorder = recorder
        self._divergences: list[Facts] = []
        self._turned: dict[str, Facts] = {}
        """By line."""
        self._reads: dict[int, int] = {}
        """How many losses of a line of a backward pass were read."""
        self._read = 0
        self._waiting: list[tuple[Place | None, Place | None]] = []
        """Of this step: what is known only once it is seen which way its optimizer goes."""
        self._trail: Trail | None = None

    def look_begins(self) -> None:
        self._waiting = []

    def followed(self, calls: list[LossCall], trail: Trail) -> None:
        self._trail = trail
        for call in calls:
            if call.name == "kl_div" and len(self._divergences) < MOST_CALLS:
                seen = given_to_divergence(self.torch, call.args, call.kwargs)
                if seen is not None:
                    self._divergences.append({"place": call.place, **seen})

    def goes_back(self, loss: Tensor) -> None:
        trail, self._trail = self._trail, None
        place = caller()
        line = place[1] if place else -1
        reads = self._reads.get(line, 0)
        if loss.grad_fn is None or reads >= MOST_READ:
            return
        self._reads[line] = reads + 1
        self._read += 1
        found = addends(loss.grad_fn)
        for node in turned_divergences(found):
            known = trail.place_of(node) if trail is not None else None
            self._waiting.append((known, place))

    def steps(self, optimizer: Optimizer | None, parameters: list[Tensor]) -> None:  # noqa: ARG002
        waiting, self._waiting = self._waiting, []
        if optimizer is None or any(group.get("maximize") for group in optimizer.param_groups):
            return
        for known, backward in waiting:
            held = self._turned.setdefault(repr(backward), {"place": None, "seen": 0})
            held["seen"] += 1
            held["place"] = held["place"] or known
            held.setdefault("backward", {"place": backward})

    def facts(self) -> Facts | None:
        if not self._read:
            return None
        return {
            "read": self._read,
            "divergences": self._divergences,
            "turned": list(self._turned.values())[:MOST_LINES],
        }
