"""A tier that pip alone can install: the package sandlock (Landlock, seccomp), with our watcher
around it.

Covered: what is in files outside the box's folders, the interpreter and the system's libraries; the
network; signals to other processes; most dangerous system calls; no process left behind; limits by
looking. Not covered: Landlock guards the content of files and not their modes, times and
attributes, so a program can change those of every file of its user. It has no namespaces: programs
see the machine's process list, and have no /dev/shm and no loopback of their own, since the
machine's would be shared, so data loaders with workers and distributed training do not run. For
both it is never chosen by itself: ask for it by name.
"""

import functools
import importlib.util
import json
import sys
from pathlib import Path

from reenact.installed import install_line
from reenact.sandbox.again import run_again_if_killed
from reenact.sandbox.box import Command, Limits
from reenact.sandbox.execute import Tier
from reenact.sandbox.files.folder import BoxFolder
from reenact.sandbox.tiers.launch import OPEN_FILES
from reenact.sandbox.tiers.plain import REAPER, link_mounts, plain_launch
from reenact.sandbox.tiers.reaper import CONFINE, CONFINED
from reenact.sandbox.view import interpreter_folders
from reenact.sandbox.watcher import BoxBroke, ProgramEnd, Started

_USER_ID = 1000
_READABLE = """
    /usr /bin /sbin /lib /lib32 /lib64 /nix/store /proc /sys/devices/system/cpu /sys/devices/system/node
    /etc/alternatives /etc/fonts /etc/ld.so.cache /etc/localtime /etc/mime.types /etc/nsswitch.conf
    /etc/passwd /etc/group /etc/protocols /etc/services /etc/ssl/certs /etc/ssl/openssl.cnf
    /dev/urandom /dev/random
"""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")


class Sandlock(Tier):
    """Runs programs under sandlock. Fulfils the protocol `Sandbox`."""

    name = "sandlock"

    def missing(self) -> str:
        return _missing()

    def does_not_stop(self) -> tuple[str, ...]:
        return (
            "bugs in the kernel, covert channels and CPU side channels",
            "changing the mode, times and attributes of files of this user (their content is safe)",
            "seeing the machine's processes in /proc, and its network settings",
            "memory, processes and disk above their limits for the length of one look",
            "it does not tell of a denied network access, and gives no /dev/shm and no loopback",
        )

    def start(
        self,
        folder: BoxFolder,
        command: Command,
        limits: Limits,
    ) -> Started:
        link_mounts(folder, command)
        readable = [path for path in _READABLE.split() if Path(path).exists()]
        mounted = [str(mount.source.absolute()) for mount in command.mounts]
        # What the program may do, in sandlock's words.
        allowed = {
            "fs_readable": [*readable, *interpreter_folders(), *mounted],
            "fs_writable": [
                str(folder.work),
                str(folder.home),
                str(folder.tmp),
                *_DEVICES,
            ],
            "cwd": str(folder.work),
            "max_processes": limits.processes,
            "max_open_files": OPEN_FILES,
            "no_coredump": True,
            "uid": _USER_ID,
            "gid": _USER_ID,
        }
        policy = folder.path / "policy.json"
        policy.write_text(json.dumps(allowed))
        words = (
            "-I",
            "-W",
            "ignore",
            str(REAPER),
            CONFINE,
            str(policy),
            *command.argv,
        )
        box = plain_launch(
            (sys.executable, *words),
            folder,
            command,
            limits,
        )
        ended = box.ended

        def confined_end(status: int) -> ProgramEnd:
            if not policy.with_name(CONFINED).exists():
                raise BoxBroke("sandlock could not confine the program")
            return ended(status)

        box.ended = confined_end
        return box


@functools.cache
def _missing() -> str:
    if importlib.util.find_spec("sandlock") is None:
        return (
            f"The package sandlock is not installed; install it with: {install_line('sandlock')}."
        )
    result = run_again_if_killed(
        Sandlock(),
        Command(("/bin/true",)),
        Limits(wall_s=30),
    )
    if result.ok:
        return ""
    reason = f"{result.why} {result.output}".strip()
    return f"sandlock is installed but does not work here (it needs Linux 6.7 or newer): {reason}"
