"""Bytes on disk: written whole or not at all, and every refusal of the disk said as a sentence."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reenact.crash import crash_point
from reenact.errors import StorageError

WHY = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would grow beyond what this process may write",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "there is no permission",
    errno.EPERM: "there is no permission",
    errno.EIO: "the disk answers with an input/output error",
}
CONTINUE = "Mend that, then run the same command: it continues where it stopped."


@contextmanager
def storage_named(what: Path) -> Iterator[None]:
    """Turn the disk's refusals into StorageError; a missing file stays FileNotFoundError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        why = WHY.get(error.errno or 0, error.strerror or type(error).__name__)
        raise StorageError(f"{what} cannot be used: {why}.", next_step=CONTINUE) from error


def make_folder(folder: Path) -> None:
    """Make a folder and its parents so that they survive a power cut."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        with storage_named(each):
            each.mkdir(exist_ok=True)
            sync_folder(each.parent)


def write_whole(path: Path, data: bytes, *, temporary: Path, mode: int = 0o644, crash_at: str = "") -> None:
    """Write beside, flush, rename over: a reader sees the old content or the new, never a part.

    A crash may leave `temporary` behind; whoever writes the same content again writes over it.
    """
    with storage_named(path):
        try:
            _write_synced(temporary, data, mode, crash_at)
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def _write_synced(path: Path, data: bytes, mode: int, crash_at: str) -> None:
    # No O_TRUNC through a link that somebody put there: a leftover is removed, then created anew.
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        half = len(data) // 2
        _write_all(handle, data[:half])
        if crash_at:
            crash_point(crash_at)
        _write_all(handle, data[half:])
        os.fchmod(handle, mode)
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries, so that a new name survives a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
