"""Graphics cards of this machine, and which trainings run on them side by side.

The first training of a program has a card for itself; what it took there is written down
(`inject/reenact_trials_cards.py`) and says how many more fit next to each other. One that runs out
of memory next to others is done again with more space, at last alone: only what fails alone has
failed. A program that touches no card is not held up. Nothing here starts CUDA: that would spoil
the forks.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from reenact.program.program import Program
from reenact.trials.folder import injected
from reenact.trials.trial import Outcome, Trial
from reenact.types import Stop

CONTEXT = 600 << 20
"""Bytes that a process takes on a card next to its tensors."""
SPARE = 1.15
"""Times what one was seen to take: changed programs take a little more."""
SHARE = 0.9
"""Of the free memory of a card that is given away."""
LOOK_S = 0.1
VISIBLE = "CUDA_VISIBLE_DEVICES"
_OUT_OF_MEMORY = re.compile(
    r"OutOfMemoryError|CUDA out of memory|CUDNN_STATUS_ALLOC_FAILED|CUBLAS_STATUS_ALLOC_FAILED"
)
_CUDA = re.compile(
    r"\bcuda\b|accelerator\s*=\s*['\"](?:gpu|cuda|auto)|\bMirroredStrategy\b|"
    r"^\s*(?:import|from)\s+(?:keras|tensorflow|lightning|pytorch_lightning|transformers)\b",
    re.IGNORECASE | re.MULTILINE,
)
_SEVERAL = re.compile(
    r"DataParallel|device_count\(|\bMirroredStrategy\b|\bdevices\s*=|init_process_group"
)


@dataclass(frozen=True, slots=True)
class Card:
    """A card as CUDA_VISIBLE_DEVICES names it."""

    name: str
    free: int
    """Bytes that no one used when it was looked at."""


def cards_here() -> tuple[Card, ...]:
    """The cards that this process may use; none without a driver."""
    found = injected("reenact_trials_cards").look(os.environ.get(VISIBLE))
    return tuple(Card(name, free) for name, free in found)


def may_use_cuda(program: Program) -> bool:
    """Whether its text asks for a card, or for a framework that takes one by itself."""
    return any(_CUDA.search(file.text) for file in program.files)


def uses_several(program: Program) -> bool:
    """Whether it spreads one training over all cards that it sees."""
    return bool(program.launch.launcher) or any(
        _SEVERAL.search(file.text) for file in program.files
    )


def out_of_memory(outcome: Outcome) -> bool:
    """Whether a training ended because its card was full."""
    crash = outcome.crash
    return crash is not None and bool(_OUT_OF_MEMORY.search(f"{crash.type}: {crash.message}"))


@dataclass(eq=False)
class Seat:
    """A training's place on a card."""

    card: Card
    takes: int
    alone: bool


@dataclass
class Packing:
    """Seats on the cards. Used by many threads."""

    cards: Sequence[Card]
    _taken: list[Seat] = field(default_factory=list)
    _needs: dict[str, int] = field(default_factory=dict)
    """By program: bytes of one training, 0 where it touches no card."""
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def fits(self, trial: Trial) -> int | None:
        """How many such trainings fit side by side; none where that is not known yet."""
        needs = self._needs.get(_key(trial))
        if not needs:
            return None
        return sum(max(1, int(SHARE * card.free) // needs) for card in self.cards)

    @contextmanager
    def seat(
        self,
        trial: Trial,
        stop: Stop,
        *,
        tries: int = 0,
    ) -> Iterator[Seat | None]:
        """Waits for space. None where no card is needed, and after a stop. `tries`: how often it
        has run out of memory; from the second time on it has a card for itself.
        """
        taken = self._wait(trial, stop, alone=tries > 1)
        try:
            yield taken
        finally:
            with self._changed:
                if taken is not None:
                    self._taken.remove(taken)
                self._changed.notify_all()

    def _wait(self, trial: Trial, stop: Stop, *, alone: bool) -> Seat | None:
        with self._changed:
            several = bool(self.cards) and uses_several(trial.program)
            while self.cards and not stop.asked:
                needs = self._needs.get(_key(trial))
                if needs == 0:
                    return None
                if found := self._free(
                    None if alone or several else needs,
                    several=several,
                ):
                    self._taken.append(found)
                    return found
                self._changed.wait(LOOK_S)
        return None

    def _free(self, needs: int | None, *, several: bool) -> Seat | None:
        """A seat on the emptiest card with space; without a number of bytes on one where no one
        sits, and on all of them where no one sits on any.
        """
        if several:
            first = self.cards[0]
            return (
                None
                if self._taken
                else Seat(
                    replace(first, name=""),
                    first.free,
                    alone=True,
                )
            )
        for card in sorted(self.cards, key=self._used):
            here = [seat for seat in self._taken if seat.card is card or not seat.card.name]
            if not here:
                return Seat(
                    card,
                    needs or card.free,
                    alone=needs is None,
                )
            full = any(seat.alone for seat in here)
            if needs is not None and not full and self._used(card) + needs <= SHARE * card.free:
                return Seat(card, needs, alone=False)
        return None

    def _used(self, card: Card) -> int:
        return sum(seat.takes for seat in self._taken if seat.card is card)

    def learn(self, trial: Trial, outcome: Outcome, seat: Seat | None) -> bool:
        """Remember what a training took. True when it must be done again: it ran out of memory
        next to others.
        """
        if seat is None:
            return False
        with self._changed:
            key = _key(trial)
            if out_of_memory(outcome) and not seat.alone:
                self._needs[key] = min(seat.card.free, 2 * max(seat.takes, self._needs.get(key, 0)))
                return True
            if outcome.card_bytes is not None:
                seen = int(SPARE * (outcome.card_bytes + CONTEXT)) if outcome.card_bytes else 0
                self._needs[key] = max(seen, self._needs.get(key, 0))
        return False


def _key(trial: Trial) -> str:
    """Trainings of one program take about as much, whatever was changed in it."""
    return f"{trial.program.folder}/{trial.program.entry} {trial.program.arguments}"
