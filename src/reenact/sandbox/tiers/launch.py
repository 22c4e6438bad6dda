"""Starts bubblewrap so that the program is held back until its limits and counters are in place.

The program's parent is a shell as process 1 of the box: it reaps orphans, and when the program ends it
ends, which ends all that is left. The launcher waits for it, so its wait status carries the CPU time of
everything inside.
A box has started when the launcher named its first process and that process has the new root; a box has
ended well when the launcher reported the program's status. All else is the box's own failure and no verdict
on the program.
"""

from __future__ import annotations

import functools
import os
import resource
import signal
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from reenact.plain import plain_text
from reenact.sandbox.box import Command, Limits
from reenact.sandbox.files.folder import BOX_MARK, BoxFolder
from reenact.sandbox.isolation.cgroup import Group, Place
from reenact.sandbox.isolation.seccomp import box_filter
from reenact.sandbox.isolation.view import WORK, etc_files
from reenact.sandbox.monitor.network import NetworkCounters
from reenact.sandbox.monitor.processes import BoxProcesses
from reenact.sandbox.monitor.started import BoxBroke, Started
from reenact.sandbox.tiers.hold import (
    REAPER,
    Status,
    join_group,
    limit_process,
    lower_limit,
    open_input,
    open_pipe,
    signal_child,
)

_START_S = 30.0
_LOOK = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def launch(
    words: list[str], folder: BoxFolder, command: Command, limits: Limits, groups: Place | None
) -> Started:
    """A running box, or BoxBroke with what the launcher said. `words` are the launcher and its arguments."""
    program, arguments = words[0], words[1:]
    with ExitStack() as theirs, ExitStack() as ours:
        status, their_status = open_pipe(ours, theirs)
        output, their_output = open_pipe(ours, theirs)
        their_gate, gate = open_pipe(theirs, ours)
        their_input, fed = open_input(command.stdin, theirs, ours)
        passed = [their_status, their_gate]
        arguments = [*arguments, "--json-status-fd", str(their_status), "--block-fd", str(their_gate)]
        seccomp = box_filter()
        if seccomp is not None:
            passed.append(_in_memory(seccomp, theirs))
            arguments += ["--seccomp", str(passed[-1])]
        for target, content in etc_files().items():
            passed.append(_in_memory(content, theirs))
            # Before all else: in the end the root is read-only.
            arguments = ["--perms", "0444", "--file", str(passed[-1]), target, *arguments]
        # On the command line they would be readable inside, at /proc/1/cmdline, with the host's paths.
        passed.append(_in_memory(b"".join(os.fsencode(word) + b"\0" for word in arguments), theirs))
        process = subprocess.Popen(  # noqa: S603 - the one door
            [program, "--args", str(passed[-1]), "--", *REAPER, *command.argv],
            stdin=their_input,
            stdout=their_output,
            stderr=their_output,
            pass_fds=passed,
            # Names nothing but the box: a launcher that its own parents died on is found by it.
            env={BOX_MARK: folder.path.name},
            cwd="/",
            start_new_session=True,
        )
        said = Status(status, by_shell=True)
        box = Started(
            process,
            output,
            folder,
            kill=functools.partial(signal_child, process),
            ended=said.ended,
            input=fed,
            descriptors=[status, gate],
        )
        ours.pop_all()
    try:
        _hold(box, said, limits, groups)
        os.write(gate, b"\n")
    except BaseException:
        process.kill()
        process.wait()
        box.close()
        raise
    return box


def _hold(box: Started, said: Status, limits: Limits, groups: Place | None) -> None:
    """While the program is held back: find it, limit it, open what tells of it."""
    deadline = time.monotonic() + _START_S
    pid = said.child(deadline)
    if pid is None:
        raise BoxBroke(_complaint(box))
    box.folder.note_process(pid)
    handle = os.pidfd_open(pid)
    box.descriptors.append(handle)
    box.kill = functools.partial(_kill, handle, box.process)
    _await_root(box, pid, deadline)
    box.group = join_group(groups, box.folder, pid, limits)
    _limit(pid, box.group, limits)
    box.processes = BoxProcesses(os.open(f"/proc/{pid}/root/proc", _LOOK))
    box.memory_file_system = os.open(f"/proc/{pid}/root/dev/shm", _LOOK)
    box.network = NetworkCounters(pid)


def _await_root(box: Started, pid: int, deadline: float) -> None:
    """Until the process sees our work folder at its place, which is the last thing before it is held back."""
    wanted = box.folder.work.stat()
    seen = Path(f"/proc/{pid}/root{WORK}")
    while time.monotonic() < deadline:
        with suppress(OSError):
            found = seen.stat()
            if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
                return
        if box.process.poll() is not None:
            break
        time.sleep(0.0003)
    else:
        raise BoxBroke(f"bubblewrap did not make the box within {_START_S:g} s")
    raise BoxBroke(_complaint(box))


def _complaint(box: Started) -> str:
    """What the launcher printed before it gave up."""
    box.process.kill()
    box.process.wait()
    os.set_blocking(box.output, False)
    with suppress(BlockingIOError):
        said = plain_text(os.read(box.output, 4096)).strip()
        return f"bubblewrap could not make the box: {said or 'it said nothing'}"
    return "bubblewrap could not make the box: it said nothing"


def _limit(pid: int, group: Group | None, limits: Limits) -> None:
    """Set what is inherited by every process of the box."""
    limit_process(pid)
    if group is None or group.pids is None:
        # Above the limit, so that the watcher sees the crossing before the program is refused and blamed.
        lower_limit(pid, resource.RLIMIT_NPROC, 4 * limits.processes + 64)


def _kill(handle: int, process: subprocess.Popen[bytes]) -> None:
    """Kill process 1 of the box, and with it the kernel kills all others."""
    try:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except ProcessLookupError:
        return
    except OSError:
        signal_child(process)


def _in_memory(content: bytes, owner: ExitStack) -> int:
    """A nameless file with the content, to be read from its start."""
    opened = os.memfd_create("reenact", os.MFD_CLOEXEC)
    owner.callback(os.close, opened)
    os.write(opened, content)
    os.lseek(opened, 0, os.SEEK_SET)
    return opened
