"""The default tier on Linux: bubblewrap's namespaces, a seccomp filter, and the watcher.

Covered: no file of the host but what `view` lists, read-only; no process of the host, no signal to
it; no network but the box's own loopback; no capability, no new privilege, no further namespace; an
empty environment also for the launcher, whose own would be readable at /proc/1/environ; root and
/dev and /proc read-only, so that nothing can be written uncounted; all processes die with the
program, with us, and with the launcher. The program's parent is a shell as process 1 of the box: it
reaps orphans, and when the program ends it ends, which ends all that is left. The launcher waits
for it, so its wait status carries the CPU time of everything inside. Not covered: bugs in the
kernel, covert channels, CPU side channels. Started by root, the box runs as root's user number
without any capability, seen inside as an ordinary user.
"""

import functools
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from reenact.host_program import find_program, run_host_program
from reenact.plain import plain_text
from reenact.sandbox import view
from reenact.sandbox.again import run_again_if_killed
from reenact.sandbox.box import Command, Ending, Limits
from reenact.sandbox.cgroup import Place, find_place
from reenact.sandbox.execute import Tier
from reenact.sandbox.files.folder import BOX_MARK, BoxFolder
from reenact.sandbox.seccomp import box_filter
from reenact.sandbox.tiers import launch
from reenact.sandbox.watcher import BoxBroke, LauncherKilled, NetworkCounters, Started

_START_S = 30.0
_MASKED = ("acpi", "kcore", "keys", "scsi", "timer_list")


class Bubblewrap(Tier):
    """Runs programs under bubblewrap. Fulfils the protocol `Sandbox`."""

    name = "bubblewrap"

    def __init__(self, program: str | None = None, *, groups: bool = True) -> None:
        """`program` is the path of bwrap, else looked for; `groups` says to use control groups
        if any.
        """
        self._program = program or find_program("bwrap")
        self._groups = groups

    def missing(self) -> str:
        if self._program is None:
            return (
                "bubblewrap is not installed; install it with: apt install bubblewrap (or dnf, "
                "pacman)."
            )
        if not os.access(self._program, os.X_OK):
            return f"bubblewrap is not at {self._program}; install it with: apt install bubblewrap."
        return _trial(self._program)

    def does_not_stop(self) -> tuple[str, ...]:
        found = ["bugs in the kernel", "covert channels and CPU side channels"]
        if box_filter() is None:
            found.append("rare system calls: there is no filter for this kind of machine")
        place = find_place() if self._groups else None
        if place is None or place.memory is None:
            found.append(
                "memory above its limit for the length of one look (50 ms): no control group"
            )
        if place is None or place.pids is None:
            found.append(
                "processes above their limit for the length of one look (50 ms): no control group"
            )
        return tuple(found)

    def more_words(self) -> list[str]:
        """What a wider tier shows besides, in bubblewrap's words."""
        return []

    def variables(self, command: Command) -> dict[str, str]:
        """The environment of a program, built from nothing."""
        return view.box_environment(view.HOME, view.TMP, command.environment)

    def start(
        self,
        folder: BoxFolder,
        command: Command,
        limits: Limits,
    ) -> Started:
        program = self._program
        if program is None:
            raise BoxBroke(self.missing())
        made_of = _arguments(
            folder,
            command,
            limits,
            _options(program),
            more=self.more_words(),
            variables=self.variables(command),
        )

        def words(
            status: int,
            gate: int,
            in_memory: Callable[[bytes], int],
        ) -> list[str]:
            """The launcher's command line; its arguments are in a file: on the command line they
            would be readable inside, at /proc/1/cmdline, with the host's paths.
            """
            arguments = [
                *made_of,
                "--json-status-fd",
                str(status),
                "--block-fd",
                str(gate),
            ]
            seccomp = box_filter()
            if seccomp is not None:
                arguments += ["--seccomp", str(in_memory(seccomp))]
            for target, content in view.etc_files().items():
                # Before all else: in the end the root is read-only.
                arguments = [
                    "--perms",
                    "0444",
                    "--file",
                    str(in_memory(content)),
                    target,
                    *arguments,
                ]
            packed = in_memory(b"".join(os.fsencode(word) + b"\0" for word in arguments))
            return [
                program,
                "--args",
                str(packed),
                "--",
                *launch.REAPER,
                *command.argv,
            ]

        hold = functools.partial(
            _hold,
            limits,
            find_place() if self._groups else None,
        )
        # Names nothing but the box: a launcher that its own parents died on is found by it.
        named = {BOX_MARK: folder.path.name}
        return launch.launch(
            words,
            hold,
            folder,
            command,
            environment=named,
            start_in="/",
            by_shell=True,
        )


def _hold(
    limits: Limits,
    groups: Place | None,
    box: Started,
    report: launch.Status,
) -> None:
    """While the program is held back: find it, limit it, open what reports it."""
    deadline = time.monotonic() + _START_S
    pid = report.child(deadline)
    if pid is None:
        raise _broke(box)
    box.folder.note_process(pid)
    handle = os.pidfd_open(pid)
    box.descriptors.append(handle)
    box.kill = functools.partial(_kill, handle, box.process)
    _await_root(box, pid, deadline)
    box.group = launch.join_group(groups, box.folder, pid, limits)
    launch.limit_process(pid)
    if box.group is None or box.group.pids is None:
        # Above the limit, so that the watcher sees the crossing before the program is refused and
        # blamed.
        launch.lower_limit(
            pid,
            resource.RLIMIT_NPROC,
            4 * limits.processes + 64,
        )
    launch.look_into(box, pid)
    box.network = NetworkCounters(pid)


def _await_root(box: Started, pid: int, deadline: float) -> None:
    """Until the process sees our work folder at its place, which is the last thing before it is
    held back.
    """
    wanted = box.folder.work.stat()
    seen = Path(f"/proc/{pid}/root{view.WORK}")
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
    raise _broke(box)


def _broke(box: Started) -> BoxBroke:
    """A box that came to nothing: it was killed, or what the launcher printed before it gave up."""
    if launch.was_killed(box):
        return LauncherKilled(launch.KILLED_EARLY)
    box.process.kill()
    box.process.wait()
    os.set_blocking(box.output, False)
    report = ""
    with suppress(BlockingIOError):
        report = plain_text(os.read(box.output, 4096)).strip()
    return BoxBroke(f"bubblewrap could not make the box: {report or 'it printed nothing'}")


def _kill(handle: int, process: subprocess.Popen[bytes]) -> None:
    """Kill process 1 of the box, and with it the kernel kills all others."""
    try:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except ProcessLookupError:
        return
    except OSError:
        launch.signal_child(process)


def _arguments(
    folder: BoxFolder,
    command: Command,
    limits: Limits,
    options: frozenset[str],
    *,
    more: Sequence[str],
    variables: Mapping[str, str],
) -> list[str]:
    """What the box is made of, in bubblewrap's words."""
    words = [
        "--unshare-all",
        "--unshare-user",
        "--cap-drop",
        "ALL",
        "--die-with-parent",
        "--new-session",
    ]
    words += ["--as-pid-1", "--clearenv", "--hostname", view.HOST_NAME]
    words += [
        "--uid",
        str(view.USER_ID),
        "--gid",
        str(view.USER_ID),
    ]
    if "--disable-userns" in options:
        words.append("--disable-userns")
    words += ["--dev", "/dev"]
    if "--size" in options:
        # Some space above the limit, so that crossing it is seen before the program gets "no space
        # left".
        words += [
            "--size",
            str(limits.disk_bytes + limits.disk_bytes // 4 + (1 << 20)),
        ]
    words += ["--tmpfs", "/dev/shm"]  # noqa: S108 - inside the box
    for writable, target in (
        (folder.work, view.WORK),
        (folder.home, view.HOME),
        (folder.tmp, view.TMP),
    ):
        words += ["--bind", str(writable), target]
    for text, target in view.host_view().links:
        words += ["--symlink", text, target]
    mounts = (
        (
            str(mount.source.absolute()),
            mount.target,
        )
        for mount in view.checked_mounts(command)
    )
    for source, target in (*view.host_view().binds, *mounts):
        words += ["--ro-bind", source, target]
    words += [
        *more,
        *_proc(),
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/",
        "--chdir",
        view.WORK,
    ]
    for name, value in variables.items():
        words += ["--setenv", name, value]
    return words


def _proc() -> list[str]:
    """The box's own /proc, read-only: root's user number could turn the kernel's knobs there."""
    words = ["--proc", "/proc"]
    for name in _MASKED:
        path = Path("/proc") / name
        if path.is_dir():
            words += ["--tmpfs", str(path), "--remount-ro", str(path)]
        elif path.exists():
            words += ["--ro-bind", "/dev/null", str(path)]
    return [*words, "--remount-ro", "/proc"]


@functools.cache
def _options(program: str) -> frozenset[str]:
    """The options this version knows: `--size` and `--disable-userns` are younger than some
    systems.
    """
    answer = run_host_program([program, "--help"], wall_s=_START_S)
    printed = (answer.stdout + answer.stderr).decode(errors="replace")
    return frozenset(word for word in printed.split() if word.startswith("--"))


@functools.cache
def _trial(program: str) -> str:
    """Run one real box: a program that is installed may still not be allowed to make namespaces."""
    result = run_again_if_killed(
        Bubblewrap(program),
        Command(("/bin/true",)),
        Limits(wall_s=30),
    )
    if result.ok:
        return ""
    hint = ""
    if "uid map" in result.why or "namespace" in result.why or "not permitted" in result.why:
        hint = (
            " Allow user namespaces: sysctl -w user.max_user_namespaces=15000, on Ubuntu also "
            "kernel.apparmor_restrict_unprivileged_userns=0; in a container, start it with "
            "--privileged."
        )
    reason = (
        result.why
        if result.ending is Ending.SANDBOX_FAILED
        else f"{result.ending}: {result.output}"
    )
    return f"bubblewrap is installed but does not work here: {reason.strip()}.{hint}"
