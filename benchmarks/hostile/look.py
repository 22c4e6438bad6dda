"""Looks at the host before and after a hostile program ran."""

from __future__ import annotations

import ctypes
import hashlib
import os
import stat
import tempfile
from pathlib import Path


def snapshot(folder: Path) -> dict[str, str]:
    """Every name below `folder` with its kind, mode, owner, links, size, time and content."""
    found: dict[str, str] = {}
    for inner, folders, files in os.walk(folder):
        for path in (Path(inner), *(Path(inner) / name for name in (*folders, *files))):
            found[str(path.relative_to(folder))] = _looks(path)
    return found


def _looks(path: Path) -> str:
    look = path.lstat()
    fixed = (look.st_mode, look.st_uid, look.st_gid, look.st_mtime_ns)
    if not stat.S_ISREG(look.st_mode):
        return f"{fixed}"
    try:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        content = "unreadable"
    return f"{fixed} {look.st_nlink} {look.st_size} {content}"


def left_in(scratch: Path) -> list[str]:
    """What a box left in the temporary folder; the common place of all boxes may stay, when it
    is empty.
    """
    found = []
    for path in scratch.iterdir():
        if path.is_dir() and not path.is_symlink() and path.name.startswith("reenact-boxes-"):
            found += [f"{path.name}/{inner.name}" for inner in path.iterdir()]
        else:
            found.append(path.name)
    return [f"left in the temporary folder: {name}" for name in sorted(found)]


def differing(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The names that two snapshots do not agree on."""
    return sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )


def litter(nonce: str) -> list[str]:
    """What carries the nonce in its name in the common temporary folders."""
    found: list[str] = []
    for folder in {"/tmp", "/var/tmp", "/dev/shm", tempfile.gettempdir()}:  # noqa: S108 - looked at, not used
        try:
            found += [f"{folder}/{name}" for name in os.listdir(folder) if nonce in name]  # noqa: PTH208 - odd names
        except OSError:
            continue
    return sorted(found)


def shared_memory_keys() -> list[int]:
    """The keys of all System V shared memory segments of the host."""
    try:
        lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    except OSError:
        return []
    return [int(line.split()[0]) for line in lines]


def remove_shared_memory(key: int) -> None:
    """Remove a System V shared memory segment by its key, when there is one."""
    libc = ctypes.CDLL(None, use_errno=True)
    segment = libc.shmget(key, ctypes.c_size_t(0), 0)
    if segment >= 0:
        libc.shmctl(segment, 0, None)
