"""A terminal of its own for a watched program, where ours is one and a line of ours is shown on it.

The program's output is read from a pseudo-terminal and handed to the screen byte by byte, so that
the screen can take its line away before. A stream that goes elsewhere (a pipe, a file, another
terminal) stays the very file descriptor: stdout and stderr stay apart. The program's terminal has
the size of ours, one row less for the line; a change of size is passed on. Where our stdin is that
terminal too, the program reads its own one: keys are handed to it as they are typed, and it echoes
them where the program writes.
"""

import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Protocol, Self

from reenact.host_program import Stream
from reenact.probe.answers import NO_KEYBOARD, Answers

STDIN = 0
LOOK_S = 0.25
"""How often the size of our terminal is looked at."""
MOST_BYTES = 1 << 16
LAST_WORDS_S = 1.0
"""How long a process that outlives the program may go on writing before its terminal is closed."""


class Screen(Protocol):
    """What shows a line on a terminal and passes on what others write to it."""

    @property
    def fd(self) -> int: ...

    @property
    def has_keyboard(self) -> bool: ...

    def pass_on(self, data: bytes) -> None: ...

    def send_keys_to(
        self,
        program: Callable[[bytes], None] | None,
    ) -> None: ...


class ProgramTerminal:
    """The pseudo-terminal of one program; without a stream on the terminal of a screen it does
    nothing.
    """

    def __init__(
        self,
        screen: Screen | None,
        stdout: Stream,
        stderr: Stream,
        stdin: Stream = NO_KEYBOARD,
        answers: Answers | None = None,
    ) -> None:
        self.stdin = stdin
        """What the program gets as its stdin."""
        self.stdout = stdout
        """What the program gets as its stdout."""
        self.stderr = stderr
        self._screen = screen
        self._answers = answers
        """Who hears what is typed."""
        self._has_keys = False
        self._ours: int | None = None
        self._theirs: int | None = None
        self._size: tuple[int, int] | None = None
        self._group: int | None = None
        self._ended = threading.Event()
        self._reader: threading.Thread | None = None
        if screen is None:
            return
        stdout_there = _on_terminal(stdout, 1, screen.fd)
        stderr_there = _on_terminal(stderr, 2, screen.fd)
        if not (stdout_there or stderr_there):
            return
        self._ours, self._theirs = os.openpty()
        os.set_blocking(self._ours, False)
        self._has_keys = screen.has_keyboard and _on_terminal(stdin, 0, screen.fd)
        if self._has_keys:
            self.stdin = self._theirs
        _set_plain(self._theirs, has_keys=self._has_keys)
        self._pass_size_on()
        if stdout_there:
            self.stdout = self._theirs
        if stderr_there:
            self.stderr = self._theirs

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def started(self, child: subprocess.Popen[bytes]) -> None:
        """The program runs: pass on what it writes."""
        if self._theirs is None:
            return
        os.close(self._theirs)
        self._theirs = None
        self._group = child.pid
        self._reader = threading.Thread(
            target=self._read,
            name="reenact-terminal",
            daemon=True,
        )
        self._reader.start()
        if self._has_keys and self._screen is not None:
            self._screen.send_keys_to(self._type)

    def close(self) -> None:
        """The program has ended: pass on the rest of what it wrote."""
        self._ended.set()
        if self._reader is not None and self._has_keys and self._screen is not None:
            self._screen.send_keys_to(None)
        if self._reader is not None:
            self._reader.join()
        for end in (self._ours, self._theirs):
            if end is not None:
                os.close(end)
        self._ours = self._theirs = None

    def _type(self, keys: bytes) -> None:
        """Hand keys to the program; what it does not read in time is lost, as on any terminal."""
        assert self._ours is not None
        with suppress(OSError):
            os.write(self._ours, keys)
        if self._answers is not None:
            self._answers.note_keys(keys)

    def _read(self) -> None:
        """Until the program and all that it started closed the terminal, or it ended and is
        silent.
        """
        assert self._ours is not None
        assert self._screen is not None
        until: float | None = None
        while True:
            over = self._ended.is_set()
            if over and until is None:
                until = time.monotonic() + LAST_WORDS_S
            readable, _, _ = select.select(
                [self._ours],
                [],
                [],
                0 if over else LOOK_S,
            )
            if not readable and over:
                return
            if until is not None and time.monotonic() > until:
                return
            self._pass_size_on()
            if not readable:
                continue
            try:
                data = os.read(self._ours, MOST_BYTES)
            except BlockingIOError:
                continue
            except OSError:
                # Linux reports the end of a terminal as an input/output error.
                return
            if not data:
                return
            self._screen.pass_on(data)

    def _pass_size_on(self) -> None:
        """Give the program's terminal the size of ours, less the row of the line; signal a
        change.
        """
        assert self._ours is not None
        assert self._screen is not None
        with suppress(OSError):
            columns, rows = os.get_terminal_size(self._screen.fd)
            size = (
                columns,
                max(1, rows - 1) if rows else 0,
            )
            if size == self._size:
                return
            fcntl.ioctl(
                self._ours,
                termios.TIOCSWINSZ,
                struct.pack(
                    "HHHH",
                    size[1],
                    size[0],
                    0,
                    0,
                ),
            )
            changed = self._size is not None
            self._size = size
            if changed and self._group is not None:
                # The terminal is not the controlling one of the program: the system does not do
                # this.
                with suppress(ProcessLookupError):
                    os.killpg(self._group, signal.SIGWINCH)


def _on_terminal(stream: Stream, default: int, terminal: int) -> bool:
    """Whether a stream of the program goes to this terminal."""
    if stream is None:
        number = default
    elif isinstance(stream, int):
        number = stream
    else:
        number = stream.fileno()
    if number < 0 or not os.isatty(number):
        return False
    return os.fstat(number).st_rdev == os.fstat(terminal).st_rdev


def _set_plain(end: int, *, has_keys: bool) -> None:
    """Pass output through unchanged: the line ends become those of a terminal in our own one, not
    twice. Keys are echoed and corrected as our own terminal usually does.
    """
    attributes = termios.tcgetattr(end)
    attributes[1] &= ~termios.OPOST
    if has_keys:
        attributes[6] = termios.tcgetattr(STDIN)[6]
    else:
        attributes[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(end, termios.TCSANOW, attributes)
