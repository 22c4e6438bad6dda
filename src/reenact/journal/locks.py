"""Who works on what: locks that the operating system releases when a process dies, however it dies.

POSIX record locks on one small file, one byte a run. They are not inherited by children, so a forked worker
that outlives its parent holds nothing. Two things they do not do are done here: they do not exclude threads
of one process, and closing any handle of the file drops them all, so a process keeps one handle a file.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
import threading
from pathlib import Path

from reenact.journal.storage import storage_named

_FLOCK = "hhqqi"
"""struct flock of 64-bit Linux: type, whence, start, length, pid."""
_Key = tuple[int, int, int]


class Locks:
    """The locks of this process on one file. Come by them with `locks_at`, part with `leave`."""

    def __init__(self, handle: int | None, key: _Key = (0, 0, 0)) -> None:
        """Without a handle: locks of a journal in memory, among the threads of this process."""
        self.key = key
        self.users = 0
        self._handle = handle
        self._held: set[int] = set()
        self._mutex = threading.Lock()

    def take(self, number: int) -> bool:
        """Take lock `number`, or say false at once when anyone, also of this process, has it."""
        with self._mutex:
            if number in self._held or not self._try(number):
                return False
            self._held.add(number)
            return True

    def release(self, number: int) -> None:
        """Give lock `number` back."""
        with self._mutex:
            if number in self._held and self._handle is not None:
                fcntl.lockf(self._handle, fcntl.LOCK_UN, 1, number)
            self._held.discard(number)

    def is_held(self, number: int) -> bool:
        """Whether any living process has lock `number`."""
        with self._mutex:
            if number in self._held or self._handle is None:
                return number in self._held
            if sys.platform == "linux":
                wanted = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, number, 1, 0)
                kind: int = struct.unpack(_FLOCK, fcntl.fcntl(self._handle, fcntl.F_GETLK, wanted))[0]
                return kind != fcntl.F_UNLCK
            if not self._try(number):
                return True
            fcntl.lockf(self._handle, fcntl.LOCK_UN, 1, number)
            return False

    def leave(self) -> None:
        """This user needs the table no more; the last one closes the file and so frees every lock."""
        with _guard:
            self.users -= 1
            if self.users == 0 and self._handle is not None:
                os.close(self._handle)
                del _tables[self.key]

    def _try(self, number: int) -> bool:
        if self._handle is None:
            return True
        try:
            fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except (BlockingIOError, PermissionError):
            return False
        return True


_tables: dict[_Key, Locks] = {}
_guard = threading.Lock()


def locks_at(path: Path) -> Locks:
    """The one table of this process for that file."""
    with _guard, storage_named(path):
        table = _tables.get(_key(path.stat())) if path.exists() else None
        if table is None:
            handle = _open(path)
            table = Locks(handle, _key(os.fstat(handle)))
            _tables[table.key] = table
        table.users += 1
        return table


def _key(facts: os.stat_result) -> _Key:
    # The process id belongs to it: after a fork the child holds none of its parent's locks.
    return os.getpid(), facts.st_dev, facts.st_ino


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        # Looking at runs on a read-only disk needs no lock of one's own.
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
