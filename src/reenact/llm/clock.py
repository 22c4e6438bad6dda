"""Time as this room sees it: a real clock, and its twin for tests."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

from reenact.errors import ended_by
from reenact.types import Stop


class Clock(Protocol):
    """Durations come from `now`, which never jumps; `today` is only for dates that a server names.

    `sleep` raises Stopped when the user asks to stop; `sleep(0)` only looks whether they do.
    """

    def now(self) -> float: ...

    def today(self) -> datetime: ...

    def sleep(self, seconds: float) -> None: ...


class RealClock:
    """The machine's time. Sleep ends with Stopped as soon as the user asks to stop."""

    def __init__(self, stop: Stop | None = None) -> None:
        self._stop = stop or Stop()

    def now(self) -> float:
        return time.monotonic()

    def today(self) -> datetime:
        return datetime.now(UTC)

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

    def today(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self._now)

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept += [seconds] if seconds > 0 else []
            self._now += max(0.0, seconds)
