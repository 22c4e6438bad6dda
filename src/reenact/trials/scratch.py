"""Scratch folders of trials: locked while their process lives, removed by the next one when it is gone.

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
    """The folder of one executor."""

    path: Path
    lock: int | None
    """Held while the process lives; none for a folder whose place was chosen by the caller: it stays."""

    @classmethod
    def make(cls, within: Path | None = None) -> Scratch:
        """A fresh folder below `within`, else in the temporary folder, where abandoned ones are removed."""
        if within is not None:
            within.mkdir(parents=True, exist_ok=True)
            return cls(Path(tempfile.mkdtemp(prefix=SCRATCH, dir=within)).resolve(), None)
        root = Path(tempfile.gettempdir())
        sweep(root)
        for _ in range(TRIES):
            path = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=root)).resolve()
            lock = lock_folder(path)
            if lock is not None:
                return cls(path, lock)
        raise StorageError(f"No scratch folder could be kept in {root}: another process removes them.")

    def trial_folder(self) -> Path:
        """An empty folder for one trial."""
        return Path(tempfile.mkdtemp(prefix="trial-", dir=self.path))

    def close(self) -> None:
        """Remove it, unless the caller chose its place."""
        if self.lock is not None:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self.lock)
            self.lock = None


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
