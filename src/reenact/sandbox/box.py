"""What goes into a box and what comes out: Command, Limits, BoxResult, and the protocol of a
sandbox.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from reenact.types import Stop

MIB = 1024 * 1024


class Ending(StrEnum):
    """How an execution ended. Only ok, exit and signal say anything about the program."""

    OK = "ok"
    """The program ended by itself with exit code 0."""
    EXIT = "exit"
    """The program ended by itself with another exit code."""
    SIGNAL = "signal"
    """The program died of a signal that the sandbox did not send, other than SIGKILL."""
    KILLED = "killed"
    """A SIGKILL that the sandbox did not send: the kernel of a machine without memory, a person, or
    the program itself, which look the same from outside. `sandbox.again` runs such a box again.
    """
    TIMEOUT = "timeout"
    """Wall or CPU time was used up; the box was ended."""
    MEMORY_LIMIT = "memory-limit"
    """The processes of the box together used more memory than allowed."""
    DISK_LIMIT = "disk-limit"
    """The box wrote more bytes than allowed."""
    FILE_LIMIT = "file-limit"
    """The box made more files than allowed."""
    PROCESS_LIMIT = "process-limit"
    """The box had more processes and threads than allowed."""
    OUTPUT_LIMIT = "output-limit"
    """The program printed more than allowed."""
    RESULT_REFUSED = "result-refused"
    """A result file was a link, a device, too large or otherwise not to be read."""
    CANCELLED = "cancelled"
    """The run was asked to stop."""
    SANDBOX_FAILED = "sandbox-failed"
    """The box itself did not work; nothing is known about the program."""

    @property
    def is_evidence(self) -> bool:
        """Whether this ending may count as evidence about the program."""
        return self in (Ending.OK, Ending.EXIT, Ending.SIGNAL)


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder or file of the host, seen read-only inside."""

    source: Path
    target: str
    """Absolute path inside the box. Tiers without namespaces can show a source only at its own path
    or below the work folder (`/box/work`).
    """


@dataclass(frozen=True, slots=True)
class Command:
    """One thing to execute, with all that it may see."""

    argv: tuple[str, ...]
    """The program and its words. It starts in the work folder: name files there by relative
    paths.
    """
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files written into the work folder before the start, by relative name."""
    workspace: Path | None = None
    """A host folder whose content is copied into the work folder; the original is never touched."""
    mounts: tuple[Mount, ...] = ()
    """Read-only views of host folders: data sets, a prepared virtual environment, graders."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables added to the clean allow-listed environment. Never secrets."""
    stdin: bytes = b""
    collect: tuple[str, ...] = ()
    """Relative names of result files to read back. Links, devices, oversized files are refused.
    JSON among them is read with `results.read_json`.
    """


@dataclass(frozen=True, slots=True)
class Limits:
    """What an execution may use. Crossing one is an ending of its own."""

    wall_s: float = 60.0
    cpu_s: float | None = None
    """CPU seconds over all processes; none means only wall time counts."""
    memory_bytes: int = 4096 * MIB
    """Anonymous and shared memory of all processes; pages of mapped files do not count."""
    disk_bytes: int = 1024 * MIB
    """Bytes in the work folder, /tmp and /dev/shm together."""
    files: int = 20_000
    processes: int = 512
    """Processes and threads together."""
    output_bytes: int = 16 * MIB
    """Printed bytes after which the program is ended. What is kept is head and tail."""
    keep_bytes: int = 64 * 1024
    """Bytes of output kept in the result, half from the head, half from the tail."""
    result_bytes: int = 16 * MIB
    """Largest single collected file."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something denied or noticed during a run that is not an ending, for example a network
    access.
    """

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class BoxResult:
    """How an execution ended, what it used, what it printed."""

    ending: Ending
    tier: str
    exit_code: int | None = None
    """The program's status. Where a shell is between, 129 to 192 read as the signal that
    shells mean.
    """
    signal: int | None = None
    why: str = ""
    """For endings that are not about the program: which limit, which refusal, what broke."""
    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    output: str = ""
    """Head and tail of what was printed, control sequences removed, the cut marked in words."""
    output_dropped_bytes: int = 0
    results: Mapping[str, bytes] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    """`network-denied`, `result-missing`, `result-refused` (when a limit was crossed too),
    `listener-failed`, `left-behind` (what could not be removed, or is still being removed).
    """

    @property
    def ok(self) -> bool:
        return self.ending is Ending.OK


OnOutput = Callable[[bytes], None]
"""Hears what is printed while it is printed: UTF-8, cleaned of control sequences. The supervisor
calls it and waits for it; an exception ends the listening, not the program.
"""


class Sandbox(Protocol):
    """A tier: one way to execute untrusted programs."""

    name: str

    def run(
        self,
        command: Command,
        limits: Limits,
        *,
        on_output: OnOutput | None = None,
        stop: Stop | None = None,
    ) -> BoxResult:
        """Execute once in a fresh box. Raises only for a wrong Command; all else is a BoxResult."""

    def missing(self) -> str:
        """Empty when this tier works here, else one sentence: what is missing and how to get it."""

    def does_not_stop(self) -> tuple[str, ...]:
        """Plain words for what this tier cannot keep in."""
