"""Runs a user's own program under the probe: in their interpreter, folder and network, as they run it
themselves.
"""

from __future__ import annotations

import ctypes
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
from reenact.sandbox.watch.ending import end_all, processes_below
from reenact.types import Stop

POLL_S = 0.1
GRACE_S = 4.0
"""What a program gets to end by itself: less than a waiting user gives us."""
_SET_PARENT_DEATH_SIGNAL = 1
"""Option of prctl(2)."""


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
        # What runs beside the watched run says nothing that the watched run does not say.
        stderr=screen.child_end() if screen else subprocess.DEVNULL if options.experiments else None,
        start_new_session=True,
        preexec_fn=_dies_with_us(),
    )
    began = time.monotonic()
    try:
        timed_out, interrupted = _wait(child, began, options.max_time, screen, stop, on_poll)
    except BaseException:
        _end(child, signal.SIGTERM)
        raise
    if timed_out or interrupted:
        _end(child, signal.SIGINT if interrupted and options.interrupts else signal.SIGTERM)
    if screen:
        screen.pump(0)
    return Ended(child.returncode, time.monotonic() - began, timed_out, interrupted)


def _dies_with_us() -> Callable[[], None] | None:
    """What makes the program end when we are killed and cannot end it ourselves; Linux only.

    The signal comes when the thread that started the program is gone: that is the one that waits for it here.
    """
    if not sys.platform.startswith("linux"):
        return None
    # Loaded before the fork: the child of a process with threads should do as little as it can.
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def die_with_parent() -> None:
        prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return die_with_parent


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
            return not stop.by_user, stop.by_user
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
    """Ask the whole group to end, then end it, with whatever it started in groups of its own."""
    below = processes_below(child.pid)
    _signal_group(child.pid, how)
    try:
        child.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        below += processes_below(child.pid)
    finally:
        # The program itself may have gone while a process of its ignores the signal.
        _signal_group(child.pid, signal.SIGKILL)
        end_all(below)
        child.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return


def default_python(chosen: str = "") -> str:
    """The interpreter to use: the chosen one, the active virtual environment's, or our own."""
    if chosen:
        return chosen
    active = os.environ.get("VIRTUAL_ENV")
    if active and (Path(active) / "bin" / "python").is_file():
        return str(Path(active) / "bin" / "python")
    return sys.executable
