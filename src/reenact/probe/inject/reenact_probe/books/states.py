"""States of models that the program takes out, writes and loads: of which step is what is loaded?

Of each state there is a sketch, a few numbers of some of its tensors: a state that is loaded is known again
by them, wherever it was in between.
"""

from __future__ import annotations

import sys
from collections import deque
from types import FrameType
from typing import Any

from reenact_probe.guard import after, before, guarded
from reenact_probe.places import caller, is_library, of_probe, position
from reenact_probe.recorder import Recorder
from reenact_probe.torch.samples import plain, take
from reenact_probe.torch.transfer import Transfer, bring_over
from reenact_probe.types import Facts, Library, Module, Place

MOST_KEPT = 400
"""Steps at which states are taken out that are noted of one line."""
MOST_LINES = 16
LAST_LOADS = 16
TENSORS, NUMBERS = 8, 8
"""Tensors of a state that are sketched, and numbers of each."""


class States:
    """Those that the program itself takes out, by line, and the last ones that it loads."""

    def __init__(self, torch: Library, recorder: Recorder, transfer: Transfer) -> None:
        self.torch = torch
        self.transfer = transfer
        self.recorder = recorder
        self._kept: dict[tuple[Any, ...], dict[int, Any]] = {}
        """By model and line: a sketch for each step."""
        self._loads: deque[Facts] = deque(maxlen=LAST_LOADS)
        self._held: list[Any] = []
        """A sketch of the model that is about to load a state."""
        self._written = -1
        after(torch.nn.Module, "state_dict", self._taken)
        before(torch.nn.Module, "load_state_dict", self._about_to_load)
        after(torch.nn.Module, "load_state_dict", self._loaded)
        before(torch, "save", self._saved)

    @guarded("state-taken")
    def _taken(
        self,
        _: Any,
        module: Module,
        *__: Any,
        **___: Any,
    ) -> None:
        place = asked_by_program()
        if place is None:
            return
        key = (type(module).__name__, *place)
        steps = self._kept.get(key)
        if steps is None and len(self._kept) < MOST_LINES:
            steps = self._kept[key] = {}
        step = self.recorder.step
        if steps is not None and len(steps) < MOST_KEPT and step not in steps:
            steps[step] = self._sketch(module)

    @guarded("state-loaded")
    def _about_to_load(self, module: Module, *_: Any, **__: Any) -> None:
        self._held = self._sketch(module)

    @guarded("state-loaded")
    def _loaded(self, _: Any, module: Module, *__: Any, **___: Any) -> None:
        held, self._held = self._held, []
        self._loads.append(
            {
                "model": type(module).__name__,
                "step": self.recorder.step,
                "place": caller(),
                "before": held,
                "now": self._sketch(module),
            }
        )

    @guarded("state-written")
    def _saved(self, *_: Any, **__: Any) -> None:
        self._written = self.recorder.step

    def _sketch(self, module: Module) -> list[Any]:
        """Where they are: nothing is brought over yet."""
        usable = (one for one in module.parameters() if plain(self.torch, one) and one.numel())
        few = [one for one, _ in zip(usable, range(TENSORS))]
        return [take(one, NUMBERS) for one in few]

    def facts(self) -> Facts:
        self._bring_over()
        kept = [
            {"model": key[0], "place": list(key[1:]), "steps": list(steps)}
            for key, steps in self._kept.items()
        ]
        return {
            "kept": kept,
            "loaded": [self._load(one) for one in self._loads],
            "written": self._written,
        }

    def _bring_over(self) -> None:
        """Have every sketch on the host, with one wait for all that are on a device."""
        fields: list[tuple[Any, Any]] = [
            (steps, step) for steps in self._kept.values() for step in steps
        ]
        fields += [(load, name) for load in self._loads for name in ("before", "now")]
        sizes = [len(holder[name]) for holder, name in fields]
        flat = [part for holder, name in fields for part in holder[name]]
        parts = iter(bring_over(self.transfer, flat))
        for (holder, name), size in zip(fields, sizes):
            holder[name] = [next(parts) for _ in range(size)]

    def _load(self, load: Facts) -> Facts:
        now = load["now"]
        known = [
            step
            for (model, *_), steps in self._kept.items()
            for step, sketch in steps.items()
            if model == load["model"] and step <= load["step"] and now and _same(sketch, now)
        ]
        return {
            "model": load["model"],
            "step": load["step"],
            "place": load["place"],
            "of": max(known, default=-1),
            "changed": not _same(load["before"], now),
        }


def _same(one: list[Any], other: list[Any]) -> bool:
    """Whether two sketches are of the same numbers."""
    pairs = list(zip(one, other))
    return len(one) == len(other) and all(
        len(left) == len(right) and bool((left == right).all()) for left, right in pairs
    )


def asked_by_program() -> Place | None:
    """The line of the program that calls this function of a library itself; none where the library
    calls it.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and of_probe(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or is_library(frame.f_code.co_filename):
        return None
    return position(frame)
