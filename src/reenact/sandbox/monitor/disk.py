"""How much room the visible files of a box take: on the host's disk, and in memory at /dev/shm.

Covered: trees of any depth (one or two descriptors, whatever the depth), folders closed with chmod, hard
links (counted once), folders moved while they are walked (the walk stops and is repeated).
Not covered here: files without a name, see `hidden`.
"""

from __future__ import annotations

import math
import os
import stat
import sys
import time
from dataclasses import dataclass
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(slots=True)
class Room:
    """Bytes and entries found so far. `whole` is false when the tree changed under the walk."""

    bytes: int = 0
    files: int = 0
    whole: bool = True


def tree_room(root: Path, most_files: int) -> Room:
    """Count what is below `root`; stops early once there are more than `most_files` entries."""
    walk = Walk(root, most_files)
    walk.go_on(math.inf)
    return walk.room


class Walk:
    """A count of a tree that can be interrupted: depth first with one open folder.

    Down by name, up by '..', which must lead where we came from. A supervisor has other things to do than to
    walk a large tree to its end; it goes on a little with every look.
    """

    def __init__(self, root: Path, most_files: int) -> None:
        self.room = Room()
        self.done = False
        self._most_files = most_files
        self._linked: set[tuple[int, int]] = set()
        self._trail: list[tuple[tuple[int, int], list[str]]] = []
        self._waiting: list[str] = []
        try:
            self._at = _open(str(root), None)
        except OSError:
            self._at = -1
            self._end(whole=False)
        else:
            self._waiting = self._count(self._at)

    def go_on(self, until: float) -> None:
        """Count on until the end or until the clock shows `until`."""
        while not self.done and time.monotonic() < until:
            try:
                self._step()
            except OSError:
                self._end(whole=False)

    def _step(self) -> None:
        if self.room.files > self._most_files or not (self._waiting or self._trail):
            self._end(whole=True)
        elif self._waiting:
            self._go_down(self._waiting.pop())
        else:
            self._go_up()

    def _go_down(self, name: str) -> None:
        try:
            below = _open(name, self._at)
        except OSError:
            return
        self._trail.append((_identity(self._at), self._waiting))
        os.close(self._at)
        self._at = below
        self._waiting = self._count(below)

    def _go_up(self) -> None:
        came_from, self._waiting = self._trail.pop()
        above = os.open("..", _FOLDER, dir_fd=self._at)
        os.close(self._at)
        self._at = above
        if _identity(above) != came_from:
            self._end(whole=False)

    def _end(self, *, whole: bool) -> None:
        self.room.whole = whole
        self.close()

    def close(self) -> None:
        """Stop counting."""
        self.done = True
        if self._at >= 0:
            os.close(self._at)
            self._at = -1

    def _count(self, at: int) -> list[str]:
        """Count the entries of an open folder; the names of its folders."""
        folders: list[str] = []
        with os.scandir(at) as entries:
            for entry in entries:
                self.room.files += 1
                if self.room.files > self._most_files:
                    return []
                try:
                    found = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                self._add(found)
                if stat.S_ISDIR(found.st_mode):
                    folders.append(entry.name)
        return folders

    def _add(self, found: os.stat_result) -> None:
        if found.st_nlink > 1 and not stat.S_ISDIR(found.st_mode):
            key = (found.st_dev, found.st_ino)
            if key in self._linked:
                return
            self._linked.add(key)
        self.room.bytes += found.st_blocks * 512


def _identity(at: int) -> tuple[int, int]:
    found = os.fstat(at)
    return found.st_dev, found.st_ino


def _open(name: str, at: int | None) -> int:
    """Open a folder; one that its owner closed is opened for the moment it takes, and closed again."""
    try:
        return os.open(name, _FOLDER, dir_fd=at)
    except PermissionError:
        if sys.platform != "linux":
            raise
        handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    try:
        mode = stat.S_IMODE(os.fstat(handle).st_mode)
        Path(f"/proc/self/fd/{handle}").chmod(mode | stat.S_IRUSR | stat.S_IXUSR)
        try:
            return os.open(f"/proc/self/fd/{handle}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        finally:
            Path(f"/proc/self/fd/{handle}").chmod(mode)
    finally:
        os.close(handle)


def memory_room(opened: int) -> Room:
    """What is in a memory file system, named or not, by its own count."""
    found = os.fstatvfs(opened)
    return Room((found.f_blocks - found.f_bfree) * found.f_frsize, max(0, found.f_files - found.f_ffree - 1))


def free_bytes(path: Path) -> int:
    """Bytes that are still free for us where `path` lies."""
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize
