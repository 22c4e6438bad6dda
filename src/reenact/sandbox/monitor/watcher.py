"""Looks at a running box and says when it has crossed a limit.

Where a control group is in force the kernel limits memory and tasks and this only asks what it refused;
otherwise looking is all there is, and a program may overshoot for the length of one look. Disk is always
looked at: each look is cheap (free space, /dev/shm), the walk through the tree is rare, unless free space
says that much was written.
Never used: RLIMIT_AS (GPU drivers mirror device memory in address space, so it fakes a GPU out-of-memory),
RLIMIT_DATA and RLIMIT_FSIZE (they surface as errors of the program, which would then be blamed).
"""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace

from reenact.sandbox.box import MIB, Ending, Limits
from reenact.sandbox.monitor.disk import (
    DiskUsage,
    Walk,
    deeply_nameless,
    free_bytes,
    memory_usage,
    open_nameless,
    written_bytes,
)
from reenact.sandbox.monitor.processes import Processes, Use
from reenact.sandbox.monitor.started import Crossing, Started

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
        self._usage = DiskUsage()
        self._unfinished: Walk | None = None
        self._nameless_memory = 0
        self._free_at_start = self._free_at_walk = free_bytes(box.folder.path)
        self.peak_memory_bytes = 0
        self.cpu_s = 0.0

    def look(self) -> Crossing | None:
        """One look; the first limit found crossed, if any."""
        return self._refusals() or self._use() or self._disk()

    def count_cpu(self) -> None:
        """Before a kill: the kernel forgets the CPU time of processes that die with their namespace."""
        if self._box.processes is not None:
            self.cpu_s = max(self.cpu_s, self._box.processes.use().cpu_s)

    def last_look(self) -> Crossing | None:
        """After the end: what the kernel refused, and all that was left on disk."""
        return self._refusals() or self._disk(last=True)

    def _refusals(self) -> Crossing | None:
        group = self._box.group
        if group is None:
            return None
        if group.out_of_memory():
            return self._memory_crossing()
        if group.task_refused():
            return self._task_crossing()
        return None

    def _use(self) -> Crossing | None:
        group, limits = self._box.group, self._limits
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
            return Crossing(Ending.TIMEOUT, f"cpu time: more than {limits.cpu_s:g} s")
        if use.tasks > limits.processes:
            return self._task_crossing()
        if memory is None:
            memory = self._memory(use)
        self.peak_memory_bytes = max(self.peak_memory_bytes, memory)
        return self._memory_crossing() if memory > limits.memory_bytes else None

    def _memory(self, use: Use) -> int:
        """Bytes held by the processes; the slow exact count only when the quick one is over the limit."""
        nameless = self._shm().bytes + self._nameless_memory
        quick = use.memory_bytes + nameless
        if quick <= self._limits.memory_bytes or self._box.processes is None:
            return max(use.memory_bytes, quick - use.shared_bytes)
        anonymous, shared = self._box.processes.true_memory()
        return anonymous + max(shared, nameless)

    def _disk(self, *, last: bool = False) -> Crossing | None:
        free = free_bytes(self._box.folder.path)
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
            return Crossing(Ending.DISK_LIMIT, f"disk: more than {_size(self._limits.disk_bytes)}")
        if not last and free < HOST_RESERVE_BYTES:
            return Crossing(
                Ending.DISK_LIMIT, f"disk: the machine itself has less than {_size(HOST_RESERVE_BYTES)} left"
            )
        return None

    def _walk(self, now: float, free: int, *, last: bool) -> None:
        """Walk the tree, or a part of it and the rest with the next looks, so that no look takes long."""
        walk = self._unfinished or Walk(self._box.folder.inside, self._limits.files)
        walk.go_on(math.inf if last else now + _LONGEST_WALK_S)
        self._unfinished = None if walk.done else walk
        usage = replace(walk.usage)
        if self._box.processes is not None:
            known = usage.bytes if walk.done else max(usage.bytes, self._usage.bytes)
            usage.bytes += self._nameless_bytes(self._box.processes, known, free)
        if not (walk.done and usage.whole):
            # A walk that is not over, or that a rename cut short, only adds to what is known.
            usage = DiskUsage(max(usage.bytes, self._usage.bytes), max(usage.files, self._usage.files))
        self._usage = usage
        self._free_at_walk = free
        done = time.monotonic()
        self._next_walk = done + max(PACE_S, _WALK_SHARE * (done - now))
        self._next_urgent_walk = done + (done - now)

    def close(self) -> None:
        """Free what an unfinished walk holds open."""
        if self._unfinished is not None:
            self._unfinished.close()

    def _nameless_bytes(self, processes: Processes, visible: int, free: int) -> int:
        """Size of files without a name; looked for deeply when the visible ones do not explain the loss."""
        disk = self._box.folder.inside.stat().st_dev
        shm = self._box.memory_file_system
        shm_device = 0 if shm is None else os.fstat(shm).st_dev
        found = open_nameless(processes)
        unexplained = self._free_at_start - free - visible - found.on(disk)
        if unexplained > self._limits.disk_bytes:
            unexplained = min(unexplained, written_bytes(processes) - visible - found.on(disk))
        if unexplained > self._limits.disk_bytes:
            found = deeply_nameless(processes, shm_device)
            if found.unsized:
                return unexplained
        self._nameless_memory = found.elsewhere(disk, shm_device)
        return found.on(disk)

    def _shm(self) -> DiskUsage:
        opened = self._box.memory_file_system
        return DiskUsage() if opened is None else memory_usage(opened)

    def _memory_crossing(self) -> Crossing:
        self.peak_memory_bytes = max(self.peak_memory_bytes, self._limits.memory_bytes)
        return Crossing(Ending.MEMORY_LIMIT, f"memory: more than {_size(self._limits.memory_bytes)}")

    def _task_crossing(self) -> Crossing:
        return Crossing(Ending.PROCESS_LIMIT, f"processes and threads: more than {self._limits.processes}")


def _size(count: int) -> str:
    return f"{count / MIB:g} MiB"
