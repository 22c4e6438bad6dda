"""A tier for machines with Docker or Podman: the engine's own isolation, with our watcher around
it.

The box is an empty image, made on the spot without any download, into which the same part of the
host is shown read-only as under bubblewrap; so the same interpreter and packages run. Covered: what
the engine covers (namespaces, control groups, its filter of system calls), no network, no
capability, no new privilege, a read-only root, disk by looking. Not covered: bugs in the kernel and
in the engine; processes above their limit are refused, which is only named as such while the
container's control group can be read; a denied network access is not reported.
"""

import functools
import hashlib
import io
import os
import subprocess
import tarfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from reenact.host_program import START_FOLDER, host_environment
from reenact.sandbox import view
from reenact.sandbox.box import Command, Ending, Limits
from reenact.sandbox.cgroup import group_of
from reenact.sandbox.execute import Tier
from reenact.sandbox.files.folder import BoxFolder
from reenact.sandbox.tiers import launch
from reenact.sandbox.tiers.engine import (
    ENGINES,
    Engine,
    engine_variables,
    find_engines,
    remove_container,
)
from reenact.sandbox.watcher import BoxBroke, Crossing, ProgramEnd, Started


class Container(Tier):
    """Runs programs in containers. Fulfils the protocol `Sandbox`."""

    name = "container"

    def __init__(self, engine: str | None = None) -> None:
        """`engine` is docker or podman, or its path."""
        self._wanted = (engine,) if engine else ENGINES

    def missing(self) -> str:
        return _answering(self._wanted)[1]

    def does_not_stop(self) -> tuple[str, ...]:
        return (
            "bugs in the kernel and in the container engine",
            "covert channels and CPU side channels",
            "disk above its limit for the length of one look (50 ms)",
            "it does not tell of a denied network access",
        )

    def start(
        self,
        folder: BoxFolder,
        command: Command,
        limits: Limits,
    ) -> Started:
        engine, why = _answering(self._wanted)
        if engine is None:
            raise BoxBroke(why)
        image = _empty_image(engine)
        if os.getuid() == 0:
            # Root's engine runs the program as an ordinary user, who must own what it is to fill.
            for place, folders, files in os.walk(folder.inside):
                for entry in (".", *folders, *files):
                    os.chown(
                        Path(place) / entry,
                        view.USER_ID,
                        view.USER_ID,
                        follow_symlinks=False,
                    )
        name = f"reenact-{folder.path.name}"
        folder.note(
            "container",
            f"{name} {engine.path}",
        )
        made = engine.ask(
            "create",
            *create_words(
                engine,
                name=name,
                image=image,
                folder=folder,
                command=command,
                limits=limits,
            ),
        )
        if not made.ok:
            raise BoxBroke(f"the container could not be made: {made.complaint}")
        argv = (engine.path, "start", "--attach", "--interactive", name)
        ended = functools.partial(_ended, engine, name)
        environment = host_environment(engine_variables(), network=True)
        box = launch.start_process(
            argv,
            folder=folder,
            command=command,
            ended=ended,
            environment=environment,
            start_in=START_FOLDER,
        )
        box.kill = functools.partial(_kill, engine, name, box.process)
        box.after = functools.partial(remove_container, engine.path, name)
        with launch.closed_on_error(box):
            _watch_from_outside(box, engine, name)
        return box


@functools.cache
def _answering(names: tuple[str, ...]) -> tuple[Engine | None, str]:
    """The first engine that answers, or the sentence that says why none does."""
    engines = find_engines(names)
    if not engines:
        looked_for = " or ".join(names)
        return (
            None,
            f"No container engine is installed ({looked_for}); get one with: apt install podman.",
        )
    complaints = []
    for engine in engines:
        answer = engine.ask("version")
        if answer.ok:
            return engine, ""
        complaints.append(f"{Path(engine.path).name}: {answer.complaint or 'no answer'}")
    return (
        None,
        f"No container engine answers ({'; '.join(complaints)}); start it, or join its group.",
    )


def create_words(
    engine: Engine,
    name: str,
    image: str,
    folder: BoxFolder,
    command: Command,
    limits: Limits,
) -> list[str]:
    """What the container is made of, in the engine's words."""
    user = f"{view.USER_ID}:{view.USER_ID}" if os.getuid() == 0 else f"{os.getuid()}:{os.getgid()}"
    words = [
        "--name",
        name,
        "--hostname",
        view.HOST_NAME,
        "--network",
        "none",
        "--read-only",
    ]
    words += [
        "--cap-drop",
        "ALL",
        "--security-opt",
        "no-new-privileges",
        "--ipc",
        "private",
        "--user",
        user,
    ]
    # Labels of SELinux would hide the part of the host that is shown on purpose.
    words += ["--security-opt", "label=disable"]
    words += [
        "--pids-limit",
        str(limits.processes + 1),
        "--memory",
        str(limits.memory_bytes),
    ]
    words += [
        "--memory-swap",
        str(limits.memory_bytes),
        "--shm-size",
        str(limits.disk_bytes),
    ]
    words += [
        "--ulimit",
        "core=0:0",
        "--ulimit",
        f"nofile={launch.OPEN_FILES}:{launch.OPEN_FILES}",
    ]
    words += ["--log-driver", "none", "--workdir", view.WORK, "--interactive"]
    if Path(engine.path).name.startswith("podman"):
        # The engine ends a container whose supervisor died before it could.
        words += [
            "--timeout",
            str(int(limits.wall_s) + 60),
        ]
        if os.getuid():
            words += ["--userns", "keep-id"]
    for source, target in (
        (folder.work, view.WORK),
        (folder.home, view.HOME),
        (folder.tmp, view.TMP),
    ):
        words += ["--mount", _bind(str(source), target)]
    for source_name, target in _read_only(folder, command):
        words += ["--mount", _bind(source_name, target) + ",readonly"]
    for key, value in view.box_environment(view.HOME, view.TMP, command.environment).items():
        words += ["--env", f"{key}={value}"]
    return [
        *words,
        "--entrypoint",
        launch.REAPER[0],
        image,
        *launch.REAPER[1:],
        *command.argv,
    ]


def _bind(source: str, target: str) -> str:
    if "," in source + target:
        raise BoxBroke(f"a container engine cannot show a path with a comma in it: {source}")
    return f"type=bind,source={source},target={target}"


def _read_only(folder: BoxFolder, command: Command) -> list[tuple[str, str]]:
    found = [
        (
            str(mount.source.absolute()),
            mount.target,
        )
        for mount in view.checked_mounts(command)
    ]
    (folder.path / "etc").mkdir(exist_ok=True)
    for target, content in view.etc_files(
        view.USER_ID if os.getuid() == 0 else os.getuid()
    ).items():
        kept = folder.path / "etc" / target.replace("/", "+")
        kept.write_bytes(content)
        found.append((str(kept), target))
    return [
        *(bind for bind in view.host_view().binds if not bind[1].startswith("/sys")),
        *found,
    ]


def _empty_image(engine: Engine) -> str:
    """An image with nothing in it but the links and folders of the host's root."""
    folders = {"box", "proc", "dev", "sys", "etc", "tmp", "usr", "var"}
    folders |= {target.lstrip("/") for _, target in view.host_view().binds if Path(target).is_dir()}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in sorted(folders):
            entry = tarfile.TarInfo(name)
            entry.type = tarfile.DIRTYPE
            entry.mode = 0o755
            archive.addfile(entry)
        for text, target in view.host_view().links:
            entry = tarfile.TarInfo(target.lstrip("/"))
            entry.type = tarfile.SYMTYPE
            entry.linkname = text
            archive.addfile(entry)
    content = packed.getvalue()
    image = f"reenact-empty:{hashlib.sha256(content).hexdigest()[:12]}"
    if not engine.ask("image", "inspect", image).ok:
        made = engine.ask("import", "-", image, given=content)
        if not made.ok:
            raise BoxBroke(f"the empty image could not be made: {made.complaint}")
    return image


def _watch_from_outside(box: Started, engine: Engine, name: str) -> None:
    """Open what the machine shows of the container; a remote engine, or another user's, shows
    nothing.
    """
    deadline = time.monotonic() + 30
    # Looked at without reaping: the status and the times of the process are read by the supervisor.
    looking = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while (
        time.monotonic() < deadline
        and os.waitid(
            os.P_PID,
            box.process.pid,
            looking,
        )
        is None
    ):
        pid = engine.state(name).get("Pid")
        if isinstance(pid, int) and pid > 0:
            box.group = group_of(pid)
            with suppress(OSError):
                if _has_processes_of_its_own(pid):
                    launch.look_into(box, pid)
            return
        time.sleep(0.02)


def _has_processes_of_its_own(pid: int) -> bool:
    """Whether a PID namespace holds it. In ours its /proc shows every process of the machine, whose
    memory and times are not those of the container.
    """
    return not Path(f"/proc/{pid}/ns/pid").samefile("/proc/self/ns/pid")


def _kill(engine: Engine, name: str, process: subprocess.Popen[bytes]) -> None:
    engine.ask("kill", "--signal", "KILL", name)
    launch.signal_child(process)


def _ended(engine: Engine, name: str, status: int) -> ProgramEnd:
    """How the program ended, as the engine knows it; the client's own status says less."""
    state = engine.state(name)
    if not state or state.get("Status") == "created":
        reason = (
            state.get("Error")
            or f"its client ended with status {os.waitstatus_to_exitcode(status)}"
        )
        raise BoxBroke(f"the container did not start: {reason}")
    code = state.get("ExitCode")
    if not isinstance(code, int):
        raise BoxBroke("the engine did not tell how the program ended")
    end = ProgramEnd.from_shell(code)
    if state.get("OOMKilled") is True:
        return replace(end, crossing=Crossing(Ending.MEMORY_LIMIT, "memory: more than its limit"))
    return end
