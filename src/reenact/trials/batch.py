"""One call of an executor's `run` over threads that take trials in order."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol

from reenact.trials.executor import OnOutcome
from reenact.trials.outcome import Outcome
from reenact.trials.trial import Trial
from reenact.types import Stop

LOOK_S = 0.2


class Working(Protocol):
    """What does the work of each thread."""

    workers: int

    def portion(self, trials: int) -> int:
        """How many of so many trials one thread takes at a time."""
        ...

    def attempts(self, trials: Sequence[Trial], stop: Stop) -> Iterator[tuple[int, Outcome]]:
        """What one thread does with its portion: the number of each trial in it, and its outcome."""
        ...


class Batch:
    """One call of `run`: threads that take trials in order, and the caller's thread that hears of them."""

    def __init__(self, pool: Working, trials: Sequence[Trial], stop: Stop | None) -> None:
        self.pool = pool
        self.trials = list(trials)
        self.stop = stop
        self.halt = Stop()
        """Asked for when the caller asks, and when something goes wrong in his thread or ours."""
        self.ended: queue.Queue[tuple[int, Outcome] | BaseException] = queue.Queue()
        self._next = iter(range(len(self.trials)))
        self._lock = threading.Lock()

    def run(self, on: OnOutcome | None) -> list[Outcome]:
        threads = [
            threading.Thread(target=self._work, daemon=True)
            for _ in range(min(self.pool.workers, len(self.trials)))
        ]
        for thread in threads:
            thread.start()
        try:
            return self._hear(on)
        finally:
            self.halt.ask()
            for thread in threads:
                thread.join()

    def _hear(self, on: OnOutcome | None) -> list[Outcome]:
        found: dict[int, Outcome] = {}
        while len(found) < len(self.trials):
            if self.stop is not None and self.stop.asked:
                self.halt.ask()
            try:
                ended = self.ended.get(timeout=LOOK_S)
            except queue.Empty:
                continue
            if isinstance(ended, BaseException):
                raise ended
            number, outcome = ended
            found[number] = outcome
            if on is not None:
                on(self.trials[number], outcome)
        return [found[number] for number in range(len(self.trials))]

    def _work(self) -> None:
        try:
            while numbers := self._take():
                portion = [self.trials[number] for number in numbers]
                for place, outcome in self.pool.attempts(portion, self.halt):
                    self.ended.put((numbers[place], outcome))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            self.ended.put(error)

    def _take(self) -> list[int]:
        with self._lock:
            return list(islice(self._next, self.pool.portion(len(self.trials))))
