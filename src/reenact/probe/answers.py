"""What the user answers a watched program on its stdin, for every process of a command that runs
the program.

The watched run gets the keyboard, or the stream that our stdin is. The small experiments next to it
and the trials run the same program, and get the same answers: a file that was redirected, or the
lines that were typed. A pipe can be read only once: the watched run alone gets it. Answers stay in
memory, and in the folder of a trial while that runs; the journal keeps none, so a program that was
answered is watched again by anyone who continues.
"""

import os
import stat
import subprocess
import tempfile
import threading
from contextlib import suppress

from reenact.host_program import Stream

NO_KEYBOARD = subprocess.DEVNULL
MOST_BYTES = 1 << 20
"""More than that is data, not answers: the watched run alone gets it."""
_END = 4
_ENTER = b"\r\n"
_ERASE_CHARACTER = b"\x08\x7f"
_ERASE_WORD = 0x17
_ERASE_LINE = 0x15


class Answers:
    """Of one command; `stream` is the stdin that the watched program may have."""

    def __init__(self, stream: Stream = NO_KEYBOARD) -> None:
        self.stream = stream
        self._lock = threading.Lock()
        self._text = bytearray(_redirected(stream))
        self._line = bytearray()
        """What was typed since the last Enter."""
        self._followers: list[int] = []
        """Ends of pipes that get what is typed."""
        self.typed = False
        """Whether there are answers that only this process knows."""
        self._given = False

    @property
    def text(self) -> bytes:
        """All answers so far."""
        with self._lock:
            return bytes(self._text)

    def for_watched_run(self) -> Stream:
        """Its stdin: the first run in a command gets the real one, the next what was answered
        then.
        """
        if not self._given:
            self._given = True
            return self.stream
        return self.again()

    def again(self) -> Stream:
        """All answers so far, from their beginning, then the end of the input."""
        if not self.text:
            return NO_KEYBOARD
        file = tempfile.TemporaryFile()  # noqa: SIM115 - the process that gets it outlives this function
        file.write(self.text)
        file.seek(0)
        return file

    def as_they_come(self) -> Stream:
        """All answers so far and, where a keyboard gives them, those that come until `end`."""
        if not _is_terminal(self.stream):
            return self.again()
        theirs, ours = os.pipe()
        os.set_blocking(ours, False)
        with self._lock:
            self._followers.append(ours)
            self._tell_followers(bytes(self._text))
        return os.fdopen(theirs, "rb", buffering=0)

    def end(self) -> None:
        """No more answers come."""
        with self._lock:
            for follower in self._followers:
                os.close(follower)
            self._followers.clear()

    def note_keys(self, keys: bytes) -> None:
        """Keys that were typed: they become lines as a terminal makes them."""
        with self._lock:
            for key in keys:
                self._note_key(key)

    def _note_key(self, key: int) -> None:
        if key in _ENTER:
            self._finish_line(b"\n")
        elif key == _END:
            self._finish_line(b"")
        elif key in _ERASE_CHARACTER:
            del self._line[len(self._line) - _last_character(self._line) :]
        elif key == _ERASE_WORD:
            kept = self._line.rstrip().rpartition(b" ")
            self._line = bytearray(kept[0] + kept[1])
        elif key == _ERASE_LINE:
            self._line.clear()
        else:
            self._line.append(key)

    def _finish_line(self, end: bytes) -> None:
        line = bytes(self._line) + end
        self._line.clear()
        self.typed = True
        if len(self._text) + len(line) <= MOST_BYTES:
            self._text += line
            self._tell_followers(line)

    def _tell_followers(self, line: bytes) -> None:
        for follower in self._followers:
            # Anyone who reads no more, or is full of answers that it does not read, needs none.
            with suppress(BrokenPipeError, BlockingIOError):
                os.write(follower, line)


def _last_character(line: bytearray) -> int:
    """Bytes of its last character, in UTF-8."""
    length = min(len(line), 1)
    while length < len(line) and line[-length] & 0xC0 == 0x80:
        length += 1
    return length


def _number(stream: Stream) -> int:
    if stream is None:
        return 0
    return stream if isinstance(stream, int) else stream.fileno()


def _is_file(stream: Stream) -> bool:
    with suppress(OSError):
        return _number(stream) >= 0 and stat.S_ISREG(os.fstat(_number(stream)).st_mode)
    return False


def _is_terminal(stream: Stream) -> bool:
    return _number(stream) >= 0 and os.isatty(_number(stream))


def _redirected(stream: Stream) -> bytes:
    """What is left of a file that the stream is; it stays unread."""
    if not _is_file(stream):
        return b""
    number = _number(stream)
    begin = os.lseek(number, 0, os.SEEK_CUR)
    text = os.pread(number, MOST_BYTES + 1, begin)
    return text if len(text) <= MOST_BYTES else b""
