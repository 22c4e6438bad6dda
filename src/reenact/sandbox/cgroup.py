"""Hard limits by the kernel's control groups, v1 or v2, where this machine lets us make one.

Covered: memory and number of tasks of a whole box, with the kernel's own count of what it refused,
so that an OOM kill is named `memory-limit` and a refused fork `process-limit`. A group is made
below the cgroup we run in (v1) or below the nearest ancestor that hands controllers down (v2), so
limits set on ourselves still hold for the box. Not covered: machines where no group may be made
(most ordinary users without a delegated one); there the watcher alone limits, by looking. CPU and
disk bandwidth are not limited.
"""

import functools
import os
import secrets
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from reenact.host_program import start_host_program
from reenact.sandbox.box import Limits
from reenact.sandbox.processes import end_all

_NAME = "reenact-"
_PATIENCE_S = 10.0
"""How long a group may take to become empty: on a busy machine the kernel buries the dead late."""


@dataclass(frozen=True)
class Place:
    """Where groups can be made: the parent folder for each controller, and the version of the
    interface.
    """

    version: int
    memory: Path | None = None
    pids: Path | None = None

    def folders(self, name: str) -> tuple[Path, ...]:
        """The folders of the group that `make_group` makes by this name."""
        parents = dict.fromkeys(path for path in (self.memory, self.pids) if path is not None)
        return tuple(parent / f"{_NAME}{name}" for parent in parents)

    def __str__(self) -> str:
        have = [name for name in ("memory", "pids") if getattr(self, name) is not None]
        return f"cgroup v{self.version}: {', '.join(have)}"


@dataclass(frozen=True)
class Group(Place):
    """One box's control group: one folder in v2, one a controller in v1."""

    own: tuple[Path, ...] = ()
    """Its folders; none of a group that somebody else made."""

    def add(self, pid: int) -> None:
        """Move a process in; what it starts afterwards is born inside."""
        for folder in self.own:
            (folder / "cgroup.procs").write_text(str(pid))

    def memory_used(self) -> int | None:
        """Bytes in use that the kernel cannot take back: anonymous and shared memory, not file
        cache.
        """
        if self.memory is None:
            return None
        names = ("total_rss", "total_shmem") if self.version == 1 else ("anon", "shmem")
        stat = kernel_counts(self.memory / "memory.stat")
        return sum(stat.get(name, 0) for name in names)

    def out_of_memory(self) -> bool:
        """Whether the kernel killed something in the box for want of memory."""
        if self.memory is None:
            return False
        name = "memory.oom_control" if self.version == 1 else "memory.events"
        return (
            kernel_counts(self.memory / name).get(
                "oom_kill",
                0,
            )
            > 0
        )

    def tasks(self) -> int | None:
        """Processes and threads now in the box."""
        text = ""
        if self.pids:
            text = _text(self.pids / "pids.current").strip()
        return int(text) if text.isdecimal() else None

    def task_refused(self) -> bool:
        """Whether the kernel refused a process or thread."""
        return (
            self.pids is not None
            and kernel_counts(self.pids / "pids.events").get(
                "max",
                0,
            )
            > 0
        )

    def close(self) -> None:
        """Kill what is left and remove the group."""
        for folder in self.own:
            remove_group(folder)


def make_group(
    place: Place,
    name: str,
    limits: Limits,
    member: int | None = None,
) -> Group:
    """A fresh group with the limits set, and a first member. Raises OSError when the machine does
    not let us after all.
    """
    memory = None
    if place.memory:
        memory = place.memory / f"{_NAME}{name}"
    pids = None
    if place.pids:
        pids = place.pids / f"{_NAME}{name}"
    group = Group(
        place.version,
        memory,
        pids,
        place.folders(name),
    )
    most = limits.memory_bytes
    values = {
        "memory.max": most,
        "memory.swap.max": 0,
        "memory.oom.group": 1,
    }
    if place.version == 1:
        values = {
            "memory.limit_in_bytes": most,
            "memory.memsw.limit_in_bytes": most,
        }
    try:
        for folder in group.own:
            folder.mkdir()
        for file, value in values.items():
            if memory is not None and (memory / file).exists():
                (memory / file).write_text(str(value))
        if pids is not None:
            # The shell that reaps is not a task of the program.
            (pids / "pids.max").write_text(str(limits.processes + 1))
        if member is not None:
            group.add(member)
    except OSError:
        group.close()
        raise
    return group


def remove_group(folder: Path) -> None:
    """Kill all in a group of ours and remove it; a group that is gone or not ours stays
    untouched.
    """
    if not folder.name.startswith(_NAME):
        return
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            # The kernel writes 0 for a process of another PID namespace; to kill 0 is to kill our
            # own group.
            members = map(
                int,
                _text(folder / "cgroup.procs").split(),
            )
            end_all([pid for pid in members if pid > 1 and pid != os.getpid()])
            time.sleep(0.005)
        else:
            return


@functools.cache
def find_place(
    root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")
) -> Place | None:
    """Where this process may make groups, none when nowhere. Found once, by making and removing
    one.
    """
    lines = _memberships(own)
    find = _find_v2 if (root / "cgroup.controllers").exists() else _find_v1
    return find(root, lines) if lines else None


def _find_v1(
    root: Path,
    lines: list[list[str]],
) -> Place | None:
    parents: dict[str, Path] = {}
    for _, controllers, path in lines:
        for name in {"memory", "pids"} & set(controllers.split(",")):
            mounted = root / controllers if (root / controllers).is_dir() else root / name
            parent = mounted / path.lstrip("/")
            # Inside a container the path may be that of the host, while the group itself is mounted
            # here.
            parents[name] = parent if parent.is_dir() else mounted
    usable = {name: parent for name, parent in parents.items() if _may_make(parent)}
    return Place(1, **usable) if usable else None


def _find_v2(
    root: Path,
    lines: list[list[str]],
) -> Place | None:
    """The nearest ancestor that hands both controllers down, else the nearest that hands one."""
    start = _folder_v2(root, lines)
    handing: list[tuple[Path, list[str]]] = []
    for parent in (start, *start.parents):
        if not parent.is_relative_to(root):
            break
        handed = _text(parent / "cgroup.subtree_control").split()
        handing.append(
            (
                parent,
                [name for name in ("memory", "pids") if name in handed],
            )
        )
    for parent, names in sorted(
        handing,
        key=lambda pair: -len(pair[1]),
    ):
        if names and _may_make(parent, move=True):
            return Place(2, **dict.fromkeys(names, parent))
    return None


def _may_make(parent: Path, *, move: bool = False) -> bool:
    """Whether a group can be made below `parent` and, in v2 where that is a right of its own,
    be entered.
    """
    trial = parent / f"{_NAME}trial-{os.getpid()}-{secrets.token_hex(6)}"
    try:
        trial.mkdir()
    except OSError:
        return False
    try:
        if not move:
            return True
        with start_host_program(["/bin/cat"], stdin=subprocess.PIPE) as visitor:
            try:
                (trial / "cgroup.procs").write_text(str(visitor.pid))
            finally:
                visitor.kill()
    except OSError:
        return False
    finally:
        remove_group(trial)
    return True


def _text(path: Path) -> str:
    """What one of the kernel's files says; nothing when it cannot be read."""
    try:
        return path.read_text()
    except OSError:
        return ""


def kernel_counts(path: Path) -> dict[str, int]:
    """The `name number` lines of one of the kernel's files."""
    pairs = (line.split() for line in _text(path).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}


def _memberships(path: Path) -> list[list[str]]:
    """The groups a process is in: number, controllers, path; none when that cannot be read."""
    return [line.split(":", 2) for line in _text(path).splitlines()]


def _folder_v2(root: Path, lines: list[list[str]]) -> Path:
    return root / next((path for _, controllers, path in lines if not controllers), "/").lstrip("/")


def group_of(pid: int, root: Path = Path("/sys/fs/cgroup")) -> Group | None:
    """The group somebody else put a process into, to be read but never removed; none that we
    are in too.
    """
    ours = _memberships(Path("/proc/self/cgroup"))
    lines = [one for one in _memberships(Path(f"/proc/{pid}/cgroup")) if one not in ours]
    if lines and (root / "cgroup.controllers").exists():
        folder = _folder_v2(root, lines)
        if (folder / "memory.events").exists():
            return Group(2, folder, folder)
        return None
    places = {
        name: root / name / path.lstrip("/") for _, held, path in lines for name in held.split(",")
    }
    there = {
        name: place
        for name, place in places.items()
        if name in ("memory", "pids") and place.is_dir()
    }
    if there:
        return Group(
            1,
            there.get("memory"),
            there.get("pids"),
        )
    return None
