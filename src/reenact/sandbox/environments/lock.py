"""One process at a time may build one environment; the kernel frees the lock of a process that dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reenact.errors import ended_by
from reenact.types import Progress, Stop, Tell


@contextmanager
def locked(path: Path, tell: Tell, stop: Stop | None) -> Iterator[None]:
    """Hold the lock of a file that stays; wait for whoever has it, and say so."""
    waiter = stop or Stop()
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        told = False
        while not _taken(lock):
            if not told:
                tell(Progress("environment", note="another process builds the same environment; waiting"))
                told = True
            if waiter.wait(0.2):
                raise ended_by(stop, "Preparing the environment was stopped.")
        yield
    finally:
        os.close(lock)


def _taken(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
