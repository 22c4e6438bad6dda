"""What trainings may cost, as a user writes it, and what they have cost.

`20x`: twenty times the CPU time that one training of the unchanged program takes. `40t`: forty
trainings, however long each takes. `90s`, `5m`, `1h`: wall time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from reenact.errors import InputError

MOST = 1_000_000
"""Of anything a budget counts; more is a slip of the keyboard."""
SECONDS = {
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
SHORT = 1.5
"""CPU seconds below which a training is short: an inexact budget allows more of them."""
CHEAP_SECONDS = 90.0
"""CPU time that an inexact budget of 30 trainings comes to, however short each of them is."""


@dataclass(frozen=True, slots=True)
class TrainingBudget:
    """What a search may spend on trainings: a multiple of one, a number of them, or a time."""

    multiple: float = math.inf
    """Trainings' worth of CPU time: times what one training of the unchanged program takes."""
    trainings: int | None = None
    """Number of trainings, however long each takes."""
    seconds: float | None = None
    """Wall time."""
    exact: bool = True
    """Not a training more, however short they are."""
    note: str = ""
    """What the user should know of the way it was written; empty for nothing."""

    def stretches(self, one_training: float) -> bool:
        """Whether it allows more than it says because one training takes so few CPU seconds."""
        return not self.exact and one_training < SHORT

    def for_trainings_of(self, one_training: float) -> TrainingBudget:
        """The same budget where one training takes so many CPU seconds: short ones are done
        more often.
        """
        if not self.stretches(one_training):
            return self
        stretched = CHEAP_SECONDS * self.multiple / 30 / max(one_training, 0.05)
        return replace(self, multiple=max(self.multiple, stretched))


@dataclass(frozen=True, slots=True)
class TrainingUsage:
    """What was used."""

    seconds: float
    """Wall time of all of it."""
    trainings: int = 0
    """Trainings that count against the budget."""
    cpu_seconds: float = 0.0
    """Of these trainings."""
    one_training: float = 0.0
    """CPU seconds of one training of the unchanged program."""
    verifying: int = 0
    """Trainings that verified without being counted against the budget."""

    @property
    def spent(self) -> float:
        """The CPU time in trainings of the unchanged program."""
        return self.cpu_seconds / max(self.one_training, 1e-3)


def diagnose_budget(text: str) -> TrainingBudget:
    """The budget of interventions. A bare number means trainings, of which short ones are done
    more often.
    """
    return _read(text, "about so many trainings", "t", exact=False)


def repair_budget(text: str) -> TrainingBudget:
    """The budget of a search for repairs. A bare number means a multiple of one training."""
    return _read(text, "so many times the CPU time of one training", "x", exact=True)


def _read(text: str, meaning: str, usual: str, *, exact: bool) -> TrainingBudget:
    """`meaning` and `exact` are those of a bare number, which should have had the unit `usual`."""
    bare = text.strip()
    unit = bare[-1:] if bare[-1:] in ("x", "t", *SECONDS) else ""
    try:
        number = float(bare.removesuffix(unit))
    except ValueError:
        number = 0.0
    if not (1 if unit == "t" else 0) <= number <= MOST or not number:
        raise InputError(
            "A budget is a multiple of one training (20x), a number of trainings (40t) or a time "
            f"(90s, 5m, 1h), up to {MOST}. Received: {text!r}."
        )
    if unit == "t":
        return TrainingBudget(trainings=int(number))
    if unit in SECONDS:
        return TrainingBudget(seconds=number * SECONDS[unit])
    note = (
        f"The budget {bare} has no unit: it was read as {meaning}. The next release will not read "
        f"it; write {bare}{usual}."
    )
    return TrainingBudget(number) if unit else TrainingBudget(number, exact=exact, note=note)
