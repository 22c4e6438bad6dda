"""Schedules of learning rates: for how many steps each is planned, and how often it was stepped."""

from __future__ import annotations

import weakref
from typing import Any

from reenact_probe.guard import guarded, when_made
from reenact_probe.places import caller
from reenact_probe.types import Facts, Library

MOST = 16
_PLANS = {
    "CosineAnnealingLR": "T_max",
    "OneCycleLR": "total_steps",
    "PolynomialLR": "total_iters",
    "LinearLR": "total_iters",
}
"""By class: what it calls the length that it is planned for."""


class Schedules:
    """Those of torch that have a planned length, in the order in which they are made."""

    def __init__(self, torch: Library) -> None:
        self._refs: list[Any] = []
        self._facts: list[Facts] = []
        module = torch.optim.lr_scheduler
        base = getattr(module, "LRScheduler", None) or module._LRScheduler
        when_made(base, guarded("schedule")(self._made))

    def _made(self, schedule: Any) -> None:
        if len(self._refs) >= MOST:
            return
        planned = _planned(schedule)
        if planned is not None:
            self._refs.append(weakref.ref(schedule))
            kind = type(schedule).__name__
            self._facts.append({"kind": kind, **planned, "stepped": 0, "place": caller()})

    def read(self) -> list[Facts]:
        """What is known of each by now; of one that is gone, what was known when it was read last."""
        for ref, facts in zip(self._refs, self._facts):
            schedule = ref()
            if schedule is not None:
                facts["stepped"] = int(schedule.last_epoch)
        return self._facts


def _planned(schedule: Any) -> Facts | None:
    """Its length and whether it ends near 0; none for a schedule without a length."""
    kind = next((one.__name__ for one in type(schedule).__mro__ if one.__name__ in _PLANS), "")
    if kind:
        length = getattr(schedule, _PLANS[kind], None)
        first, last = (getattr(schedule, name, 1.0) for name in ("start_factor", "end_factor"))
        falls = kind != "LinearLR" or last < 0.1 * first
        return _facts(length, falls, wraps=kind == "CosineAnnealingLR")
    milestones = getattr(schedule, "milestones", None)
    if type(schedule).__name__ == "MultiStepLR" and milestones:
        gamma = float(getattr(schedule, "gamma", 1.0)) ** len(milestones)
        return _facts(max(milestones), gamma < 0.1)
    # Those of transformers are functions of which the length is an argument.
    functions = getattr(schedule, "lr_lambdas", None) or [None]
    named = getattr(functions[0], "keywords", None) or {}
    if named:
        return _facts(named.get("num_training_steps"), True)
    return None


def _facts(length: Any, falls: bool, wraps: bool = False) -> Facts | None:
    if not isinstance(length, int) or length <= 0:
        return None
    return {"planned": length, "falls": bool(falls), "wraps": wraps}
