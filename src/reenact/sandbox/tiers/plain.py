"""No sandbox, and how tiers without namespaces start a program: on the machine itself, under the
reaper.

What the program sees is the machine. This file gives it a folder, an environment and a parent that
leaves nothing of it behind; limits come from the watcher and, where there is one, a control group.

No sandbox is a plain process of the user, refused unless the user says that the code is trusted.
Covered: a clean environment, a folder of its own, limits by looking, no process left behind. Not
covered: everything else. The program reads and writes all files of the user, uses the network, sees
and signals the user's processes.
"""

import functools
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from reenact.errors import SandboxUnavailable
from reenact.sandbox.box import Command, Limits
from reenact.sandbox.cgroup import find_place
from reenact.sandbox.execute import Tier
from reenact.sandbox.files.folder import BoxFolder
from reenact.sandbox.processes import Descendants, descendants, end_all
from reenact.sandbox.tiers.launch import join_group, launch, limit_process, signal_child
from reenact.sandbox.view import WORK, box_environment, checked_mounts
from reenact.sandbox.watcher import BoxBroke, Started

REAPER = Path(__file__).with_name("reaper.py")


def plain_launch(
    program: Sequence[str],
    folder: BoxFolder,
    command: Command,
    limits: Limits,
) -> Started:
    """Start `program` in the box's work folder, with the environment of `command`."""

    def words(status: int, gate: int, _: object) -> list[str]:
        return [
            sys.executable,
            "-I",
            "-S",
            str(REAPER),
            *map(str, (os.getpid(), status, gate)),
            *program,
        ]

    def hold(box: Started, _: object) -> None:
        box.kill = functools.partial(_end, box.process, [])
        pid = box.process.pid
        folder.note_process(pid)
        box.group = join_group(find_place(), folder, pid, limits)
        limit_process(pid)
        box.processes = Descendants(pid)

    environment = box_environment(
        str(folder.home),
        str(folder.tmp),
        command.environment,
    )
    return launch(
        words,
        hold,
        folder,
        command,
        environment=environment,
        start_in=folder.work,
        by_shell=False,
    )


def _end(process: subprocess.Popen[bytes], asked: list[int]) -> None:
    """Ends a program: the reaper is asked to and kills all below it; asked twice, it is not
    waited for.
    """
    if asked:
        end_all([*descendants(process.pid), process.pid])
    else:
        asked.append(process.pid)
        signal_child(process, signal.SIGTERM)


def link_mounts(folder: BoxFolder, command: Command) -> None:
    """Show the mounts as far as that works without namespaces: at their own path, or in the
    work folder.
    """
    for mount in checked_mounts(command):
        target = Path(mount.target)
        if target == mount.source:
            continue
        if not target.is_relative_to(WORK):
            raise BoxBroke(
                f"this tier cannot show {mount.source} at {mount.target}; bubblewrap and "
                "containers can. Without them a mount's target is its source, or lies in the "
                "work folder"
            )
        link = folder.work / target.relative_to(WORK)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(mount.source.absolute())


class NoSandbox(Tier):
    """Runs programs as they are. Fulfils the protocol `Sandbox`, and protects from nothing."""

    name = "none"

    def __init__(self, *, trust: bool = False) -> None:
        if not trust:
            raise SandboxUnavailable(
                (
                    "Without a sandbox a program can read, change and send away everything this "
                    "user can."
                ),
                next_step="Add --trust-code if you trust this program as your own.",
            )

    def missing(self) -> str:
        return ""

    def does_not_stop(self) -> tuple[str, ...]:
        return (
            "reading, changing and deleting any file of this user, keys and tokens included",
            "the network",
            "seeing, reading and signalling other processes of this user",
            "memory, processes and disk above their limits for the length of one look",
        )

    def start(
        self,
        folder: BoxFolder,
        command: Command,
        limits: Limits,
    ) -> Started:
        link_mounts(folder, command)
        return plain_launch(command.argv, folder, command, limits)
