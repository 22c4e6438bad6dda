"""Scratch folders of trials: held by a lock while their process lives, swept by the next one when it is gone.

Covered: kill -9 at any moment, several processes that share one temporary folder. Not covered: a file system
without locks, where folders of a killed process stay.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reenact.errors import StorageError
from reenact.files import lock_folder

SCRATCH = "reenact-trials-"
"""How the names of scratch folders begin; one that lies within the user's folder is left out."""
TRIES = 20


@dataclass
class Scratch:
    """One scratch folder and the lock that says that somebody uses it."""

    path: Path
    lock: int

    @classmethod
    def make(cls) -> Scratch:
        """A fresh folder in the temporary folder; abandoned ones are removed first."""
        root = Path(tempfile.gettempdir())
        sweep(root)
        for _ in range(TRIES):
            path = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=root)).resolve()
            lock = lock_folder(path)
            if lock is not None:
                return cls(path, lock)
        raise StorageError(f"No scratch folder could be kept in {root}: another process removes them.")

    def close(self) -> None:
        """Remove it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def sweep(root: Path) -> None:
    """Remove scratch folders of this user whose process is gone."""
    for path in root.glob(f"{SCRATCH}*"):
        with suppress(OSError):
            if path.lstat().st_uid != os.getuid():
                continue
        lock = lock_folder(path)
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)
