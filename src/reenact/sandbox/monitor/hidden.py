"""Finds room on disk that no walk of a tree can see: files that were unlinked but are still held.

Each look finds those that a process holds open. A program may hide them better: mapped but not open, in the
descriptor table of a single thread, in flight in a unix socket. A deep look is taken when the machine has
lost more space than the visible files explain and the box has written that much (`written_bytes`; the
filter of system calls refuses fallocate, which would take room without writing). It sizes what can be sized
and says whether there is a hiding place whose content cannot.
Not covered: a neighbour that frees as much space as the box hides; the host's reserve is watched for that.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field

from reenact.sandbox.monitor.processes import Processes, listed, read_proc

MOST_DESCRIPTORS = 20_000
"""Descriptors that one look goes through."""


@dataclass
class Nameless:
    """Files without a name, by device, and whether more may be hidden where its size cannot be read."""

    sizes: dict[tuple[int, int], int] = field(default_factory=dict)
    unsized: bool = False

    def on(self, device: int) -> int:
        """Bytes on one device."""
        return sum(size for (found, _), size in self.sizes.items() if found == device)

    def elsewhere(self, *devices: int) -> int:
        """Bytes on none of the devices: memory files."""
        return sum(size for (found, _), size in self.sizes.items() if found not in devices)


def open_nameless(processes: Processes) -> Nameless:
    """Files without a name that a process holds open."""
    found = Nameless()
    left = MOST_DESCRIPTORS
    for number in processes.numbers():
        left -= _add_open(found, processes.proc, f"{number}/fd")
        if left < 0:
            # Too many to look at each time; what is behind the rest shows in the machine's free space.
            found.unsized = True
            break
    return found


def deeply_nameless(processes: Processes, shm_device: int) -> Nameless:
    """Files without a name wherever they can be held; slow."""
    found = open_nameless(processes)
    left = 5 * MOST_DESCRIPTORS
    for number in processes.numbers():
        for task in listed(processes.proc, f"{number}/task"):
            left -= _add_open(found, processes.proc, f"{number}/task/{task}/fd")
            if left < 0:
                found.unsized = True
                return found
        _add_mapped(found, processes.proc, number, shm_device)
        for entry in listed(processes.proc, f"{number}/fdinfo"):
            found.unsized |= _holds_flying(read_proc(processes.proc, f"{number}/fdinfo/{entry}"))
    return found


def written_bytes(processes: Processes) -> int:
    """Bytes that all processes of the box, past ones too, have caused to be written to real disks."""
    total = 0
    for number in (*processes.numbers(), *map(str, processes.reapers)):
        pairs = (line.split(b": ") for line in read_proc(processes.proc, f"{number}/io").splitlines())
        counts = {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}
        total += counts.get(b"write_bytes", 0) - counts.get(b"cancelled_write_bytes", 0)
    return total


def _add_open(found: Nameless, proc: int, folder: str) -> int:
    """Note the nameless files behind the descriptors in a folder of /proc; how many there were."""
    entries = listed(proc, folder)
    for entry in entries:
        _add(found, proc, f"{folder}/{entry}")
    return len(entries)


def _add(found: Nameless, proc: int, name: str) -> bool:
    """Note the file behind a link of /proc if it has no name; whether the link could be looked at."""
    try:
        known = os.stat(name, dir_fd=proc)
    except OSError:
        return False
    if stat.S_ISREG(known.st_mode) and not known.st_nlink:
        found.sizes[known.st_dev, known.st_ino] = known.st_blocks * 512
    return True


def _add_mapped(found: Nameless, proc: int, number: str, shm_device: int) -> None:
    in_memory = f"{os.major(shm_device):02x}:{os.minor(shm_device):02x}".encode()
    for line in read_proc(proc, f"{number}/maps", 1 << 22).splitlines():
        if not line.endswith(b" (deleted)"):
            continue
        area, _, _, device, _, name = line.split(None, 5)
        if device == in_memory or name.startswith((b"/memfd:", b"/dev/zero", b"/SYSV", b"/[")):
            continue
        if not _add(found, proc, f"{number}/map_files/{area.decode()}"):
            found.unsized = True


def _holds_flying(text: bytes) -> bool:
    """Whether a socket holds descriptors that nobody has received yet."""
    _, sign, after = text.partition(b"scm_fds:")
    return bool(sign) and int(after.split()[0]) > 0
