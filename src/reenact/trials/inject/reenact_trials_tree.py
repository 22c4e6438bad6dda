"""A folder that is brought back to what it was: what one run wrote there, the next does not see.

What changed is known by the time of change that the system keeps of each file, which no program can
set. Folders of some thousand files are looked through in the time that copying a few of them takes.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterator

TICK_S = 0.01
"""Changes within one tick of the system's clock have the same time."""

Mark = tuple[int, int, int, int, int]


class Tree:
    """A folder made from another one, which stays as it is."""

    def __init__(self, first: str, place: str) -> None:
        self.first = first
        self.place = place
        shutil.copytree(first, place, symlinks=True)
        self._marks = dict(_walk(place))
        time.sleep(TICK_S)

    def write(self, name: str, body: bytes) -> None:
        """Give a file another content until the folder is restored."""
        path = os.path.join(self.place, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.unlink(path)
        with open(path, "wb") as target:
            target.write(body)
        # A file of the same size may get the number of the one that it replaces, in the same tick.
        self._marks.pop(name, None)

    def restore(self) -> None:
        """Everything below the folder as it was."""
        os.chmod(self.place, stat.S_IRWXU)
        found = dict(_walk(self.place))
        kept = {name: mark for name, mark in found.items() if self._marks.get(name) == mark}
        for name in sorted(found.keys() - kept.keys()):
            _remove(os.path.join(self.place, name))
        # Folders come before what is in them.
        missing = sorted(
            name
            for name, _ in _walk(self.first)
            if not os.path.lexists(os.path.join(self.place, name))
        )
        for name in missing:
            _copy(os.path.join(self.first, name), os.path.join(self.place, name))
        if missing or len(found) > len(kept):
            self._marks = dict(_walk(self.place))
            time.sleep(TICK_S)


def _walk(root: str, below: str = "") -> Iterator[tuple[str, Mark]]:
    with os.scandir(os.path.join(root, below)) as entries:
        listed = list(entries)
    for entry in listed:
        name = os.path.join(below, entry.name)
        seen = entry.stat(follow_symlinks=False)
        if entry.is_dir(follow_symlinks=False):
            # Its times tell of its entries, which are looked at themselves.
            yield name, (seen.st_mode, seen.st_ino, 0, 0, 0)
            if not seen.st_mode & stat.S_IXUSR:
                os.chmod(entry.path, stat.S_IRWXU)
            yield from _walk(root, name)
        else:
            times = (seen.st_mtime_ns, seen.st_ctime_ns)
            yield name, (seen.st_mode, seen.st_ino, seen.st_size, *times)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        os.unlink(path)


def _copy(source: str, target: str) -> None:
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
    elif os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
        shutil.copystat(source, target)
    else:
        shutil.copy2(source, target)
