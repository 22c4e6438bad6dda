"""The disk: bytes written whole or not at all, refusals as sentences, and locks.

Locks say who works on what, and the operating system releases them when a process dies, however it
dies: POSIX record locks on one small file, one byte a run. They are not inherited by children, so a
forked worker that outlives its parent holds nothing. Two things they do not do are done here: they
do not exclude threads of one process, and closing any handle of the file drops them all, so a
process keeps one handle a file.
"""

import errno
import fcntl
import os
import stat
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reenact.errors import StorageError
from reenact.files import opened
from reenact.own_process import crash_point

WHY = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would grow beyond what this process may write",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "there is no permission",
    errno.EPERM: "there is no permission",
    errno.EIO: "the disk answers with an input/output error",
}
CONTINUE = "Fix that, then run the same command: it continues where it stopped."


@contextmanager
def storage_named(what: Path) -> Iterator[None]:
    """Turn the disk's refusals into StorageError; a missing file stays FileNotFoundError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        why = WHY.get(
            error.errno or 0,
            error.strerror or type(error).__name__,
        )
        raise StorageError(
            f"{what} cannot be used: {why}.",
            next_step=CONTINUE,
        ) from error


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make a folder and its parents so that they survive a power cut. `mode` is for those that
    are new.
    """
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        with storage_named(each):
            each.mkdir(mode=mode, exist_ok=True)
            sync_folder(each.parent)


def write_whole(
    path: Path,
    data: bytes,
    *,
    temporary: Path,
    mode: int = 0o644,
) -> None:
    """Write next to, flush, rename over: a reader sees the old content or the new, never a part. A
    crash may leave `temporary` behind; anyone who writes the same content again writes over it.
    """
    half = len(data) // 2
    with storage_named(path):
        try:
            # No O_TRUNC through a link that somebody put there: a leftover is removed, then created
            # again.
            temporary.unlink(missing_ok=True)
            with open(temporary, "xb", opener=private) as file:
                file.write(data[:half])
                file.flush()
                crash_point("C16")
                file.write(data[half:])
                file.flush()
                os.fchmod(file.fileno(), mode)
                os.fsync(file.fileno())
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def tighten(folder: Path) -> None:
    """Take from other users what they may do with a folder of ours and all in it; links are not
    followed. Journals hold prompts, code and output. A folder that no one else may enter is left as
    it is: what lies in it is out of reach, and looking through a large one would take long. So is a
    folder that holds the working folder or the home folder: somebody put the journal right into a
    place of other things.
    """
    if folder.is_symlink() or not folder.is_dir():
        return
    if any(place.resolve().is_relative_to(folder.resolve()) for place in (Path.cwd(), Path.home())):
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
        for path in (
            Path(place),
            *(Path(place, name) for name in names),
        ):
            # Another process may work here; what it has removed needs no rights.
            with suppress(FileNotFoundError):
                facts = path.lstat()
                if not stat.S_ISLNK(facts.st_mode) and facts.st_uid == os.geteuid():
                    path.chmod(stat.S_IMODE(facts.st_mode) & 0o700)


def private(path: str, flags: int) -> int:
    """`open(..., opener=private)`: a new file that only its owner can read, whatever the umask."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries, so that a new name survives a power cut."""
    with opened(folder, os.O_RDONLY | os.O_DIRECTORY) as handle:
        os.fsync(handle)


_FLOCK = "hhqqi"
"""struct flock of 64-bit Linux: type, whence, start, length, pid."""
_Key = tuple[int, int, int]


class Locks:
    """The locks of this process on one file. Come by them with `locks_at`, part with `leave`."""

    def __init__(
        self,
        handle: int | None,
        key: _Key = (0, 0, 0),
    ) -> None:
        """Without a handle: locks of a journal in memory, among the threads of this process."""
        self.key = key
        self.users = 0
        self._handle = handle
        self._held: set[int] = set()
        self._mutex = threading.Lock()

    def take(self, number: int) -> bool:
        """Take lock `number`, or say false at once when anyone, also of this process, has it."""
        with self._mutex:
            if number in self._held:
                return False
            try:
                if self._handle is not None:
                    fcntl.lockf(
                        self._handle,
                        fcntl.LOCK_EX | fcntl.LOCK_NB,
                        1,
                        number,
                    )
            except (BlockingIOError, PermissionError):
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
            wanted = struct.pack(
                _FLOCK,
                fcntl.F_WRLCK,
                os.SEEK_SET,
                number,
                1,
                0,
            )
            kind: int = struct.unpack(
                _FLOCK,
                fcntl.fcntl(self._handle, fcntl.F_GETLK, wanted),
            )[0]
            return kind != fcntl.F_UNLCK

    def leave(self) -> None:
        """This user needs the table no more; the last one closes the file and so frees every
        lock.
        """
        with _guard:
            self.users -= 1
            if self.users == 0 and self._handle is not None:
                os.close(self._handle)
                del _tables[self.key]


_tables: dict[_Key, Locks] = {}
_guard = threading.Lock()


def locks_at(path: Path) -> Locks:
    """The one table of this process for that file."""
    with _guard, storage_named(path):
        table = None
        if path.exists():
            table = _tables.get(_key(path.stat()))
        if table is None:
            try:
                handle = os.open(
                    path,
                    os.O_RDWR | os.O_CREAT | os.O_CLOEXEC,
                    0o600,
                )
            except OSError:
                # Looking at runs on a read-only disk needs no lock of one's own.
                handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            table = Locks(handle, _key(os.fstat(handle)))
            _tables[table.key] = table
        table.users += 1
        return table


def _key(facts: os.stat_result) -> _Key:
    # The process id belongs to it: after a fork the child holds none of its parent's locks.
    return os.getpid(), facts.st_dev, facts.st_ino
