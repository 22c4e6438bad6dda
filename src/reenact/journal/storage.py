"""Bytes on disk: written whole or not at all, and every refusal of the disk said as a sentence."""

from __future__ import annotations

import errno
import os
import stat
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


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make a folder and its parents so that they survive a power cut. `mode` is for those that are new."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        with storage_named(each):
            each.mkdir(mode=mode, exist_ok=True)
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


def tighten(folder: Path) -> None:
    """Take from other users what they may do with a folder of ours and all in it; links are not followed.

    Journals hold prompts, code and output. A folder that nobody else may enter is left as it is: what lies in
    it is out of reach, and looking through a large one would take long. So is a folder that holds the working
    folder or the home folder: somebody put the journal right into a place of other things.
    """
    if folder.is_symlink() or not folder.is_dir() or _holds_more(folder.resolve()):
        return
    facts = folder.stat()
    if facts.st_uid != os.geteuid() or not facts.st_mode & 0o077:
        return
    try:
        folder.chmod(0o700)
    except OSError as error:
        if error.errno == errno.EROFS:
            return
        raise
    for place, _, names in os.walk(folder):
        for path in (Path(place), *(Path(place, name) for name in names)):
            _keep_to_owner(path)


def _holds_more(folder: Path) -> bool:
    return any(place.resolve().is_relative_to(folder) for place in (Path.cwd(), Path.home()))


def _keep_to_owner(path: Path) -> None:
    try:
        facts = path.lstat()
        if not stat.S_ISLNK(facts.st_mode) and facts.st_uid == os.geteuid():
            path.chmod(stat.S_IMODE(facts.st_mode) & 0o700)
    except FileNotFoundError:
        # Another process works here; what it has removed needs no rights.
        return


def private(path: str, flags: int) -> int:
    """`open(..., opener=private)`: a new file that only its owner can read, whatever the umask."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries, so that a new name survives a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
