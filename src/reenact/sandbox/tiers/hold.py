"""What every launcher needs while it holds a program back: pipes, its status, the control group."""

from __future__ import annotations

import os
import re
import resource
import select
import signal
import subprocess
import time
from contextlib import ExitStack

from reenact.sandbox.box import Limits
from reenact.sandbox.files.folder import BoxFolder
from reenact.sandbox.isolation.cgroup import Group, Place, make_group
from reenact.sandbox.monitor.started import BoxBroke, ProgramEnd

OPEN_FILES = 4096
# Process 1 of a box: reaps orphans, and ends when the program ends. The subshell becomes the program; the
# shell keeps its own words ("Killed") out of the program's output.
REAPER = ("/bin/sh", "-c", 'exec 3>&2 2>/dev/null; ( exec "$@" 2>&3 3>&- ); exit $?', "sh")


class Status:
    """What a launcher reports on its status descriptor: the first process, then how the program ended."""

    def __init__(self, descriptor: int, *, by_shell: bool) -> None:
        """`by_shell` says that a shell stands between, which reports a signal as 128 and more."""
        self._descriptor = descriptor
        self._by_shell = by_shell
        self._said = b""
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def child(self, deadline: float) -> int | None:
        """The number of the first process on the host; none when the launcher ended without one."""
        while time.monotonic() < deadline:
            if not self._poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                return None
            part = os.read(self._descriptor, 4096)
            self._said += part
            found = re.search(rb'"child-pid": (\d+)\D', self._said)
            if found is not None:
                return int(found[1])
            if not part:
                return None
        return None

    def ended(self, status: int) -> ProgramEnd:
        """The program's end, once the launcher has ended with `status`."""
        while part := os.read(self._descriptor, 4096):
            self._said += part
        killed = re.search(rb'"signal": (\d+)', self._said)
        if killed is not None:
            return ProgramEnd(signal=int(killed[1]))
        found = re.search(rb'"exit-code": (\d+)', self._said)
        if found is None:
            code = os.waitstatus_to_exitcode(status)
            raise BoxBroke(f"its launcher ended with status {code} and did not report one of the program")
        return ProgramEnd.from_shell(int(found[1])) if self._by_shell else ProgramEnd(exit_code=int(found[1]))


def join_group(place: Place | None, folder: BoxFolder, pid: int, limits: Limits) -> Group | None:
    """Put the process into a control group of its own, where there is a place for one."""
    if place is None:
        return None
    for path in place.folders(folder.path.name):
        folder.note_group(path)
    try:
        group = make_group(place, folder.path.name, limits)
    except OSError:
        return None
    try:
        group.add(pid)
    except OSError:
        group.close()
        return None
    return group


def limit_process(pid: int) -> None:
    """Set what every program is limited to by itself: no core files, a bounded number of open files."""
    resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
    lower_limit(pid, resource.RLIMIT_NOFILE, OPEN_FILES)


def lower_limit(pid: int, what: int, most: int) -> None:
    """Lower a limit of a process, for good; one that is lower already stays."""
    _, hard = resource.prlimit(pid, what)
    if hard == resource.RLIM_INFINITY or hard > most:
        resource.prlimit(pid, what, (most, most))


def open_pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """A pipe whose two ends are closed with their owners."""
    read, write = os.pipe()
    reader.callback(os.close, read)
    writer.callback(os.close, write)
    return read, write


def open_input(stdin: bytes, theirs: ExitStack, ours: ExitStack) -> tuple[int, int | None]:
    """What the program reads: a pipe that we feed, or nothing at all."""
    if stdin:
        return open_pipe(theirs, ours)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    theirs.callback(os.close, nothing)
    return nothing, None


def has_ended(pid: int) -> bool:
    """Whether a child has ended, without reaping it: its status and times are read by the supervisor."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def signal_child(process: subprocess.Popen[bytes], number: int = signal.SIGKILL) -> None:
    """Send a signal to a child that is not reaped yet. Popen's own way may reap it and so lose its times."""
    if process.returncode is None:
        os.kill(process.pid, number)
