"""One line of ours on a terminal, below what a program writes there.

Every byte for that terminal comes through here while the line is shown: it is erased, the program's
bytes are written as they are, and it is drawn again. It is drawn on a row that the program does not
use, and the cursor goes back to where the program left it, with its colours: a carriage return, a
bar without an end of line or a live display finds everything as it was.

Not covered: a process that writes to the terminal past us, such as one that was started before, or
`wall`.
"""

import io
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from reenact.report.cursor import Cursor
from reenact.report.keyboard import Keyboard

TICK_S = 0.25
"""How often the line is brought up to date while no one writes."""
PAUSE_S = 0.05
"""Least time between two drawings while the program writes."""
_SAVE = b"\x1b7"
_RESTORE = b"\x1b8"
_ERASE_BELOW = b"\x1b[0m\x1b[J"


class TerminalLine:
    """A line below the output of a program, on the terminal of this file descriptor."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        # A signal may come while its own thread draws: what it says waits until that is done.
        self._lock = threading.RLock()
        self._drawing_now = False
        self._late: list[str] = []
        self._cursor = Cursor()
        self._text: Callable[[int], str] | None = None
        self._drawn: str | None = None
        """The text on the screen; none while it is erased."""
        self._distance = 0
        """Rows from the cursor down to the line."""
        self._last_draw = 0.0
        self._keyboard = Keyboard.on_terminal(fd)
        if self._keyboard is not None:
            self._keyboard.take()
        self._ended = threading.Event()
        self._ticker = threading.Thread(
            target=self._tick,
            name="reenact-line",
            daemon=True,
        )
        self._ticker.start()

    def show(self, text: Callable[[int], str]) -> None:
        """From now on show this; the function gets the number of columns and is called again
        and again.
        """
        with self._lock:
            self._text = text
            self._update()

    def pass_on(self, data: bytes) -> None:
        """Write what the program wrote, byte by byte."""
        with self._alone():
            output = self._erased() + data
            self._cursor.feed(data)
            if time.monotonic() - self._last_draw >= PAUSE_S:
                output += self._drawing()
            self._write(output)

    def say(self, text: str) -> None:
        """Write a message of ours above the line, on rows of its own."""
        with self._lock:
            if self._drawing_now:
                self._late.append(text)
                return
            start = "" if self._cursor.fresh else "\n"
            self.pass_on((start + text).encode("utf-8", "replace"))

    @property
    def has_keyboard(self) -> bool:
        """Whether keys can be handed on: stdin is this terminal."""
        return self._keyboard is not None

    def send_keys_to(
        self,
        program: Callable[[bytes], None] | None,
    ) -> None:
        """Hand on what is typed, byte by byte; none: no one reads it."""
        if self._keyboard is not None:
            self._keyboard.send_to(program)

    def give_keyboard_back(self) -> None:
        """Leave the keyboard as it was before: this process is about to end."""
        if self._keyboard is not None:
            self._keyboard.give_back()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Leave the terminal to another process, which ends at the start of an empty row."""
        with self._lock:
            end = b"" if self._cursor.fresh else b"\r\n"
            self._write(self._erased() + end)
            self.give_keyboard_back()
            yield
            if self._keyboard is not None:
                self._keyboard.take()
            self._cursor.start_afresh()
            self._update()

    def close(self) -> None:
        """Erase it for good. What follows begins on a row of its own."""
        self._ended.set()
        with self._lock:
            self._text = None
            end = b"" if self._cursor.fresh else b"\r\n"
            self._write(self._erased() + end)
        self._ticker.join()
        self.send_keys_to(None)
        self.give_keyboard_back()

    def _tick(self) -> None:
        while not self._ended.wait(TICK_S):
            with self._lock:
                if self._keyboard is not None:
                    # It may have come from the background to the front.
                    self._keyboard.take()
                self._update()

    def _update(self) -> None:
        """Draw the line if it is not there or says something else by now."""
        with self._alone():
            columns, _ = self._size()
            if self._text is None or self._ended.is_set() or self._text(columns) == self._drawn:
                return
            self._write(self._erased() + self._drawing())

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No one else writes meanwhile, this thread's signals included; they are answered
        afterwards.
        """
        with self._lock:
            self._drawing_now = True
            try:
                yield
            finally:
                self._drawing_now = False
            while self._late:
                self.say(self._late.pop(0))

    def _erased(self) -> bytes:
        """What erases the line. All below the program's own rows is ours."""
        if self._drawn is None:
            return b""
        self._drawn = None
        return _SAVE + _down(self._distance) + _ERASE_BELOW + _RESTORE

    def _drawing(self) -> bytes:
        """What draws the line; nothing while that would harm what the program does."""
        columns, rows = self._size()
        distance = 0
        if not self._cursor.fresh:
            distance = self._cursor.below + 1
        if self._text is None or not self._cursor.known or distance > rows - 2:
            return b""
        self._drawn = self._text(columns)
        self._distance = distance
        self._last_draw = time.monotonic()
        # Line feeds that keep the column: a row below is there afterwards, also at the end of the
        # screen.
        lines_below = b"\x1bD" * distance + _up(distance)
        line = b"\x1b[0m" + self._drawn.encode("utf-8", "replace")
        return lines_below + _SAVE + _down(distance) + line + _RESTORE

    def _size(self) -> tuple[int, int]:
        with suppress(OSError):
            size = os.get_terminal_size(self.fd)
            if size.columns and size.lines:
                return size.columns, size.lines
        return 80, 24

    def _write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self.fd, data) :]
            except BlockingIOError:
                time.sleep(PAUSE_S)
            except OSError:
                # The terminal is gone: the work goes on without it.
                return


def _up(rows: int) -> bytes:
    return b"\x1b[%dA" % rows if rows else b""


def _down(rows: int) -> bytes:
    return b"\x1b[%dB\r" % rows if rows else b""


class AboveLine(io.TextIOBase):
    """A stream in place of stderr: what is written to it appears above the line."""

    def __init__(self, line: TerminalLine, stream: TextIO) -> None:
        super().__init__()
        self._line = line
        self._stream = stream
        self._unfinished = ""

    def write(self, text: str) -> int:
        """See `io.TextIOBase.write`; a line appears when it is whole."""
        lines, end, rest = (self._unfinished + text).rpartition("\n")
        self._unfinished = rest
        if end:
            self._line.say(lines + end)
        return len(text)

    def finish(self) -> None:
        """Show the beginning of a line whose rest will not come."""
        if self._unfinished:
            self.write("\n")

    def isatty(self) -> bool:
        """As the stream that it replaces."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """As the stream that it replaces."""
        return self._stream.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


_SHOWN: list[TerminalLine] = []


@contextmanager
def line_on_terminal() -> Iterator[TerminalLine]:
    """A line on the terminal of stderr. Messages that are printed to `sys.stderr` appear above
    it.
    """
    stream = sys.stderr
    line = TerminalLine(stream.fileno())
    above = AboveLine(line, stream)
    sys.stderr = above
    _SHOWN.append(line)
    try:
        yield line
    finally:
        _SHOWN.remove(line)
        sys.stderr = stream
        above.finish()
        line.close()


@contextmanager
def hidden_lines() -> Iterator[None]:
    """Whatever line is shown is erased meanwhile."""
    if not _SHOWN:
        yield
        return
    with _SHOWN[-1].hidden():
        yield


def give_keyboards_back() -> None:
    """Before a sudden end: a terminal without an echo would be left behind."""
    for line in _SHOWN:
        line.give_keyboard_back()


def can_show_line() -> bool:
    """Whether stderr is a terminal that understands cursor movements."""
    if not sys.stderr.isatty():
        return False
    from rich.console import Console

    return not Console(stderr=True).is_dumb_terminal
