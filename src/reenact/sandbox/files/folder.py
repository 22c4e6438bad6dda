"""The folders of boxes on the host: one place for all, one folder a box, none left for ever.

A box folder is locked by the process that owns it for as long as that process lives; the kernel frees the
lock with its death, however it dies. Anyone who starts boxes next sweeps the folders that no one holds:
processes noted in them and launchers marked with their name are killed, cgroups and containers noted in
them removed, the tree deleted. Covered: kill -9 at any point, reboots, several processes and containers
that share one temporary folder. Not covered: a network file system without locks as the temporary folder.

    <tmp>/reenact-boxes-<uid>/<pid>-<start time>-<random>/
        inside/work  inside/home  inside/tmp     what the program sees and fills
        etc/                                     small files shown read-only
        notes                                    processes and cgroups to end when the owner dies
"""

from __future__ import annotations

import functools
import os
import secrets
import shutil
import signal
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reenact.errors import SandboxFailed
from reenact.files import lock_folder
from reenact.sandbox.cgroup import remove_group
from reenact.sandbox.files.cleanup import remove_box
from reenact.sandbox.tiers.engine import remove_container

BOX_MARK = "REENACT_BOX"
"""Variable in the environment of a launcher that says whose launcher it is."""


@dataclass
class BoxFolder:
    """One box's place on the host. Close it to remove it."""

    path: Path
    lock: int

    def __post_init__(self) -> None:
        self.inside = self.path / "inside"
        """Everything the program may fill on the host's disk."""
        self.work = self.inside / "work"
        self.home = self.inside / "home"
        self.tmp = self.inside / "tmp"

    @classmethod
    def make(cls, root: Path | None = None) -> BoxFolder:
        """A fresh locked folder. Folders whose owner is gone are swept first, once a process."""
        root = _root(root)
        _sweep_once(root)
        for _ in range(100):
            path = root / f"{os.getpid()}-{start_time(os.getpid())}-{secrets.token_hex(6)}"
            path.mkdir(mode=0o700)
            lock = lock_folder(path)
            if lock is None:
                continue
            box = cls(path, lock)
            try:
                for folder in (box.inside, box.work, box.home, box.tmp):
                    folder.mkdir(mode=0o755)
            except OSError:
                box.close()
                raise
            return box
        raise SandboxFailed(f"No box folder could be kept in {root}: another process removes them.")

    def note_process(self, pid: int) -> None:
        """Remember a process that must not outlive the owner."""
        self.note(
            "process",
            f"{pid} {start_time(pid)} {_pid_namespace()}",
        )

    def note(self, kind: str, what: object) -> None:
        """Remember a `cgroup PATH` or a `container NAME ENGINE` that must not outlive the owner."""
        with (self.path / "notes").open("a") as notes:
            notes.write(f"{kind} {what}\n")

    def close(self) -> tuple[str, ...]:
        """Remove the folder; the names of what resisted, or is still being removed."""
        return remove_box(self.path, self.lock)


def start_time(pid: int) -> int:
    """When a process began, in kernel ticks since boot; 0 when it is gone or the system does
    not tell.
    """
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    return 0


def space_problem(reserve_bytes: int, root: Path | None = None) -> str:
    """Why no box can have a folder here, for want of space or of rights; empty when one can."""
    try:
        root = _root(root)
        with tempfile.TemporaryFile(dir=root) as probe:
            probe.write(bytes(4096))
            probe.flush()
    except OSError as error:
        place = error.filename or root or os.environ.get("TMPDIR") or "the temporary folder"
        return (
            f"the folder for temporary files cannot be written to: {place}: "
            f"{error.strerror or error}"
        )
    free = shutil.disk_usage(root).free
    if free < reserve_bytes:
        return (
            f"only {free >> 20} MiB of disk are free at {root}, and a box needs "
            f"{reserve_bytes >> 20}"
        )
    return ""


def boxes(root: Path | None = None) -> tuple[str, ...]:
    """The names of the box folders that are there now, of this and of other processes."""
    return tuple(sorted(path.name for path in _root(root).iterdir()))


def sweep(root: Path | None = None) -> tuple[str, ...]:
    """End and remove what dead owners left; the names of the folders that were swept."""
    root = _root(root)
    swept: list[str] = []
    for path in sorted(root.iterdir()):
        lock = lock_folder(path)
        if lock is None:
            continue
        try:
            _end_noted(path)
            _end_marked(path.name)
        except BaseException:
            os.close(lock)
            raise
        remove_box(path, lock)
        swept.append(path.name)
    return tuple(swept)


_sweep_once = functools.cache(sweep)


def _root(root: Path | None) -> Path:
    """The common place, ours alone: in a shared temporary folder another user may have been
    there first.
    """
    root = root or _temporary() / f"reenact-boxes-{os.getuid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    found = os.lstat(root)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        says = f"The place for boxes is not a folder of this user. Received: {root}"
        raise SandboxFailed(
            says, next_step=f"Remove {root}, or set TMPDIR to a folder of your own."
        )
    if stat.S_IMODE(found.st_mode) != 0o700:
        root.chmod(0o700)
    return root


def _temporary() -> Path:
    """The temporary folder; not one in memory, as some systems have, where files would count as
    memory.
    """
    found, on_disk = Path(tempfile.gettempdir()), Path("/var/tmp")  # noqa: S108 - the folder is made for us alone
    if "TMPDIR" not in os.environ and _in_memory(found) and os.access(on_disk, os.W_OK):
        return on_disk
    return found


def _in_memory(path: Path, mounts: Path = Path("/proc/self/mounts")) -> bool:
    with suppress(OSError):
        lines = [line.split() for line in mounts.read_text().splitlines()]
        above = [(line[1], line[2]) for line in lines if path.is_relative_to(line[1])]
        return bool(above) and max(above, key=lambda pair: len(pair[0]))[1] in (
            "tmpfs",
            "ramfs",
        )
    return False


def _end_noted(path: Path) -> None:
    try:
        lines = (path / "notes").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        match line.split(" "):
            case ["process", pid, began, namespace] if (
                pid.isdigit() and namespace == _pid_namespace()
            ):
                # Still the noted one, and not a later one with the same number.
                if str(start_time(int(pid))) == began != "0":
                    with suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
            case ["cgroup", *parts]:
                remove_group(Path(" ".join(parts)))
            case ["container", name, *parts]:
                remove_container(" ".join(parts), name)


def _end_marked(box: str) -> None:
    """Kill launchers of this box that no one noted: their owner died while they were making
    namespaces.

    Their death signal is not set yet at that moment, and they would wait for their parent for ever.
    """
    mark = f"{BOX_MARK}={box}".encode()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        # Gone by now, or somebody else's.
        with suppress(OSError):
            if mark in entry.read_bytes().split(b"\0"):
                os.kill(int(entry.parent.name), signal.SIGKILL)


def _pid_namespace() -> str:
    with suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink())
    return "-"
