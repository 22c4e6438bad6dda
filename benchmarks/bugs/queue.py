"""A sandbox whose boxes wait for a core: many cases may wait for their model, few may run at once.

Limits count wall time, so a crowd of boxes would end runs that are well by themselves.
"""

from __future__ import annotations

import os
from threading import Semaphore

from reenact.sandbox.box import BoxResult, Command, Limits, OnOutput, Sandbox
from reenact.types import Stop


class Queued:
    """Another sandbox, as many boxes at a time as there are cores."""

    def __init__(self, sandbox: Sandbox, places: int | None = None) -> None:
        self.name = sandbox.name
        self._sandbox = sandbox
        self._places = Semaphore(places or os.cpu_count() or 1)

    def run(
        self,
        command: Command,
        limits: Limits,
        *,
        on_output: OnOutput | None = None,
        stop: Stop | None = None,
    ) -> BoxResult:
        with self._places:
            return self._sandbox.run(command, limits, on_output=on_output, stop=stop)

    def missing(self) -> str:
        return self._sandbox.missing()

    def does_not_stop(self) -> tuple[str, ...]:
        return self._sandbox.does_not_stop()
