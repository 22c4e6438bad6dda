"""A box that has been started, the same for every tier; looks at it and says when it has crossed a
limit.

Where a control group is in force the kernel limits memory and tasks and this only asks what it
refused; otherwise looking is all there is, and a program may overshoot for the length of one look.
Disk is always looked at: each look is cheap (free space, /dev/shm), the walk through the tree is
rare, unless free space says that much was written. Never used: RLIMIT_AS (GPU drivers mirror device
memory in address space, so it fakes a GPU out-of-memory), RLIMIT_DATA and RLIMIT_FSIZE (they
surface as errors of the program, which would then be blamed).
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from reenact.sandbox import disk
from reenact.sandbox.box import MIB, Ending, Event, Limits
from reenact.sandbox.cgroup import Group
from reenact.sandbox.files.folder import BoxFolder
from reenact.sandbox.processes import BoxProcesses, Use


class NetworkCounters:
    """Notices that a program without a network tried to reach one.

    The box has a network namespace with loopback alone. Every packet or connection to any other
    address finds no route, and the kernel counts that, per namespace. The counters are opened while
    the box is started and can be read after its last process is gone. Covered: TCP, UDP, IPv4,
    IPv6, name look-ups (the box's resolver has an address outside). Not covered: which address was
    tried.
    """

    def __init__(self, pid: int) -> None:
        """`pid` is a process in the box, by its number on the host."""
        counters = [Path(f"/proc/{pid}/net/{name}") for name in ("snmp", "snmp6")]
        self._files = [
            os.open(
                name,
                os.O_RDONLY | os.O_CLOEXEC,
            )
            for name in counters
            if name.exists()
        ]

    def refused(self) -> int:
        """How often something was sent to an address outside."""
        return sum(count_no_routes(os.pread(opened, 65536, 0).decode()) for opened in self._files)

    def events(self) -> tuple[Event, ...]:
        """What to tell of it: one event, or none."""
        count = self.refused()
        if not count:
            return ()
        times = "once" if count == 1 else f"{count} times"
        sentence = f"An address outside the box was tried {times}; the box has no network."
        return (Event("network-denied", sentence),)

    def close(self) -> None:
        for opened in self._files:
            os.close(opened)


def count_no_routes(text: str) -> int:
    """The count of packets without a route, in either of the two layouts the kernel writes."""
    if named := re.search(r"^Ip6OutNoRoutes\s+(\d+)", text, re.MULTILINE):
        return int(named[1])
    rows = [line.split() for line in text.splitlines() if line.startswith("Ip:")]
    if len(rows) > 1:
        return int(rows[1][rows[0].index("OutNoRoutes")])
    return 0


class BoxBroke(Exception):
    """The box itself failed; the program in it is not to blame."""


class LauncherKilled(BoxBroke):
    """Somebody sent SIGKILL to the launcher of the box, which takes the program with it."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A limit that was crossed: the ending it makes and the words for it."""

    ending: Ending
    why: str


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How the program in the box ended: one of the first two, and what the tier knows to have
    caused it.
    """

    exit_code: int | None = None
    signal: int | None = None
    crossing: Crossing | None = None

    @classmethod
    def from_shell(cls, status: int) -> ProgramEnd:
        """Read a status as shells write it, where 128 and more means one of 64 signals."""
        if 128 < status <= 128 + 64:
            return cls(signal=status - 128)
        return cls(exit_code=status)


@dataclass
class Started:
    """One running box. `close` frees what it holds; the processes must be gone by then."""

    process: subprocess.Popen[bytes]
    """The process on the host whose end is the end of the whole box."""
    output: int
    """Descriptor from which everything printed is read."""
    folder: BoxFolder
    kill: Callable[[], None]
    """Ends every process of the box by SIGKILL; may be called more than once."""
    ended: Callable[[int], ProgramEnd]
    """Turns the wait status of `process` into the program's end; raises BoxBroke when the box
    failed.
    """
    input: int | None = None
    """Descriptor to which standard input is written."""
    processes: BoxProcesses | None = None
    group: Group | None = None
    network: NetworkCounters | None = None
    memory_file_system: int | None = None
    """Descriptor of the box's /dev/shm when that is its own."""
    descriptors: list[int] = field(default_factory=list)
    """Others to close in the end."""
    after: Callable[[], None] = field(default=lambda: None)
    """The tier's own clearing up."""

    def close(self) -> None:
        self.after()
        for number in (
            self.output,
            self.input,
            self.memory_file_system,
            *self.descriptors,
        ):
            if number is not None:
                os.close(number)
        for part in (self.processes, self.network, self.group):
            if part is not None:
                part.close()


PACE_S = 0.05
_WALK_SHARE = 5
"""A walk through the tree may take a fifth of the time."""
_LONGEST_WALK_S = 0.1
"""Time one look may spend walking."""
HOST_RESERVE_BYTES = 128 * MIB
"""Free space on the host's disk below which a box is ended."""


class Watcher:
    """Watches one box."""

    def __init__(self, box: Started, limits: Limits) -> None:
        self._box = box
        self._limits = limits
        self._next_walk = 0.0
        self._next_urgent_walk = 0.0
        self._usage = disk.DiskUsage()
        self._unfinished: disk.Walk | None = None
        self._nameless_memory = 0
        self._free_at_start = self._free_at_walk = disk.free_bytes(box.folder.path)
        self.peak_memory_bytes = 0
        self.cpu_s = 0.0

    def look(self, *, last: bool = False) -> Crossing | None:
        """One look; the first limit found crossed, if any. The last one, after the end, sees what
        the kernel refused and all that was left on disk.
        """
        return self._refusals() or (None if last else self._use()) or self._disk(last=last)

    def count_cpu(self) -> None:
        """Before a kill: the kernel forgets the CPU time of processes that die with their
        namespace.
        """
        if self._box.processes is not None:
            self.cpu_s = max(self.cpu_s, self._box.processes.use().cpu_s)

    def _refusals(self) -> Crossing | None:
        group = self._box.group
        if group is not None and group.out_of_memory():
            return self._memory_crossing()
        if group is not None and group.task_refused():
            return self._task_crossing()
        return None

    def _use(self) -> Crossing | None:
        group = self._box.group
        limits = self._limits
        memory = group.memory_used() if group else None
        tasks = group.tasks() if group else None
        if limits.cpu_s is None and memory is not None and tasks is not None:
            self.peak_memory_bytes = max(self.peak_memory_bytes, memory)
            return None
        if self._box.processes is None:
            return None
        use = self._box.processes.use()
        self.cpu_s = max(self.cpu_s, use.cpu_s)
        if limits.cpu_s is not None and use.cpu_s > limits.cpu_s:
            return Crossing(
                Ending.TIMEOUT,
                f"cpu time: more than {limits.cpu_s:g} s",
            )
        if use.tasks > limits.processes:
            return self._task_crossing()
        if memory is None:
            memory = self._memory(use)
        self.peak_memory_bytes = max(self.peak_memory_bytes, memory)
        if memory > limits.memory_bytes:
            return self._memory_crossing()
        return None

    def _memory(self, use: Use) -> int:
        """Bytes held by the processes; the slow exact count only when the quick one is over the
        limit.
        """
        nameless = self._shm().bytes + self._nameless_memory
        quick = use.memory_bytes + nameless
        if quick <= self._limits.memory_bytes or self._box.processes is None:
            return max(use.memory_bytes, quick - use.shared_bytes)
        anonymous, shared = self._box.processes.true_memory()
        return anonymous + max(shared, nameless)

    def _disk(self, *, last: bool = False) -> Crossing | None:
        free = disk.free_bytes(self._box.folder.path)
        shm = self._shm()
        written = self._free_at_walk - free
        bytes_left = self._limits.disk_bytes - self._usage.bytes - shm.bytes
        now = time.monotonic()
        urgent = written > bytes_left / 2 and now >= self._next_urgent_walk
        if last or urgent or now >= self._next_walk or self._unfinished is not None:
            self._walk(now, free, last=last)
        if self._usage.files + shm.files > self._limits.files:
            return Crossing(Ending.FILE_LIMIT, f"files: more than {self._limits.files}")
        if self._usage.bytes + shm.bytes > self._limits.disk_bytes:
            return Crossing(
                Ending.DISK_LIMIT,
                f"disk: more than {_size(self._limits.disk_bytes)}",
            )
        if not last and free < HOST_RESERVE_BYTES:
            why = f"disk: the machine itself has less than {_size(HOST_RESERVE_BYTES)} left"
            return Crossing(Ending.DISK_LIMIT, why)
        return None

    def _walk(self, now: float, free: int, *, last: bool) -> None:
        """Walk the tree, or a part of it and the rest with the next looks, so that no look
        takes long.
        """
        walk = self._unfinished or disk.Walk(
            self._box.folder.inside,
            self._limits.files,
        )
        walk.go_on(math.inf if last else now + _LONGEST_WALK_S)
        self._unfinished = None if walk.done else walk
        usage = replace(walk.usage)
        if self._box.processes is not None:
            known = usage.bytes if walk.done else max(usage.bytes, self._usage.bytes)
            usage.bytes += self._nameless_bytes(self._box.processes, known, free)
        if not (walk.done and usage.whole):
            # A walk that is not over, or that a rename cut short, only adds to what is known.
            usage = disk.DiskUsage(
                max(usage.bytes, self._usage.bytes), max(usage.files, self._usage.files)
            )
        self._usage = usage
        self._free_at_walk = free
        done = time.monotonic()
        self._next_walk = done + max(PACE_S, _WALK_SHARE * (done - now))
        self._next_urgent_walk = done + (done - now)

    def close(self) -> None:
        """Free what an unfinished walk holds open."""
        if self._unfinished is not None:
            self._unfinished.close()

    def _nameless_bytes(
        self,
        processes: BoxProcesses,
        visible: int,
        free: int,
    ) -> int:
        """Size of files without a name; looked for deeply when the visible ones do not explain
        the loss.
        """
        device = self._box.folder.inside.stat().st_dev
        shm = self._box.memory_file_system
        shm_device = 0
        if shm is not None:
            shm_device = os.fstat(shm).st_dev
        found = disk.open_nameless(processes)
        unexplained = self._free_at_start - free - visible - found.on(device)
        if unexplained > self._limits.disk_bytes:
            unexplained = min(
                unexplained, disk.written_bytes(processes) - visible - found.on(device)
            )
        if unexplained > self._limits.disk_bytes:
            found = disk.deeply_nameless(processes, shm_device)
            if found.unsized:
                return unexplained
        self._nameless_memory = found.elsewhere(device, shm_device)
        return found.on(device)

    def _shm(self) -> disk.DiskUsage:
        opened = self._box.memory_file_system
        if opened is None:
            return disk.DiskUsage()
        return disk.memory_usage(opened)

    def _memory_crossing(self) -> Crossing:
        self.peak_memory_bytes = max(self.peak_memory_bytes, self._limits.memory_bytes)
        return Crossing(
            Ending.MEMORY_LIMIT, f"memory: more than {_size(self._limits.memory_bytes)}"
        )

    def _task_crossing(self) -> Crossing:
        return Crossing(
            Ending.PROCESS_LIMIT,
            f"processes and threads: more than {self._limits.processes}",
        )


def _size(count: int) -> str:
    return f"{count / MIB:g} MiB"
