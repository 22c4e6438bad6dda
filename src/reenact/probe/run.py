"""Runs a user's own program under the probe: in their interpreter, folder and network, as they run it
themselves.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from reenact.probe import injected
from reenact.probe.options import WatchOptions
from reenact.types import Stop

POLL_S = 0.1
GRACE_S = 5.0


class Screen(Protocol):
    """A terminal that shows the program's output and, under it, how far it is."""

    def child_end(self) -> int:
        """File descriptor that the program writes to."""
        ...

    def pump(self, seconds: float) -> None:
        """Pass on what the program printed; return after about `seconds`."""
        ...


@dataclass(frozen=True, slots=True)
class Ended:
    """How the process ended."""

    exit_code: int
    """Negative for a signal."""
    seconds: float
    timed_out: bool = False
    interrupted: bool = False


def run(
    command: Sequence[str],
    working: Path,
    options: WatchOptions,
    *,
    stdout: int | IO[bytes] | None = None,
    screen: Screen | None = None,
    stop: Stop | None = None,
    on_poll: Callable[[], None] | None = None,
) -> Ended:
    """Start the command under the probe and wait for it. Raises OSError when it cannot be started."""
    child = subprocess.Popen(  # noqa: S603 - the user's own program
        list(command),
        cwd=working,
        env=injected.environment(options, os.environ),
        stdin=subprocess.DEVNULL,
        stdout=screen.child_end() if screen else stdout,
        stderr=screen.child_end() if screen else None,
        start_new_session=True,
    )
    began = time.monotonic()
    try:
        timed_out, interrupted = _wait(child, began, options.max_time, screen, stop, on_poll)
    except BaseException:
        _end(child, signal.SIGINT)
        raise
    if timed_out or interrupted:
        _end(child, signal.SIGTERM if timed_out else signal.SIGINT)
    if screen:
        screen.pump(0)
    return Ended(child.returncode, time.monotonic() - began, timed_out, interrupted)


def _wait(
    child: subprocess.Popen[bytes],
    began: float,
    max_time: float | None,
    screen: Screen | None,
    stop: Stop | None,
    on_poll: Callable[[], None] | None,
) -> tuple[bool, bool]:
    while child.poll() is None:
        if max_time is not None and time.monotonic() - began > max_time:
            return True, False
        if stop is not None and stop.asked:
            return False, True
        if on_poll:
            on_poll()
        if screen:
            screen.pump(POLL_S)
        else:
            _pause(child)
    return False, False


def _pause(child: subprocess.Popen[bytes]) -> None:
    try:
        child.wait(POLL_S)
    except subprocess.TimeoutExpired:
        return


def _end(child: subprocess.Popen[bytes], how: signal.Signals) -> None:
    """Ask the whole group to end, then end it."""
    for number in (how, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            break
        try:
            child.wait(GRACE_S)
            break
        except subprocess.TimeoutExpired:
            continue
    child.wait()


def default_python(chosen: str = "") -> str:
    """The interpreter to use: the chosen one, the active virtual environment's, or our own."""
    if chosen:
        return chosen
    active = os.environ.get("VIRTUAL_ENV")
    if active and (Path(active) / "bin" / "python").is_file():
        return str(Path(active) / "bin" / "python")
    return sys.executable
