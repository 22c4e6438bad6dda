"""What the processes of a box use: how many tasks, how much memory, how much CPU time.

Read from /proc. Memory is anonymous and shared memory, not file pages: a program that maps a large
data set must not look like one that eats memory. Pages shared by forks count once (proportional
share), which is only computed when the plain sum is over the limit, since it is slow.

Also ends every process that we started, wherever it went: groups and sessions of its own do not
hide it.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from reenact.files import opened

_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Use:
    """One look at a box. Tasks are processes and threads together."""

    tasks: int = 0
    memory_bytes: int = 0
    """Sum over processes; what forks share is in it once for each of them."""
    shared_bytes: int = 0
    """The part of `memory_bytes` that is shared memory."""
    cpu_s: float = 0.0
    """Live processes and the children they have waited for."""


class BoxProcesses:
    """All processes of a PID namespace, seen through the box's own /proc, except the reaper in
    front.
    """

    def __init__(
        self,
        proc: int,
        reapers: frozenset[int] = frozenset({1}),
    ) -> None:
        self.proc = proc
        """Open descriptor of the /proc in which they are seen."""
        self.reapers = reapers
        """Processes of ours in front of the program: their times count, their memory and number
        do not.
        """

    def numbers(self) -> Iterator[str]:
        for name in listed(self.proc, "."):
            if name.isdigit() and int(name) not in self.reapers:
                yield name

    def use(self) -> Use:
        tasks = 0
        memory = 0
        shared = 0
        ticks = 0
        for number in (
            *self.numbers(),
            *map(str, self.reapers),
        ):
            # The fields of /proc/<number>/stat after the name: none when the process is gone.
            fields = read_proc(self.proc, f"{number}/stat").rpartition(b")")[2].split()
            # Times of the reaper count: it has waited for the orphans.
            ticks += sum(map(int, fields[11:15]))
            if not fields or int(number) in self.reapers:
                continue
            tasks += int(fields[17])
            anonymous, mapped = _kilobytes(
                self.proc,
                f"{number}/status",
                b"RssAnon:",
                b"RssShmem:",
            )
            memory += anonymous + mapped
            shared += mapped
        return Use(tasks, memory, shared, ticks / _TICK)

    def true_memory(self) -> tuple[int, int]:
        """Anonymous and shared bytes by proportional share."""
        files = [f"{number}/smaps_rollup" for number in self.numbers()]
        parts = [_kilobytes(self.proc, file, b"Pss_Anon:", b"Pss_Shmem:") for file in files]
        return sum(part[0] for part in parts), sum(part[1] for part in parts)

    def close(self) -> None:
        os.close(self.proc)


class Descendants(BoxProcesses):
    """All descendants of one process of this machine, for tiers without a PID namespace."""

    def __init__(self, root: int) -> None:
        super().__init__(
            os.open(
                "/proc",
                os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC,
            ),
            frozenset({root}),
        )

    def numbers(self) -> Iterator[str]:
        yield from map(str, descendants(*self.reapers))


def descendants(root: int, *, dead: bool = True) -> list[int]:
    """The numbers of all processes below `root`.

    A killed process whose parent has not looked yet is still there, unless `dead` is false.
    """
    import psutil

    try:
        found = psutil.Process(root).children(recursive=True)
    except psutil.NoSuchProcess:
        return []

    def lives(process: psutil.Process) -> bool:
        with suppress(psutil.NoSuchProcess):
            return process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
        return False

    return [one.pid for one in found if dead or lives(one)]


def read_proc(proc: int, name: str, most: int = 16384) -> bytes:
    """The content of a file of /proc; empty when the process is gone or not ours to look into."""
    content = b""
    with suppress(OSError), opened(name, os.O_RDONLY, proc) as file:
        # One read may give less than there is, since the kernel fills a page at a time.
        while len(content) < most and (
            part := os.read(
                file,
                most - len(content),
            )
        ):
            content += part
        return content
    return b""


def _kilobytes(proc: int, name: str, *wanted: bytes) -> list[int]:
    """Figures of a file of `Name:  123 kB` lines, in bytes; 0 for one that is not there."""
    text = read_proc(proc, name)
    return [
        1024
        * int(
            (
                text.partition(label)[2].split(
                    None,
                    1,
                )
                or [b"0"]
            )[0]
        )
        for label in wanted
    ]


def listed(proc: int, name: str) -> list[str]:
    """The entries of a folder of /proc; none when the process is gone."""
    with (
        suppress(OSError),
        opened(
            name,
            os.O_RDONLY | os.O_DIRECTORY,
            proc,
        ) as folder,
    ):
        return os.listdir(folder)  # noqa: PTH208 - an open folder has no path
    return []


ROUNDS = 20
"""A process may start another one while we look; so many looks and none is left, or they breed
on purpose.
"""


def end_below(root: int) -> None:
    """Kill every process below `root`, at once."""
    for _ in range(ROUNDS):
        alive = descendants(root, dead=False)
        if not alive:
            return
        end_all(alive)


def end_all(numbers: list[int]) -> None:
    """Kill these processes, at once; those that have ended by themselves are passed over."""
    for number in numbers:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(number, signal.SIGKILL)
