"""One event loop in one background thread, started on first use, for all provider calls of the process.

pydantic-ai is asynchronous and its HTTP connections belong to the loop that opened them; our callers are
plain functions in any thread, perhaps inside a notebook's own loop. So all of it runs over there.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from reenact.errors import ended_by
from reenact.types import Stop

R = TypeVar("R")
LOOK_S = 0.2
"""How often a waiting caller looks whether the user asked to stop."""

_lock = threading.Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}
"""By process id: a forked child inherits the loop but not the thread that runs it."""


def run(work: Coroutine[Any, Any, R], stop: Stop) -> R:
    """Run the coroutine over there and wait for it; cancel it when the user stops or interrupts."""
    future = asyncio.run_coroutine_threadsafe(work, _running_loop())
    try:
        while not stop.asked:
            done, _ = concurrent.futures.wait([future], timeout=LOOK_S)
            if done:
                return future.result()
    finally:
        future.cancel()
    raise ended_by(stop, "Stopped while waiting for a model.")


def _running_loop() -> asyncio.AbstractEventLoop:
    with _lock:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="reenact-models", daemon=True).start()
        return loop
