"""How deep to look, and what that may cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from reenact.errors import InputError


class Depth(StrEnum):
    """How deep to look."""

    STATIC = "static"
    """Read only; nothing runs."""
    QUICK = "quick"
    """One watched run and the small experiments."""
    NORMAL = "normal"
    """The strongest suspects are changed and trained, within a budget."""
    DEEP = "deep"
    """More suspects, more seeds, a larger budget."""

    @property
    def runs(self) -> bool:
        return self is not Depth.STATIC

    @property
    def intervenes(self) -> bool:
        return self in (Depth.NORMAL, Depth.DEEP)


@dataclass(frozen=True, slots=True)
class Spending:
    """What interventions may cost."""

    trainings: float
    """Budget, in trainings of the program as it stands (by their CPU time)."""
    screened: int
    """Most suspects that are changed one by one."""
    seeds: int
    """Seeds that judge the final change; none of them was used to choose it."""
    seconds: float | None = None
    """Budget in seconds of wall time, when the user gave one."""
    screening_seeds: int = 1
    """Seeds that choose; their middle value counts."""
    trials: int | None = None
    """Budget as a number of trainings, however long each takes."""
    exact: bool = False
    """Not a training more, however short they are."""

    def for_trainings_of(self, seconds: float) -> Spending:
        """The same budget where one training takes so long: short ones are tried more often and more ways."""
        if seconds >= SHORT or self.exact or self.seconds is not None:
            return self
        trainings = max(self.trainings, CHEAP_SECONDS * self.trainings / 30 / max(seconds, 0.05))
        return replace(self, trainings=trainings, screened=2 * self.screened, screening_seeds=3)


SHORT = 1.5
"""Seconds below which a training is so short that three seeds choose instead of one."""
CHEAP_SECONDS = 90.0
"""CPU time that a diagnosis of normal depth may take however short the training is."""
MOST = 1_000_000
"""Of anything a budget counts; more is a slip of the keyboard."""
SPENDING = {Depth.NORMAL: Spending(30, 7, 6), Depth.DEEP: Spending(90, 16, 10)}


def spending(depth: Depth, budget: str | None) -> Spending:
    """What a depth may cost; `budget` is a number of trainings (`40`) or a time (`90s`, `5m`)."""
    usual = SPENDING.get(depth, SPENDING[Depth.NORMAL])
    if not budget:
        return usual
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    text, unit = (budget[:-1], units.get(budget[-1])) if budget[-1] in units else (budget, None)
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0 < amount <= MOST:
        raise InputError(
            f"A budget is a number of trainings (40) or a time (90s, 5m, 1h), up to {MOST}."
            f" Received: {budget!r}."
        )
    if unit is None:
        return Spending(amount, usual.screened, usual.seeds)
    return Spending(float("inf"), usual.screened, usual.seeds, seconds=amount * unit)
