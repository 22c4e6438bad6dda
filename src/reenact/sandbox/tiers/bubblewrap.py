"""The default tier on Linux: bubblewrap's namespaces, a seccomp filter, and the watcher.

Covered: no file of the host but what `view` lists, read-only; no process of the host, no signal to it; no
network but the box's own loopback; no capability, no new privilege, no further namespace; an empty
environment also for the launcher, whose own would be readable at /proc/1/environ; root and /dev and /proc
read-only, so that nothing can be written uncounted; all processes die with the program, with us, and with
the launcher.
Not covered: bugs in the kernel or in a GPU driver, covert channels, CPU side channels. Started by root, the
box runs as root's user number without any capability, seen inside as an ordinary user.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path

from reenact.sandbox.box import BoxResult, Command, Ending, Limits, OnOutput
from reenact.sandbox.execute import execute
from reenact.sandbox.files.folder import BoxFolder
from reenact.sandbox.isolation.cgroup import find_place
from reenact.sandbox.isolation.environ import box_environment
from reenact.sandbox.isolation.seccomp import box_filter
from reenact.sandbox.isolation.view import (
    HOME,
    HOST_NAME,
    TMP,
    USER_ID,
    WORK,
    checked_mounts,
    gpu_nodes,
    host_view,
)
from reenact.sandbox.monitor.started import BoxBroke, Started
from reenact.sandbox.tiers.launch import launch
from reenact.types import Stop

_MASKED = ("acpi", "kcore", "keys", "scsi", "timer_list")
_SYS_FOR_GPU = (
    "/sys/bus/pci",
    "/sys/class/drm",
    "/sys/devices",
    "/sys/module/nvidia",
    "/sys/module/nvidia_uvm",
)


class Bubblewrap:
    """Runs programs under bubblewrap. Fulfils the protocol `Sandbox`."""

    name = "bubblewrap"

    def __init__(self, program: str | None = None, *, groups: bool = True) -> None:
        """`program` is the path of bwrap, else looked for; `groups` says to use control groups if any."""
        self._program = program or shutil.which("bwrap")
        self._groups = groups

    def run(
        self, command: Command, limits: Limits, *, on_output: OnOutput | None = None, stop: Stop | None = None
    ) -> BoxResult:
        return execute(self.name, self._start, command, limits, on_output=on_output, stop=stop)

    def missing(self) -> str:
        if self._program is None:
            return "bubblewrap is not installed; install it with: apt install bubblewrap (or dnf, pacman)."
        if not os.access(self._program, os.X_OK):
            return f"bubblewrap is not at {self._program}; install it with: apt install bubblewrap."
        return _trial(self._program)

    def does_not_stop(self) -> tuple[str, ...]:
        found = ["bugs in the kernel and in GPU drivers", "covert channels and CPU side channels"]
        if box_filter() is None:
            found.append("rare system calls: there is no filter for this kind of machine")
        place = find_place() if self._groups else None
        if place is None or place.memory is None:
            found.append("memory above its limit for the length of one look (50 ms): no control group")
        if place is None or place.pids is None:
            found.append("processes above their limit for the length of one look (50 ms): no control group")
        return tuple(found)

    def _start(self, folder: BoxFolder, command: Command, limits: Limits) -> Started:
        if self._program is None:
            raise BoxBroke(self.missing())
        arguments = _arguments(folder, command, limits, _options(self._program))
        place = find_place() if self._groups else None
        return launch([self._program, *arguments], folder, command, limits, place)


def _arguments(folder: BoxFolder, command: Command, limits: Limits, options: frozenset[str]) -> list[str]:
    """What the box is made of, in bubblewrap's words."""
    said = [
        "--unshare-all",
        "--unshare-user",
        "--cap-drop",
        "ALL",
        "--die-with-parent",
        "--new-session",
        "--as-pid-1",
    ]
    said += ["--uid", str(USER_ID), "--gid", str(USER_ID), "--hostname", HOST_NAME, "--clearenv"]
    if "--disable-userns" in options:
        said.append("--disable-userns")
    said += ["--dev", "/dev"]
    if "--size" in options:
        # Some room above the limit, so that crossing it is seen before the program is told "no space left".
        said += ["--size", str(limits.disk_bytes + limits.disk_bytes // 4 + (1 << 20))]
    said += ["--tmpfs", "/dev/shm"]  # noqa: S108 - inside the box
    for writable, target in ((folder.work, WORK), (folder.home, HOME), (folder.tmp, TMP)):
        said += ["--bind", str(writable), target]
    for text, target in host_view().links:
        said += ["--symlink", text, target]
    mounts = ((str(mount.source.absolute()), mount.target) for mount in checked_mounts(command))
    for source, target in (*host_view().binds, *mounts):
        said += ["--ro-bind", source, target]
    said += _proc(writable=command.gpu)
    if command.gpu:
        said += _gpu()
    said += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORK]
    for name, value in box_environment(HOME, TMP, command.environment).items():
        said += ["--setenv", name, value]
    return said


def _proc(*, writable: bool) -> list[str]:
    """The box's own /proc, read-only: root's user number could turn the kernel's knobs there.

    A GPU driver names its threads by writing to /proc and gives up where it cannot; for it the knobs are
    closed one by one.
    """
    said = ["--proc", "/proc"]
    for name in _MASKED:
        path = Path("/proc") / name
        if path.is_dir():
            said += ["--tmpfs", str(path), "--remount-ro", str(path)]
        elif path.exists():
            said += ["--ro-bind", "/dev/null", str(path)]
    if not writable:
        return [*said, "--remount-ro", "/proc"]
    for path in sorted(Path("/proc").iterdir()):
        if path.name.isdigit() or path.is_symlink() or path.name in _MASKED:
            continue
        if path.is_dir() or path.stat().st_mode & 0o222:
            said += ["--ro-bind", str(path), str(path)]
    return said


def _gpu() -> list[str]:
    said: list[str] = []
    for node in gpu_nodes():
        said += ["--dev-bind", node, node]
    for path in _SYS_FOR_GPU:
        said += ["--ro-bind-try", path, path]
    return said


@functools.cache
def _options(program: str) -> frozenset[str]:
    """The options this version knows: `--size` and `--disable-userns` are younger than some systems."""
    said = subprocess.run([program, "--help"], capture_output=True, text=True, check=False, env={})  # noqa: S603 - bwrap itself
    return frozenset(word for word in (said.stdout + said.stderr).split() if word.startswith("--"))


@functools.cache
def _trial(program: str) -> str:
    """Run one real box: a program that is installed may still not be allowed to make namespaces."""
    result = Bubblewrap(program).run(Command(("/bin/true",)), Limits(wall_s=30))
    if result.ok:
        return ""
    hint = ""
    if "uid map" in result.why or "namespace" in result.why or "not permitted" in result.why:
        hint = (
            " Allow user namespaces: sysctl -w user.max_user_namespaces=15000, on Ubuntu also"
            " kernel.apparmor_restrict_unprivileged_userns=0; in a container, start it with --privileged."
        )
    said = result.why if result.ending is Ending.SANDBOX_FAILED else f"{result.ending}: {result.output}"
    return f"bubblewrap is installed but does not work here: {said.strip()}.{hint}"
