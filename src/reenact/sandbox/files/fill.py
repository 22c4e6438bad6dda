"""Puts files into a work folder: the bytes of a command, and a copy of a host folder.

Covered: links in the host folder are copied as links and never followed; FIFOs, sockets and devices are
left out; the copy stops with a sentence when it is larger than the box may be. The original is only read.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from reenact.errors import InputError
from reenact.sandbox.box import Command, Limits
from reenact.sandbox.files.collect import inner_name

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1 << 20


def fill(work: Path, command: Command, limits: Limits) -> None:
    """Fill the empty folder `work`: first the copy of the workspace, then the files over it."""
    if command.workspace is not None:
        _Copy(command.workspace, limits).run(work)
    for name, content in command.files.items():
        path = work.joinpath(*inner_name(name))
        try:
            _write(work, path, content)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise InputError(
                f"A file of a box cannot be written over a link or a folder. Received: {name!r}"
            ) from error


def _write(work: Path, path: Path, content: bytes) -> None:
    """Write below `work` only: no part of the way may be a link that came with the workspace."""
    folder = work
    for part in path.relative_to(work).parts[:-1]:
        folder = folder / part
        if folder.is_symlink():
            raise FileExistsError(folder)
        folder.mkdir(exist_ok=True)
    if path.is_symlink() or path.is_dir():
        raise FileExistsError(path)
    path.write_bytes(content)


class _Copy:
    """One copy of a host folder, counted while it goes."""

    def __init__(self, source: Path, limits: Limits) -> None:
        self._source = source
        self._most_bytes = limits.disk_bytes
        self._most_files = limits.files
        self._bytes = 0
        self._files = 0

    def run(self, target: Path) -> None:
        """Copy everything below the source into `target`, an existing folder."""
        waiting = [(Path(), target)]
        while waiting:
            below, into = waiting.pop()
            try:
                folder = os.open(self._source / below, _FOLDER)
            except OSError as error:
                raise InputError(
                    f"The workspace cannot be read: {os.strerror(error.errno or 0)}. "
                    f"Received: workspace={self._source / below}",
                    next_step="Give a folder that this user may read.",
                ) from error
            try:
                waiting += [(below / name, into / name) for name in self._copy_folder(folder, into)]
            finally:
                os.close(folder)

    def _copy_folder(self, folder: int, into: Path) -> list[str]:
        """Copy the files and links of one folder; the names of its folders, made but still empty."""
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
                self._copy_file(name, folder, into / name)
        return folders

    def _copy_file(self, name: str, folder: int, into: Path) -> None:
        source = os.open(name, _FILE, dir_fd=folder)
        try:
            mode = os.fstat(source).st_mode
            if not stat.S_ISREG(mode):
                return
            target = os.open(into, _NEW, 0o755 if mode & stat.S_IXUSR else 0o644)
            try:
                while part := os.read(source, _CHUNK):
                    self._count(len(part))
                    _write_all(target, part)
            finally:
                os.close(target)
        finally:
            os.close(source)

    def _count(self, more: int) -> None:
        self._bytes += more
        self._files += not more
        if self._bytes > self._most_bytes or self._files > self._most_files:
            raise InputError(
                f"The workspace is larger than the box may be. Received: workspace={self._source}, "
                f"disk_bytes={self._most_bytes}, files={self._most_files}",
                next_step="Give a smaller folder, show large data read-only as a mount, or raise the limits.",
            )


def _write_all(target: int, part: bytes) -> None:
    view = memoryview(part)
    while view:
        view = view[os.write(target, view) :]
