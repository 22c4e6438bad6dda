"""Ctrl-Z suspends a command with every process that it started; `fg` or `bg` continues all of them.

Programs run in sessions of their own, so the terminal's Ctrl-Z does not reach them: without this a
suspended command would leave its training running. Limits in seconds (--max-time, --training-time)
go on counting.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from reenact.report.terminal_line import hidden_lines
from reenact.sandbox.processes import descendants


@contextmanager
def suspending_together() -> Iterator[None]:
    """While this is open, Ctrl-Z holds for the whole command; only in the main thread."""
    before = signal.getsignal(signal.SIGTSTP)
    if before is signal.SIG_IGN:
        # A shell without job control: no one could continue us.
        yield
        return
    signal.signal(signal.SIGTSTP, _suspend)
    try:
        yield
    finally:
        signal.signal(signal.SIGTSTP, before)


def _suspend(number: int, frame: FrameType | None) -> None:
    del number, frame
    with hidden_lines():
        below = descendants(os.getpid())
        _signal_all(below, signal.SIGSTOP)
        # The usual action of the signal: the shell sees a command that Ctrl-Z stopped.
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        # From here on the command was continued.
        signal.signal(signal.SIGTSTP, _suspend)
        _signal_all(below, signal.SIGCONT)


def _signal_all(processes: list[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
