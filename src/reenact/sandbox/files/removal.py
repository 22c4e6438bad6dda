"""Removes the folder of a box within bounds: whoever ended the box waits only so long.

Each folder and file costs the same to remove, wherever it lies in the tree; on a disk that gives freed blocks
back at once (mounted with `discard`) that is a millisecond or more, so a box with thousands of nested folders
holds its owner up long after its time is over. What is not removed in time is removed by a thread, under
the box's lock. Covered: the owner ends before the thread does; the lock is free then, and the next sweep
removes the rest. Not covered: a disk on which a single removal does not return.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from reenact.sandbox.files.cleanup import remove_tree

WAIT_S = 10.0
MOST_UNFINISHED = 4
"""More removals than this do not go on at once: the next one waits, so that the disk does not fill up."""


class Removal(threading.Thread):
    """One folder on its way out. It owns the lock and frees it at the end."""

    def __init__(self, folder: Path, lock: int) -> None:
        super().__init__(name=f"remove {folder.name}", daemon=True)
        self.left: tuple[str, ...] = ()
        """What could not be removed."""
        self._folder = folder
        self._lock = lock

    def run(self) -> None:
        """Remove the folder."""
        try:
            self.left = remove_tree(self._folder)
        except OSError as error:
            self.left = (f"{self._folder}: {error.strerror}",)
        finally:
            os.close(self._lock)


_unfinished: list[Removal] = []


def remove_box(folder: Path, lock: int, wait_s: float = WAIT_S) -> tuple[str, ...]:
    """Remove a folder, then free its lock; the names of what is still there after `wait_s` seconds."""
    _unfinished[:] = [other for other in _unfinished if other.is_alive()]
    if len(_unfinished) >= MOST_UNFINISHED:
        _unfinished[0].join()
    removal = Removal(folder, lock)
    removal.start()
    removal.join(wait_s)
    if not removal.is_alive():
        return removal.left
    _unfinished.append(removal)
    return (f"{folder}: is still being removed after {wait_s:.0f} s",)
