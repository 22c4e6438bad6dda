"""Notices that a program without a network tried to reach one.

The box has a network namespace with loopback alone. Every packet or connection to any other address finds
no route, and the kernel counts that, per namespace. The counters are opened while the box is started and
can be read after its last process is gone. Covered: TCP, UDP, IPv4, IPv6, name look-ups (the box's resolver
has an address outside). Not covered: which address was tried.

A box that has been started, as the supervisor sees it; the same for every tier.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field

from reenact.sandbox.box import Ending, Event
from reenact.sandbox.files.folder import BoxFolder
from reenact.sandbox.isolation.cgroup import Group
from reenact.sandbox.monitor.processes import Processes


class NetworkCounters:
    """The network counters of one box."""

    def __init__(self, pid: int) -> None:
        """`pid` is a process in the box, by its number on the host."""
        self._files = tuple(
            os.open(f"/proc/{pid}/net/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in _present(pid)
        )

    def refused(self) -> int:
        """How often something was sent to an address outside."""
        return sum(count_no_routes(os.pread(opened, 65536, 0).decode()) for opened in self._files)

    def events(self) -> tuple[Event, ...]:
        """What to tell of it: one event, or none."""
        count = self.refused()
        if not count:
            return ()
        times = "once" if count == 1 else f"{count} times"
        return (
            Event("network-denied", f"An address outside the box was tried {times}; the box has no network."),
        )

    def close(self) -> None:
        for opened in self._files:
            os.close(opened)


def _present(pid: int) -> list[str]:
    return [name for name in ("snmp", "snmp6") if os.path.exists(f"/proc/{pid}/net/{name}")]  # noqa: PTH110


def count_no_routes(text: str) -> int:
    """The count of packets without a route, in either of the two layouts the kernel writes."""
    names: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0] == "Ip6OutNoRoutes":
            return int(words[1])
        if words and words[0] == "Ip:":
            if names:
                return int(words[names.index("OutNoRoutes")])
            names = words
    return 0


class BoxBroke(Exception):
    """The box itself failed; the program in it is not to blame."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A limit that was crossed: the ending it makes and the words for it."""

    ending: Ending
    why: str


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How the program in the box ended: one of the first two, and what the tier knows to have caused it."""

    exit_code: int | None = None
    signal: int | None = None
    crossing: Crossing | None = None

    @classmethod
    def from_shell(cls, status: int) -> ProgramEnd:
        """Read a status as shells write it, where 128 and more means a signal."""
        last_signal = 64
        if 128 < status <= 128 + last_signal:
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
    """Turns the wait status of `process` into the program's end; raises BoxBroke when the box failed."""
    input: int | None = None
    """Descriptor to which standard input is written."""
    processes: Processes | None = None
    group: Group | None = None
    network: NetworkCounters | None = None
    memory_file_system: int | None = None
    """Descriptor of the box's /dev/shm when that is its own."""
    descriptors: list[int] = field(default_factory=list)
    """Others to close in the end."""
    after: Callable[[], None] = field(default=lambda: None)
    """The tier's own clearing up, once."""

    def close(self) -> None:
        self.after()
        self.after = lambda: None
        numbers = [self.output, self.input, self.memory_file_system, *self.descriptors]
        self.output, self.input, self.memory_file_system, self.descriptors = -1, None, None, []
        for number in numbers:
            if number is not None and number >= 0:
                os.close(number)
        for part in (self.processes, self.network, self.group):
            if part is not None:
                part.close()
        self.processes = self.network = self.group = None
