"""When to try again, how long to wait, and when to give up; and the clock that all waits use.

Only faults that may pass are tried again. A server's Retry-After is honoured up to a cap; otherwise
waits double, with jitter. All tries after the first fault share one deadline. After many faults in
a row, over all threads that use the model, a breaker keeps everybody from asking until a rest is
over.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from reenact.errors import ModelUnreachable, ended_by
from reenact.llm.ask import Transient
from reenact.types import Progress, Stop, Tell

R = TypeVar("R")
LATER = "Run the same command later: it continues where it stopped."


@dataclass(frozen=True, slots=True)
class Patience:
    """How much trouble to take."""

    tries: int = 6
    """Times one call is sent while its faults may pass."""
    first_wait_s: float = 1.0
    """Wait after the first fault; doubled after each further one."""
    longest_wait_s: float = 60.0
    retry_after_cap_s: float = 120.0
    """Longest wait a server may impose."""
    deadline_s: float = 900.0
    """Seconds after the first fault when trying ends."""
    answer_s: float = 1200.0
    """Longest time one call may take altogether."""
    idle_s: float = 600.0
    """Longest silence of a server within one call. Most are silent while they think."""
    relay_s: float = 3600.0
    """Longest time to wait for anyone who serves a relay folder."""
    bad_answers: int = 3
    """Answers in a row that do not fit the asked-for type before giving up."""
    breaker_faults: int = 12
    """Faults in a row after which no one is asked for a while."""
    breaker_rest_s: float = 60.0

    def wait_s(self, fault: Transient, nth: int, jitter: float) -> float:
        """Seconds to wait after the nth fault; `jitter` is between 0 and 1."""
        if fault.retry_after_s is not None and fault.retry_after_s > 0:
            return min(fault.retry_after_s, self.retry_after_cap_s)
        full: float = min(self.longest_wait_s, self.first_wait_s * 2.0 ** (nth - 1))
        return full * (0.5 + jitter / 2)


@dataclass
class Persistence:
    """Tries a call until it succeeds, fails for good, or patience ends. One per model, shared by
    threads.

    It counts faults in a row over all threads; when there are too many, asking rests for a while.
    """

    _name: str
    _patience: Patience
    _clock: Clock
    _tell: Tell
    _faults: int = 0
    _rests_until: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def call(self, send: Callable[[], R]) -> R:
        """The result of the first try that succeeds. `send` raises Transient for faults that
        may pass.
        """
        first_fault_at = 0.0
        for nth in range(1, self._patience.tries + 1):
            with self._lock:
                left = self._rests_until - self._clock.now()
            if left > 0:
                faults = f"{self._patience.breaker_faults} times in a row"
                why = f"{self._name} failed {faults}, so it is not asked for another {left:.0f} s."
                raise ModelUnreachable(why, next_step=LATER)
            try:
                result = send()
            except Transient as fault:
                with self._lock:
                    self._faults += 1
                    if self._faults >= self._patience.breaker_faults:
                        self._rests_until = self._clock.now() + self._patience.breaker_rest_s
                        # One fault after the rest is enough to rest again; one success forgets all.
                        self._faults = self._patience.breaker_faults - 1
                first_fault_at = first_fault_at if nth > 1 else self._clock.now()
                self._wait_after(fault, nth, first_fault_at)
            else:
                with self._lock:
                    self._faults = 0
                return result
        raise AssertionError("the last fault raises")

    def _wait_after(
        self,
        fault: Transient,
        nth: int,
        first_fault_at: float,
    ) -> None:
        wait = self._patience.wait_s(fault, nth, random.random())  # noqa: S311  jitter needs no cryptography
        late = self._clock.now() + wait - first_fault_at > self._patience.deadline_s
        if nth == self._patience.tries or late:
            ending = "the deadline for trying again has come" if late else f"{nth} tries are enough"
            if fault.retry_after_s is not None:
                ending += f"; it asked to wait {fault.retry_after_s:.0f} s"
            sentence = f"{self._name} could not be reached: {fault.sentence} ({ending})."
            raise ModelUnreachable(sentence, next_step=LATER)
        again = f"{fault.sentence}; again in {wait:.0f} s"
        self._tell(
            Progress(
                self._name,
                nth,
                self._patience.tries,
                again,
            )
        )
        self._clock.sleep(wait)


class Clock(Protocol):
    """Durations come from `now`, which never jumps.

    `sleep` raises Stopped when the user asks to stop; `sleep(0)` only looks whether they do.
    """

    def now(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...


class RealClock:
    """The machine's time. Sleep ends with Stopped as soon as the user asks to stop."""

    def __init__(self, stop: Stop | None = None) -> None:
        self._stop = stop or Stop()

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        if self._stop.wait(max(0.0, seconds)):
            raise ended_by(self._stop, "Stopped while waiting for a model.")


class ManualClock:
    """Time that passes only when someone sleeps. `slept` keeps every wait."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._now = 0.0
        self._lock = threading.Lock()

    def now(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        with self._lock:
            if seconds > 0:
                self.slept.append(seconds)
            self._now += max(0.0, seconds)
