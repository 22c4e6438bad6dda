"""Removes a tree that an untrusted program left, however it was left.

Covered: trees of any depth (folders are lifted to the top before they are emptied, so neither
recursion nor the length of a path grows), folders without any permission, files made immutable,
names that are not text, links (removed, never followed), files of another user below a folder of
ours. Never crosses into another file system. Not covered: folders that belong to another user and
are closed to us (a rootless container engine leaves such); `remove_tree` says what it could not
remove, the caller decides.

The folder of a box is removed within bounds: anyone who ended the box waits only so long. Each folder
and file costs the same to remove, wherever it lies in the tree; on a disk that gives freed blocks
back at once (mounted with `discard`) that is a millisecond or more, so a box with thousands of
nested folders holds its owner up long after its time is over. What is not removed in time is
removed by a thread, under the box's lock. Covered: the owner ends before the thread does; the lock
is free then, and the next sweep removes the rest. Not covered: a disk on which a single removal
does not return.
"""

import array
import errno
import fcntl
import os
import secrets
import stat
import threading
from contextlib import suppress
from pathlib import Path

from reenact.files import opened

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_GET_FLAGS = 0x80086601
_SET_FLAGS = 0x40086602
_FIXED = 0x10 | 0x20
"""FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, and the flags for immutable and append-only."""
_NO_FOLDER_BELOW = 2
"""Link count of such a folder on most file systems. To try to remove one with a deep tree below
is slow.
"""


def remove_tree(root: Path) -> tuple[str, ...]:
    """Remove `root` and all below it; the names of what could not be removed, empty when all is
    gone.
    """
    try:
        found = os.lstat(root)
    except FileNotFoundError:
        return ()
    if not stat.S_ISDIR(found.st_mode):
        root.unlink()
        return ()
    try:
        _allow(root, None)
        with opened(root, _FOLDER) as top:
            left = _empty(top)
        if not left:
            root.rmdir()
    except OSError as error:
        return (f"{root}: {os.strerror(error.errno or 0)}",)
    return tuple(left)


def _empty(top: int) -> list[str]:
    """Empty the opened folder. Every folder below is lifted into it before its own turn comes."""
    device = os.fstat(top).st_dev
    left: dict[str, str] = {}
    while True:
        names = [name for name in os.listdir(top) if name not in left]
        if not names:
            return [f"{name!r}: {why}" for name, why in left.items()]
        for name in names:
            try:
                _remove_entry(name, top, device)
            except OSError as error:
                left[name] = os.strerror(error.errno or 0)


def _remove_entry(name: str, top: int, device: int) -> None:
    found = os.stat(name, dir_fd=top, follow_symlinks=False)
    if not stat.S_ISDIR(found.st_mode):
        _unlink(name, top)
        return
    if found.st_dev != device:
        raise OSError(errno.EXDEV, "another file system is mounted here")
    if found.st_nlink == _NO_FOLDER_BELOW and _was_empty(name, top):
        return
    _allow(name, top)
    with opened(name, _FOLDER, top) as folder:
        _lift(folder, top)
    os.rmdir(name, dir_fd=top)


def _lift(folder: int, top: int) -> None:
    """Unlink the files of `folder`, move its folders to the top. One that resists does not save
    the rest.
    """
    resisted: OSError | None = None
    for name in os.listdir(folder):
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                if found.st_nlink == _NO_FOLDER_BELOW and _was_empty(name, folder):
                    continue
                _allow(name, folder)
                os.rename(
                    name,
                    f".lifted-{secrets.token_hex(8)}",
                    src_dir_fd=folder,
                    dst_dir_fd=top,
                )
            else:
                _unlink(name, folder)
        except OSError as error:
            resisted = error
    if resisted is not None:
        raise resisted


def _was_empty(name: str, at: int) -> bool:
    """Remove a folder that is empty, the common case, without looking into it."""
    with suppress(OSError):
        os.rmdir(name, dir_fd=at)
        return True
    return False


def _unlink(name: str, at: int) -> None:
    try:
        os.unlink(name, dir_fd=at)
    except PermissionError:
        if stat.S_ISREG(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
            # Take back the flags by which a program of root keeps a file from being removed.
            flags = array.array("l", [0])
            with opened(name, _LOOK, at) as file:
                fcntl.ioctl(file, _GET_FLAGS, flags)
                flags[0] &= ~_FIXED
                fcntl.ioctl(file, _SET_FLAGS, flags)
        os.unlink(name, dir_fd=at)


def _allow(name: str | Path, at: int | None) -> None:
    """Give ourselves all rights on a folder; one that is not ours stays as it is, and may be
    open.
    """
    with (
        opened(
            name,
            os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW,
            at,
        ) as folder,
        suppress(PermissionError),
    ):
        if os.fstat(folder).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            Path(f"/proc/self/fd/{folder}").chmod(stat.S_IRWXU)


WAIT_S = 10.0
MOST_UNFINISHED = 4
"""More removals than this do not go on at once: the next one waits, so that the disk does not
fill up.
"""


_unfinished: list[threading.Thread] = []


def remove_box(
    folder: Path,
    lock: int,
    wait_s: float = WAIT_S,
) -> tuple[str, ...]:
    """Remove a folder, then free its lock; the names of what is still there after `wait_s`
    seconds.
    """
    left: list[str] = []

    def remove() -> None:
        try:
            left.extend(remove_tree(folder))
        except OSError as error:
            left.append(f"{folder}: {error.strerror}")
        finally:
            os.close(lock)

    _unfinished[:] = [other for other in _unfinished if other.is_alive()]
    if len(_unfinished) >= MOST_UNFINISHED:
        _unfinished[0].join()
    removal = threading.Thread(
        target=remove,
        name=f"remove {folder.name}",
        daemon=True,
    )
    removal.start()
    removal.join(wait_s)
    if not removal.is_alive():
        return tuple(left)
    _unfinished.append(removal)
    return (f"{folder}: is still being removed after {wait_s:.0f} s",)
