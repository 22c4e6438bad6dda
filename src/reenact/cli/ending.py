"""Ctrl-C and SIGTERM end a command, whatever it is doing, and every process that it started.

The first signal asks for a gentle end where a command offers one, else it interrupts at once. What
has not ended GENTLE_S later is interrupted, and what has not ended LAST_S later is ended by force:
a journal stands a sudden end at any moment. A second signal does not wait.

Where a command judges, the first Ctrl-C is the end of its time: it judges what was seen. The second
is then the first of the signals above.

`--max-time` holds the same way: what takes long looks at its Stop, and what has not ended LATE_S
after that time (a server that does not answer, a reader that is stuck) is interrupted, and LAST_S
later ended by force.

Not covered: machine code that never returns to Python holds the interpreter, and with it this
file's threads, until it returns.
"""

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import NoReturn

from reenact.errors import TimeSpent, ended_by
from reenact.report.terminal_line import give_keyboards_back
from reenact.sandbox.processes import end_below
from reenact.types import ExitCode, Stop

GENTLE_S = 6.0
LAST_S = 8.5
AT_ONCE_S = 1.0
LATE_S = 30.0
"""How long judging and showing what was seen may take once the time of the command is up."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Ending:
    """How this process ends; it does nothing until the process is ours."""

    def __init__(self) -> None:
        self.ours = False
        """Whether the process does nothing but this command: only then may it be ended by force."""
        self.children_go_on = False
        """Whether commands that were started for the user outlive this process."""
        self.began: float | None = None
        """When the process became ours: what is loaded and read before the work is time of it
        too.
        """
        self.late_s = LATE_S
        self.overdue: Stop | None = None
        """Whose time was up long ago."""
        self._signals = 0
        self._last = 0.0
        self._over = False

    def own(self) -> None:
        """From now on a signal ends this process in time."""
        self.ours, self.began = True, time.monotonic()
        for number in SIGNALS:
            signal.signal(number, self._interrupt)

    @property
    def signalled(self) -> bool:
        """Whether a signal asked for the end."""
        return self._signals > 0

    def count_signal(self) -> None:
        """Count the time from the first signal, hurry at the second."""
        self._signals += 1
        now = time.monotonic()
        if self._signals > 1:
            self._last = min(self._last, now + AT_ONCE_S)
            return
        self._last = now + LAST_S
        if self.ours:
            threading.Thread(target=self._count, name="reenact-ending", daemon=True).start()

    def bound(self, stop: Stop, ended: threading.Event) -> None:
        """Interrupt what is still going on long after the time of the command, unless it ended
        before.
        """
        if self.ours and stop.remaining() is not None:
            threading.Thread(
                target=self._until, args=(stop, ended), name="reenact-time", daemon=True
            ).start()

    def too_late(self) -> TimeSpent | None:
        """The error to raise in place of an interrupt, if it is the clock that interrupts."""
        if self.overdue is None:
            return None
        error = ended_by(self.overdue, "What was going on did not end in time.")
        return error if isinstance(error, TimeSpent) else None

    def finish(self, code: int) -> int:
        """The exit code; a process that was stopped leaves no child behind."""
        self._over = True
        if code == ExitCode.STOPPED and not self.children_go_on:
            end_below(os.getpid())
        return code

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._over:
            return
        if late := self.too_late():
            raise late
        self.count_signal()
        raise KeyboardInterrupt

    def _count(self) -> None:
        interrupt = time.monotonic() + GENTLE_S
        while (now := time.monotonic()) < self._last:
            if now >= interrupt and not self._over:
                interrupt = self._last
                # Also wakes a main thread that waits in a system call.
                signal.pthread_kill(
                    threading.main_thread().ident or 0,
                    signal.SIGINT,
                )
            time.sleep(0.1)
        self._by_force()

    def _until(self, stop: Stop, ended: threading.Event) -> None:
        if ended.wait(max(0.0, stop.remaining() or 0.0) + self.late_s) or stop.by_user:
            return
        self.overdue = stop
        signal.pthread_kill(
            threading.main_thread().ident or 0,
            signal.SIGINT,
        )
        if not ended.wait(LAST_S) and not self._over:
            self._by_force(ExitCode.INCONCLUSIVE)

    def _by_force(self, code: ExitCode = ExitCode.STOPPED) -> NoReturn:
        give_keyboards_back()
        if not self.children_go_on:
            end_below(os.getpid())
        if not self._over:
            os.write(
                2,
                (
                    b"reenact: Stopped by force. Nothing recorded is lost: the same command "
                    b"continues.\n"
                ),
            )
        os._exit(code)


ENDING = Ending()
"""Of this process."""


def run_owned() -> NoReturn:
    """Run the command line in a process of its own, to its end."""
    try:
        ENDING.own()
        from reenact.cli.edge import guarded
        from reenact.cli.main import reenact

        code = guarded(reenact)
    except KeyboardInterrupt:
        code = ExitCode.STOPPED
    sys.exit(ENDING.finish(int(code)))
