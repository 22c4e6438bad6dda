"""Facts of the machine and the clock. The order of things never depends on them; tests give their own."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Host:
    """Who executes a run."""

    host: str
    """Hash of the machine's name: tells machines apart and names none."""
    boot: str
    """Changes with every start of the machine."""
    pid: int
    python: str


class Clock(Protocol):
    """Wall time to show, monotonic time to measure."""

    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def this_host() -> Host:
    """The machine and process we run in."""
    name = hashlib.blake2b(platform.node().encode(), digest_size=6).hexdigest()
    return Host(host=name, boot=_boot(), pid=os.getpid(), python=platform.python_version())


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"
