"""The keyboard of our terminal while a line of ours is shown on it.

The system would echo what is typed past us: Enter moves the cursor without our knowing, which tears
the line. So the echo is off meanwhile. What is typed goes to the program that runs, whose own
terminal echoes it where the program writes; while none runs it stays for the shell. Ctrl-C, Ctrl-Z
and Ctrl-\\ stay signals to us.

Not covered: a command that is killed with SIGKILL leaves the terminal without an echo (`stty
sane`).
"""

import os
import select
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

STDIN = 0
LOOK_S = 0.25
"""How often it is looked at whether somebody still wants the keys."""
MOST_BYTES = 4096
_INPUT = 0
_LOCAL = 3
_CHARACTERS = 6
"""Places in the attributes of a terminal (termios)."""


class Keyboard:
    """Silent while it is taken; the attributes that it had before are put back."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        # Ctrl-Z may come while its own thread changes something here.
        self._lock = threading.RLock()
        self._before: list[Any] | None = None
        """The attributes to put back; none while it is not taken."""
        self._read_on: threading.Event | None = None
        """Set when anyone who reads shall end; none while no one reads."""
        self._reader: threading.Thread | None = None

    @classmethod
    def on_terminal(cls, terminal: int) -> Self | None:
        """Our stdin, where it is this terminal."""
        with suppress(OSError):
            if os.isatty(STDIN) and os.fstat(STDIN).st_rdev == os.fstat(terminal).st_rdev:
                return cls(STDIN)
        return None

    def take(self) -> None:
        """No echo from now on; nothing happens in the background, where the terminal is
        another's.
        """
        with self._lock:
            if self._before is not None or not self._in_front():
                return
            with suppress(termios.error):
                self._before = termios.tcgetattr(self._fd)
                self._set_silent()

    def give_back(self) -> None:
        """As it was before."""
        with self._lock:
            before = self._before
            self._before = None
            if before is not None and self._in_front():
                with suppress(termios.error):
                    termios.tcsetattr(self._fd, termios.TCSANOW, before)

    def send_to(
        self,
        program: Callable[[bytes], None] | None,
    ) -> None:
        """Hand every key on, as it is typed; none: leave them to the shell."""
        self._end_reader()
        with self._lock:
            if program is not None:
                self._read_on = threading.Event()
                self._reader = threading.Thread(
                    target=self._read,
                    args=(program, self._read_on),
                    name="reenact-keyboard",
                    daemon=True,
                )
                self._reader.start()
            if self._before is not None and self._in_front():
                with suppress(termios.error):
                    self._set_silent()

    def _end_reader(self) -> None:
        if self._read_on is not None and self._reader is not None:
            self._read_on.set()
            self._reader.join()
        self._read_on = self._reader = None

    def _set_silent(self) -> None:
        assert self._before is not None
        silent = [
            *self._before[:_CHARACTERS],
            [*self._before[_CHARACTERS]],
        ]
        silent[_LOCAL] &= ~termios.ECHO
        if self._reader is not None:
            # Lines are made, corrected and echoed by the program's own terminal.
            silent[_LOCAL] &= ~(termios.ICANON | termios.IEXTEN)
            silent[_INPUT] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR)
            silent[_CHARACTERS][termios.VMIN] = 1
            silent[_CHARACTERS][termios.VTIME] = 0
        termios.tcsetattr(self._fd, termios.TCSANOW, silent)

    def _read(
        self,
        program: Callable[[bytes], None],
        over: threading.Event,
    ) -> None:
        while not over.is_set():
            if self._before is None or not self._in_front():
                over.wait(LOOK_S)
                continue
            readable, _, _ = select.select(
                [self._fd],
                [],
                [],
                LOOK_S,
            )
            if not readable or over.is_set():
                continue
            try:
                typed = os.read(self._fd, MOST_BYTES)
            except OSError:
                # The terminal is gone.
                return
            if not typed:
                return
            program(typed)

    def _in_front(self) -> bool:
        """Whether we are what the terminal's keys are for."""
        try:
            return os.tcgetpgrp(self._fd) == os.getpgrp()
        except OSError:
            return False
