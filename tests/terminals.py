"""Real terminals for tests: a command on a pseudo-terminal of a given size, replayed by an
emulator.
"""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyte

HISTORY = 20_000


class Replay:
    """What a terminal of this size shows of these bytes."""

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=HISTORY, ratio=0.5)
        self._stream = pyte.ByteStream(self.screen)

    def feed(self, data: bytes) -> None:
        self._stream.feed(data)

    @property
    def shown(self) -> list[str]:
        """The rows on the screen."""
        return [row.rstrip() for row in self.screen.display]

    @property
    def scrolled(self) -> list[str]:
        """The rows that went out at the top, oldest first."""
        columns = range(self.screen.columns)
        return [
            "".join(row[column].data for column in columns).rstrip()
            for row in self.screen.history.top
        ]

    @property
    def all_rows(self) -> list[str]:
        return self.scrolled + self.shown


@dataclass
class OnTerminal:
    """A command that ran on a terminal: all bytes it wrote there, in the pieces in which they
    came.
    """

    columns: int
    rows: int
    pieces: list[bytes] = field(default_factory=list)
    exit_code: int = -1

    def replay(self, look: Callable[[Replay], None] = lambda _: None) -> Replay:
        """Feed an emulator; `look` is called after every piece."""
        replay = Replay(self.columns, self.rows)
        for piece in self.pieces:
            replay.feed(piece)
            look(replay)
        return replay


def set_size(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _own_terminal() -> None:
    """Make stdin the controlling terminal, so that Ctrl-C typed there is a signal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def run_on_terminal(
    command: Sequence[str],
    *,
    columns: int,
    rows: int = 24,
    environment: Mapping[str, str] | None = None,
    on_piece: Callable[[int, bytes, subprocess.Popen[bytes]], None] = lambda *_: None,
) -> OnTerminal:
    """Run a command with stdin, stdout and stderr on a terminal of its own.

    After every piece `on_piece` gets the terminal, all that came so far, and the process.
    """
    ours, theirs = os.openpty()
    set_size(ours, columns, rows)
    variables = {**os.environ, "TERM": "xterm-256color", **(environment or {})}
    for name in ("COLUMNS", "LINES", "NO_COLOR", "CI"):
        if name not in (environment or {}):
            variables.pop(name, None)
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=variables,
        start_new_session=True,
        preexec_fn=_own_terminal,
    )
    os.close(theirs)
    ran = OnTerminal(columns, rows)
    so_far = b""
    try:
        while piece := os.read(ours, 4096):
            ran.pieces.append(piece)
            so_far += piece
            on_piece(ours, so_far, process)
    except OSError:
        # Linux reports so when the other side is closed and all was read.
        pass
    finally:
        os.close(ours)
    ran.exit_code = process.wait()
    return ran
