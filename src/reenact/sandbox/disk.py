"""How much space the visible files of a box take: on the host's disk, and in memory at /dev/shm.

Covered: trees of any depth (one or two descriptors, whatever the depth), folders closed with chmod,
hard links (counted once), folders moved while they are walked (the walk stops and is repeated). Not
covered here: files without a name, see `open_nameless`.

Files that were unlinked but are still held take space that no walk of a tree can see. Each look
finds those that a process holds open. A program may hide them better: mapped but not open, in the
descriptor table of a single thread, in flight in a unix socket. A deep look is taken when the
machine has lost more space than the visible files explain and the box has written that much
(`written_bytes`; the filter of system calls refuses fallocate, which would take space without
writing). It sizes what can be sized and says whether there is a hiding place whose content cannot.
Not covered: a neighbour that frees as much space as the box hides; the host's reserve is watched
for that.
"""

import math
import os
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path

from reenact.files import opened
from reenact.sandbox.processes import BoxProcesses, listed, read_proc

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(slots=True)
class DiskUsage:
    """Bytes and entries found so far. `whole` is false when the tree changed under the walk."""

    bytes: int = 0
    files: int = 0
    whole: bool = True


def tree_usage(root: Path, most_files: int) -> DiskUsage:
    """Count what is below `root`; stops early once there are more than `most_files` entries."""
    walk = Walk(root, most_files)
    walk.go_on(math.inf)
    return walk.usage


class Walk:
    """A count of a tree that can be interrupted: depth first with one open folder.

    Down by name, up by '..', which must lead where we came from. A supervisor has other things to
    do than to walk a large tree to its end; it goes on a little with every look.
    """

    def __init__(self, root: Path, most_files: int) -> None:
        self.usage = DiskUsage()
        self.done = False
        self._most_files = most_files
        self._linked: set[tuple[int, int]] = set()
        self._trail: list[tuple[tuple[int, int], list[str]]] = []
        self._waiting: list[str] = []
        self._at = -1
        try:
            self._at = _open(str(root), None)
        except OSError:
            self._break_off()
        else:
            self._waiting = self._count(self._at)

    def go_on(self, until: float) -> None:
        """Count on until the end or until the clock shows `until`."""
        while not self.done and time.monotonic() < until:
            try:
                if self.usage.files > self._most_files or not (self._waiting or self._trail):
                    self.close()
                elif self._waiting:
                    self._go_down(self._waiting.pop())
                else:
                    self._go_up()
            except OSError:
                self._break_off()

    def _go_down(self, name: str) -> None:
        try:
            below = _open(name, self._at)
        except OSError:
            return
        self._trail.append((_identity(self._at), self._waiting))
        os.close(self._at)
        self._at = below
        self._waiting = self._count(below)

    def _go_up(self) -> None:
        came_from, self._waiting = self._trail.pop()
        above = os.open("..", _FOLDER, dir_fd=self._at)
        os.close(self._at)
        self._at = above
        if _identity(above) != came_from:
            self._break_off()

    def _break_off(self) -> None:
        self.usage.whole = False
        self.close()

    def close(self) -> None:
        """Stop counting."""
        self.done = True
        if self._at >= 0:
            os.close(self._at)
            self._at = -1

    def _count(self, at: int) -> list[str]:
        """Count the entries of an open folder; the names of its folders."""
        folders: list[str] = []
        with os.scandir(at) as entries:
            for entry in entries:
                self.usage.files += 1
                if self.usage.files > self._most_files:
                    return []
                try:
                    found = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if stat.S_ISDIR(found.st_mode):
                    folders.append(entry.name)
                elif found.st_nlink > 1:
                    key = (found.st_dev, found.st_ino)
                    if key in self._linked:
                        continue
                    self._linked.add(key)
                self.usage.bytes += found.st_blocks * 512
        return folders


def _identity(at: int) -> tuple[int, int]:
    found = os.fstat(at)
    return found.st_dev, found.st_ino


def _open(name: str, at: int | None) -> int:
    """Open a folder; one that its owner closed is opened for the moment it takes, and closed
    again.
    """
    try:
        return os.open(name, _FOLDER, dir_fd=at)
    except PermissionError:
        with opened(
            name,
            os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW,
            at,
        ) as handle:
            mode = stat.S_IMODE(os.fstat(handle).st_mode)
            folder = Path(f"/proc/self/fd/{handle}")
            folder.chmod(mode | stat.S_IRUSR | stat.S_IXUSR)
            try:
                return os.open(
                    folder,
                    os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC,
                )
            finally:
                folder.chmod(mode)


def memory_usage(opened: int) -> DiskUsage:
    """What is in a memory file system, named or not, by its own count."""
    found = os.fstatvfs(opened)
    used = (found.f_blocks - found.f_bfree) * found.f_frsize
    return DiskUsage(
        used,
        max(0, found.f_files - found.f_ffree - 1),
    )


def free_bytes(path: Path) -> int:
    """Bytes that are still free for us where `path` lies."""
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


MOST_DESCRIPTORS = 20_000
"""Descriptors that one look goes through."""


@dataclass
class Nameless:
    """Files without a name, by device, and whether more may be hidden where its size cannot be
    read.
    """

    sizes: dict[tuple[int, int], int] = field(default_factory=dict)
    unsized: bool = False

    def on(self, device: int) -> int:
        """Bytes on one device."""
        return sum(size for (found, _), size in self.sizes.items() if found == device)

    def elsewhere(self, *devices: int) -> int:
        """Bytes on none of the devices: memory files."""
        return sum(size for (found, _), size in self.sizes.items() if found not in devices)


def open_nameless(processes: BoxProcesses) -> Nameless:
    """Files without a name that a process holds open."""
    found = Nameless()
    left = MOST_DESCRIPTORS
    for number in processes.numbers():
        left -= _add_open(found, processes.proc, f"{number}/fd")
        if left < 0:
            # Too many to look at each time; what is after the rest shows in the machine's free
            # space.
            found.unsized = True
            break
    return found


def deeply_nameless(processes: BoxProcesses, shm_device: int) -> Nameless:
    """Files without a name wherever they can be held; slow."""
    found = open_nameless(processes)
    proc = processes.proc
    left = 5 * MOST_DESCRIPTORS
    for number in processes.numbers():
        for task in listed(proc, f"{number}/task"):
            left -= _add_open(
                found,
                proc,
                f"{number}/task/{task}/fd",
            )
            if left < 0:
                found.unsized = True
                return found
        _add_mapped(found, proc, number, shm_device)
        for entry in listed(proc, f"{number}/fdinfo"):
            # A socket may hold descriptors that no one has received yet.
            _, sign, after = read_proc(proc, f"{number}/fdinfo/{entry}").partition(b"scm_fds:")
            found.unsized |= bool(sign) and int(after.split()[0]) > 0
    return found


def written_bytes(processes: BoxProcesses) -> int:
    """Bytes that all processes of the box, past ones too, have caused to be written to real
    disks.
    """
    total = 0
    for number in (
        *processes.numbers(),
        *map(str, processes.reapers),
    ):
        pairs = (
            line.split(b": ") for line in read_proc(processes.proc, f"{number}/io").splitlines()
        )
        counts = {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}
        total += counts.get(b"write_bytes", 0) - counts.get(b"cancelled_write_bytes", 0)
    return total


def _add_open(found: Nameless, proc: int, folder: str) -> int:
    """Note the nameless files after the descriptors in a folder of /proc; how many there were."""
    entries = listed(proc, folder)
    for entry in entries:
        _add(found, proc, f"{folder}/{entry}")
    return len(entries)


def _add(found: Nameless, proc: int, name: str) -> bool:
    """Note the file behind a link of /proc if it has no name; whether the link could be looked
    at.
    """
    try:
        known = os.stat(name, dir_fd=proc)
    except OSError:
        return False
    if stat.S_ISREG(known.st_mode) and not known.st_nlink:
        found.sizes[known.st_dev, known.st_ino] = known.st_blocks * 512
    return True


def _add_mapped(
    found: Nameless,
    proc: int,
    number: str,
    shm_device: int,
) -> None:
    in_memory = f"{os.major(shm_device):02x}:{os.minor(shm_device):02x}".encode()
    for line in read_proc(proc, f"{number}/maps", 1 << 22).splitlines():
        if not line.endswith(b" (deleted)"):
            continue
        area, _, _, device, _, name = line.split(None, 5)
        if device == in_memory or name.startswith((b"/memfd:", b"/dev/zero", b"/SYSV", b"/[")):
            continue
        if not _add(
            found,
            proc,
            f"{number}/map_files/{area.decode()}",
        ):
            found.unsized = True
