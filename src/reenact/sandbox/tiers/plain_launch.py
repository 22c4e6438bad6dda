"""Starts a program on the machine itself, under the reaper: for the tiers that have no namespaces.

What the program sees is the machine. This file gives it a folder, an environment and a parent that leaves
nothing of it behind; limits come from the watcher and, where there is one, a control group.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from reenact.sandbox.box import Command, Limits
from reenact.sandbox.files.folder import BoxFolder
from reenact.sandbox.isolation.cgroup import find_place
from reenact.sandbox.isolation.environ import box_environment
from reenact.sandbox.isolation.view import WORK, checked_mounts
from reenact.sandbox.monitor.processes import Descendants, descendants
from reenact.sandbox.monitor.started import BoxBroke, Started
from reenact.sandbox.tiers.hold import Status, join_group, limit_process, open_input, open_pipe, signal_child

_REAPER = Path(__file__).with_name("reaper.py")


def plain_launch(program: Sequence[str], folder: BoxFolder, command: Command, limits: Limits) -> Started:
    """Start `program` in the box's work folder, with the environment of `command`."""
    environment = box_environment(str(folder.home), str(folder.tmp), command.environment)
    with ExitStack() as theirs, ExitStack() as ours:
        status, their_status = open_pipe(ours, theirs)
        output, their_output = open_pipe(ours, theirs)
        their_gate, gate = open_pipe(theirs, ours)
        their_input, fed = open_input(command.stdin, theirs, ours)
        numbers = (os.getpid(), their_status, their_gate)
        process = subprocess.Popen(  # noqa: S603 - the one door
            [sys.executable, "-I", "-S", str(_REAPER), *map(str, numbers), *program],
            stdin=their_input,
            stdout=their_output,
            stderr=their_output,
            pass_fds=(their_status, their_gate),
            env=environment,
            cwd=folder.work,
            start_new_session=True,
        )
        said = Status(status, by_shell=False)
        box = Started(
            process,
            output,
            folder,
            kill=_End(process),
            ended=said.ended,
            input=fed,
            descriptors=[status, gate],
        )
        ours.pop_all()
    try:
        folder.note_process(process.pid)
        box.group = join_group(find_place(), folder, process.pid, limits)
        if sys.platform == "linux":
            limit_process(process.pid)
            box.processes = Descendants(process.pid)
        os.write(gate, b"\n")
    except BaseException:
        process.kill()
        process.wait()
        box.close()
        raise
    return box


class _End:
    """Ends a program: the reaper is told and kills all below it; one that is told twice is not waited for."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._told = False

    def __call__(self) -> None:
        if not self._told:
            self._told = True
            signal_child(self._process, signal.SIGTERM)
            return
        for pid in (*descendants(self._process.pid), self._process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def link_mounts(folder: BoxFolder, command: Command) -> None:
    """Show the mounts as far as that works without namespaces: at their own path, or in the work folder."""
    for mount in checked_mounts(command):
        target = Path(mount.target)
        if target == mount.source:
            continue
        if not target.is_relative_to(WORK):
            raise BoxBroke(
                f"this tier cannot show {mount.source} at {mount.target}; bubblewrap and containers can. "
                "Without them a mount's target is its source, or lies in the work folder"
            )
        link = folder.work / target.relative_to(WORK)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(mount.source.absolute())
