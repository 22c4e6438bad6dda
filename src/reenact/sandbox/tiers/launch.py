"""What every tier needs to start a program that is held back until its limits and counters are in
place.

A box has started when the launcher named its first process; a box has ended well when the launcher
reported the program's status. All else is the box's own failure and no verdict on the program.
"""

import functools
import os
import re
import resource
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from reenact.host_program import start_launcher
from reenact.sandbox.box import Command, Limits
from reenact.sandbox.cgroup import Group, Place, make_group
from reenact.sandbox.files.folder import BoxFolder
from reenact.sandbox.processes import BoxProcesses
from reenact.sandbox.watcher import BoxBroke, LauncherKilled, ProgramEnd, Started

_LOOK = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
OPEN_FILES = 4096
HELD_END_S = 2.0
"""So long may a launcher take to end after its first process has."""
KILLED_CODES = (-signal.SIGKILL, 128 + signal.SIGKILL)
"""Of a launcher that was killed, or whose first process in the box was before the box was made."""
KILLED_EARLY = "the box was killed before its program began"
# Process 1 of a box: reaps orphans, and ends when the program ends. The subshell becomes the
# program; the shell keeps its own words ("Killed") out of the program's output.
REAPER = (
    "/bin/sh",
    "-c",
    'exec 3>&2 2>/dev/null; ( exec "$@" 2>&3 3>&- ); exit $?',
    "sh",
)


class Status:
    """What a launcher reports on its status descriptor: the first process, then how the program
    ended.
    """

    def __init__(self, descriptor: int, *, by_shell: bool) -> None:
        """`by_shell` says that a shell is between, which reports a signal as 128 and more."""
        self._descriptor = descriptor
        self._by_shell = by_shell
        self._received = b""
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def child(self, deadline: float) -> int | None:
        """The number of the first process on the host; none when the launcher ended without one."""
        while self._poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            part = os.read(self._descriptor, 4096)
            self._received += part
            found = re.search(rb'"child-pid": (\d+)\D', self._received)
            if found is not None or not part:
                return int(found[1]) if found else None
        return None

    def ended(self, status: int) -> ProgramEnd:
        """The program's end, once the launcher has ended with `status`."""
        while part := os.read(self._descriptor, 4096):
            self._received += part
        killed = re.search(rb'"signal": (\d+)', self._received)
        if killed is not None:
            return ProgramEnd(signal=int(killed[1]))
        found = re.search(rb'"exit-code": (\d+)', self._received)
        if found is None:
            code = os.waitstatus_to_exitcode(status)
            why = f"its launcher ended with status {code} and did not report one of the program"
            raise LauncherKilled(why) if code in KILLED_CODES else BoxBroke(why)
        if self._by_shell:
            return ProgramEnd.from_shell(int(found[1]))
        return ProgramEnd(exit_code=int(found[1]))


def join_group(
    place: Place | None,
    folder: BoxFolder,
    pid: int,
    limits: Limits,
) -> Group | None:
    """Put the process into a control group of its own, where there is a place for one."""
    if place is None:
        return None
    for path in place.folders(folder.path.name):
        folder.note("cgroup", path)
    with suppress(OSError):
        return make_group(place, folder.path.name, limits, pid)
    return None


def limit_process(pid: int) -> None:
    """Set what every program is limited to by itself: no core files, a bounded number of open
    files.
    """
    resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
    lower_limit(pid, resource.RLIMIT_NOFILE, OPEN_FILES)


def lower_limit(pid: int, what: int, most: int) -> None:
    """Lower a limit of a process, for good; one that is lower already stays."""
    _, hard = resource.prlimit(pid, what)
    if hard == resource.RLIM_INFINITY or hard > most:
        resource.prlimit(pid, what, (most, most))


def _open_pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """A pipe whose two ends are closed with their owners."""
    read, write = os.pipe()
    reader.callback(os.close, read)
    writer.callback(os.close, write)
    return read, write


def look_into(box: Started, pid: int) -> None:
    """Open what reports a box with namespaces of its own; `pid` is a process in it, as the
    host counts.
    """
    box.processes = BoxProcesses(
        os.open(
            f"/proc/{pid}/root/proc",
            _LOOK,
        )
    )
    box.memory_file_system = os.open(
        f"/proc/{pid}/root/dev/shm",
        _LOOK,
    )


def signal_child(process: subprocess.Popen[bytes], number: int = signal.SIGKILL) -> None:
    """Send a signal to a child that is not reaped yet. Popen's own way may reap it and so lose
    its times.
    """
    if process.returncode is None:
        os.kill(process.pid, number)


def launch(
    words: Callable[
        [
            int,
            int,
            Callable[[bytes], int],
        ],
        Sequence[str],
    ],
    hold: Callable[[Started, Status], None],
    folder: BoxFolder,
    command: Command,
    *,
    environment: Mapping[str, str],
    start_in: str | Path,
    by_shell: bool,
) -> Started:
    """A running box. The launcher gets the descriptors of its status and of the gate before the
    program.

    `words` makes the launcher and its arguments of both, and of files in memory that it may name;
    `hold` limits the program and opens what is read of it, while it waits at the gate.
    """
    with ExitStack() as theirs, ExitStack() as ours:
        status, their_status = _open_pipe(ours, theirs)
        their_gate, gate = _open_pipe(theirs, ours)
        passed = [their_status, their_gate]

        def in_memory(content: bytes) -> int:
            """A nameless file with the content, to be read from its start."""
            opened = os.memfd_create("reenact", os.MFD_CLOEXEC)
            theirs.callback(os.close, opened)
            os.write(opened, content)
            os.lseek(opened, 0, os.SEEK_SET)
            passed.append(opened)
            return opened

        report = Status(status, by_shell=by_shell)
        argv = words(their_status, their_gate, in_memory)
        box = start_process(
            argv,
            folder=folder,
            command=command,
            ended=report.ended,
            environment=environment,
            start_in=start_in,
            passed=passed,
        )
        box.descriptors += [status, gate]
        ours.pop_all()
    with closed_on_error(box):
        try:
            hold(box, report)
            os.write(gate, b"\n")
        except OSError as error:
            if was_killed(box):
                raise LauncherKilled(KILLED_EARLY) from error
            raise
    return box


def was_killed(box: Started) -> bool:
    """Whether a box whose program has not begun was ended by SIGKILL: that came from outside."""
    try:
        code = box.process.wait(HELD_END_S)
    except subprocess.TimeoutExpired:
        return False
    return code in (-signal.SIGKILL, 128 + signal.SIGKILL)


def start_process(
    argv: Sequence[str],
    folder: BoxFolder,
    command: Command,
    ended: Callable[[int], ProgramEnd],
    environment: Mapping[str, str],
    start_in: str | Path,
    passed: Sequence[int] = (),
) -> Started:
    """Start a launcher whose output is read and whose input is fed: that of the box."""
    with ExitStack() as theirs, ExitStack() as ours:
        output, their_output = _open_pipe(ours, theirs)
        fed: int | None = None
        if command.stdin:
            their_input, fed = _open_pipe(theirs, ours)
        else:
            their_input = os.open(
                os.devnull,
                os.O_RDONLY | os.O_CLOEXEC,
            )
            theirs.callback(os.close, their_input)
        process = start_launcher(
            argv,
            environment=environment,
            folder=start_in,
            stdin=their_input,
            output=their_output,
            passed=passed,
        )
        ours.pop_all()
    return Started(
        process,
        output=output,
        folder=folder,
        kill=functools.partial(signal_child, process),
        ended=ended,
        input=fed,
    )


@contextmanager
def closed_on_error(box: Started) -> Iterator[None]:
    """A box whose start fails half way is ended and freed."""
    try:
        yield
    except BaseException:
        box.process.kill()
        box.process.wait()
        box.close()
        raise
