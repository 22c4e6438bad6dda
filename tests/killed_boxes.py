"""A sandbox whose first boxes are killed from outside, as a machine without memory or a person
would.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import psutil

from reenact.sandbox.box import BoxResult, Command, Limits, OnOutput, Sandbox
from reenact.types import Stop


class KilledFromOutside:
    """Sends SIGKILL to the innermost processes of a box as soon as its program prints something."""

    def __init__(self, within: Sandbox, times: int) -> None:
        self.name = within.name
        self.missing = within.missing
        self.does_not_stop = within.does_not_stop
        self.boxes = 0
        self._within = within
        self._times = times

    def run(
        self,
        command: Command,
        limits: Limits,
        *,
        on_output: OnOutput | None = None,
        stop: Stop | None = None,
    ) -> BoxResult:
        """See `Sandbox.run`."""
        self.boxes += 1
        kills = self.boxes <= self._times

        def listen(part: bytes) -> None:
            if on_output is not None:
                on_output(part)
            if kills:
                kill_innermost()

        return self._within.run(command, limits, on_output=listen, stop=stop)


def kill_innermost() -> None:
    """SIGKILL to every descendant of this process that has no child of its own."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            if not process.children():
                os.kill(process.pid, signal.SIGKILL)
