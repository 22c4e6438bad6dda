"""Waiting for what another process does. The only place where a test compares the clock with
anything.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LONGEST_S = 1200.0
"""So long that only a hang ends it, whatever else the machine does meanwhile."""


def wait_until(condition: Callable[[], object], awaited: str) -> None:
    """Return as soon as the condition holds; `awaited` says in the error what never came."""
    end = time.monotonic() + LONGEST_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"Waited {LONGEST_S:.0f} s for {awaited}.")
        time.sleep(0.05)
