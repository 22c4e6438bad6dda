"""Puts files into a work folder, and reads results back when an untrusted program has filled it.

Covered: a result, or any folder on the way to it, that is a symbolic link; FIFOs, sockets, devices
and folders (never opened for waiting, never read); files larger than agreed, sparse ones included;
a second hard link, which may belong to the host; a swap between look and open (the look is taken on
what was opened); folders closed with chmod. Not covered: what the bytes mean. JSON and arrays go
through `results`; nothing here imports or executes.

What is put in are the bytes of a command and a copy of a host folder. Covered: links in the host
folder are copied as links and never followed; FIFOs, sockets and devices are left out; the copy
stops with a sentence when it is larger than the box may be. The original is only read.
"""

import errno
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from reenact.errors import InputError
from reenact.files import opened
from reenact.sandbox.box import Command, Limits

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1 << 20
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a symbolic link",
}


@dataclass(frozen=True, slots=True)
class Collected:
    """What could be read, what was refused and why, what was not there."""

    results: Mapping[str, bytes] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


class _Refused(Exception):
    """Why one result is not read."""


def inner_name(name: str) -> tuple[str, ...]:
    """The parts of a relative name that stays inside its folder; InputError for any other name."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\0" in name:
        says = (
            f"A file of a box is named relative to its work folder, without '..'. Received: "
            f"{name!r}"
        )
        raise InputError(says, next_step="Use a name such as 'result.json' or 'out/metrics.json'.")
    return parts


def collect(
    work: Path,
    names: Iterable[str],
    most_bytes: int,
    *,
    disposable: bool = False,
) -> Collected:
    """Read each named file below `work`, following nothing, at most `most_bytes` of each.

    In a `disposable` folder what the program closed with chmod is opened again; any other stays as
    it is.
    """
    results: dict[str, bytes] = {}
    refused: dict[str, str] = {}
    missing: list[str] = []
    for name in names:
        try:
            results[name] = _read(
                work,
                inner_name(name),
                most_bytes,
                disposable=disposable,
            )
        except FileNotFoundError:
            missing.append(name)
        except _Refused as reason:
            refused[name] = str(reason)
        except OSError as error:
            refused[name] = f"it cannot be opened ({os.strerror(error.errno or 0)})"
    return Collected(results, refused, tuple(missing))


def _read(
    work: Path,
    parts: tuple[str, ...],
    most_bytes: int,
    *,
    disposable: bool,
) -> bytes:
    """A single file, the way to it included."""
    with ExitStack() as close:
        at = _open(str(work), _FOLDER, None, disposable)
        close.callback(os.close, at)
        for folder in parts[:-1]:
            try:
                at = _open(folder, _FOLDER, at, disposable)
            except OSError as error:
                if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise
                raise _Refused(f"its folder {folder!r} is {_kind(folder, at)}") from None
            close.callback(os.close, at)
        # A look before the open, so that no FIFO or device is opened at all; the look after it
        # decides.
        kind = _kind(parts[-1], at)
        if kind != "a file":
            raise _Refused(f"it is {kind}")
        file = _open(parts[-1], _FILE, at, disposable)
        close.callback(os.close, file)
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise _Refused(f"it is {_KINDS.get(stat.S_IFMT(found.st_mode), 'no regular file')}")
        if found.st_nlink > 1:
            raise _Refused(f"it has {found.st_nlink} hard links")
        if found.st_size > most_bytes:
            raise _Refused(f"it has {found.st_size} bytes, at most {most_bytes} are read")
        content = bytearray()
        while len(content) <= most_bytes and (part := os.read(file, _CHUNK)):
            content += part
    if len(content) > most_bytes:
        raise _Refused(f"it grew beyond {most_bytes} bytes while it was read")
    return bytes(content)


def _open(
    name: str,
    flags: int,
    at: int | None,
    disposable: bool,
) -> int:
    try:
        return os.open(name, flags | os.O_CLOEXEC, dir_fd=at)
    except PermissionError:
        if not disposable:
            raise
    with opened(name, os.O_PATH | os.O_NOFOLLOW, at) as handle:
        Path(f"/proc/self/fd/{handle}").chmod(stat.S_IRWXU)
    return os.open(name, flags | os.O_CLOEXEC, dir_fd=at)


def _kind(name: str, at: int) -> str:
    mode = os.stat(name, dir_fd=at, follow_symlinks=False).st_mode
    if stat.S_ISREG(mode):
        return "a file"
    return _KINDS.get(stat.S_IFMT(mode), "no regular file")


def fill(work: Path, command: Command, limits: Limits) -> None:
    """Fill the empty folder `work`: first the copy of the workspace, then the files over it."""
    if command.workspace is not None:
        _Copy(command.workspace, limits).run(work)
    for name, content in command.files.items():
        *folders, last = inner_name(name)
        place = work
        try:
            # No part of the way may be a link that came with the workspace.
            for part in folders:
                place = place / part
                _refuse_link(place)
                place.mkdir(exist_ok=True)
            _refuse_link(place / last)
            (place / last).write_bytes(content)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise InputError(
                f"A file of a box cannot be written over a link or a folder. Received: {name!r}"
            ) from error


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise FileExistsError(path)


@dataclass(slots=True)
class _Copy:
    """One copy of a host folder, counted while it goes."""

    source: Path
    limits: Limits
    bytes: int = 0
    files: int = 0

    def run(self, target: Path) -> None:
        """Copy everything below the source into `target`, an existing folder."""
        waiting = [(self.source, target)]
        while waiting:
            below, into = waiting.pop()
            try:
                folder = os.open(below, _FOLDER | os.O_CLOEXEC)
            except OSError as error:
                raise InputError(
                    f"The workspace cannot be read: {os.strerror(error.errno or 0)}. "
                    f"Received: workspace={below}",
                    next_step="Give a folder that this user may read.",
                ) from error
            try:
                for name in self._copy_folder(folder, into):
                    waiting.append((below / name, into / name))
            finally:
                os.close(folder)

    def _copy_folder(self, folder: int, into: Path) -> list[str]:
        """Copy the files and links of one folder; the names of its folders, made but still
        empty.
        """
        folders: list[str] = []
        for name in sorted(os.listdir(folder)):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            self._count(0)
            if stat.S_ISDIR(found.st_mode):
                (into / name).mkdir()
                folders.append(name)
            elif stat.S_ISLNK(found.st_mode):
                (into / name).symlink_to(os.readlink(name, dir_fd=folder))
            elif stat.S_ISREG(found.st_mode):
                with opened(name, _FILE, folder) as source:
                    mode = os.fstat(source).st_mode
                    if not stat.S_ISREG(mode):
                        continue
                    made = os.open(
                        into / name,
                        _NEW,
                        0o755 if mode & stat.S_IXUSR else 0o644,
                    )
                    with os.fdopen(made, "wb") as target:
                        while part := os.read(source, _CHUNK):
                            self._count(len(part))
                            target.write(part)
        return folders

    def _count(self, more: int) -> None:
        self.bytes += more
        self.files += not more
        if self.bytes > self.limits.disk_bytes or self.files > self.limits.files:
            raise InputError(
                f"The workspace is larger than the box may be. Received: workspace={self.source}, "
                f"disk_bytes={self.limits.disk_bytes}, files={self.limits.files}",
                next_step=(
                    "Give a smaller folder, show large data read-only as a mount, or raise the "
                    "limits."
                ),
            )
