"""One run of generated code in a fresh sandbox, and what is known of it afterwards: also what
it logged.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from reenact.codegen.environment import Environment, environment_for, imported
from reenact.codegen.project import Project
from reenact.errors import SandboxFailed, ended_by
from reenact.journal import Kind, Scope
from reenact.sandbox.again import run_again_if_killed
from reenact.sandbox.box import (
    MIB,
    BoxResult,
    Command,
    Ending,
    Limits,
    Mount,
    OnOutput,
    Sandbox,
)
from reenact.sandbox.environments.prepare import Environments
from reenact.sandbox.view import WORK
from reenact.types import JsonValue, Stop

TAIL = 6000
"""Characters of output that are kept: its end, where errors are."""
PATIENCE = 4
"""Wall time of a run, as a multiple of its CPU time: a busy machine does not decide how a run
ends.
"""
PRINTED = ""
"""What the printed lines are called among the logs of a run."""


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """One run of generated code, as the journal keeps it."""

    ending: str
    """An `Ending`, as text."""
    exit_code: int | None
    signal: int | None
    why: str
    """For endings that are not about the program."""
    wall_s: float
    cpu_s: float
    peak_mib: float
    output: str
    """The end of what was printed."""
    results: Mapping[str, str]
    """Collected files that are text, by name."""
    events: tuple[str, ...] = ()
    logs: Mapping[str, str] = field(default_factory=dict)
    """What it logged of its training, where that was asked for: log files by name, and printed
    lines under `PRINTED`; long ones thinned.
    """

    @property
    def ok(self) -> bool:
        return self.ending == Ending.OK

    @property
    def was_run(self) -> bool:
        """Whether it says anything about the program: not when every box was killed from
        outside.
        """
        return self.ending != Ending.KILLED

    @property
    def wanted_network(self) -> bool:
        """Whether it asked for the network, which is not there."""
        return any(event.startswith("network-denied:") for event in self.events)

    @property
    def sentence(self) -> str:
        """How it ended, in words."""
        other = (
            f"It was ended ({self.ending}): {self.why}."
            if self.why
            else f"It was ended: {self.ending}."
        )
        return {
            Ending.OK.value: "It ended well.",
            Ending.EXIT.value: f"It ended with exit code {self.exit_code}.",
            Ending.SIGNAL.value: f"It died of signal {self.signal}.",
            Ending.KILLED.value: f"It could not run: {self.why}.",
        }.get(self.ending, other)


@dataclass(frozen=True, slots=True)
class UserFolder:
    """A folder of the user's that generated code may read."""

    path: Path
    name: str
    """Where it is seen, next to the project's files."""
    variable: str
    """The environment variable that says so."""


@dataclass(frozen=True)
class ProjectRunner:
    """Everything that runs of generated code share."""

    sandbox: Sandbox
    wall_s: float = 300.0
    """CPU seconds that a run may take, unless it is given others."""
    memory_mib: int = 4096
    output_mib: int = 8
    """Printed MiB after which a run is ended."""
    folders: tuple[UserFolder, ...] = ()
    requirements: tuple[str, ...] = ()
    """Packages that the code may use besides those of this interpreter."""
    packages: tuple[str, ...] = ()
    """Names of packages that the user vouches for."""
    environments: Environments | None = None
    """Builds environments; without it only this interpreter's packages can be used."""
    stop: Stop = field(default_factory=Stop)
    _known: dict[str, Environment] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Environments by what is imported: a builder that fails is not asked again for every run."""

    def environment_of(self, project: Project) -> Environment:
        """The interpreter and packages that a generated project runs with."""
        key = "\n".join(
            [
                *imported(project),
                "",
                project.files.get("requirements.txt", ""),
            ]
        )
        if key not in self._known:
            self._known[key] = environment_for(
                project, self.requirements, self.packages, self.environments
            )
        return self._known[key]

    def limits(self, cpu_s: float | None = None) -> Limits:
        """What a run may use: so many seconds of a processor, for which it may wait."""
        if cpu_s is None:
            cpu_s = self.wall_s
        memory = self.memory_mib * MIB
        output = self.output_mib * MIB
        usual = Limits(
            memory_bytes=memory,
            output_bytes=output,
            keep_bytes=4 * TAIL,
        )
        return replace(usual, wall_s=PATIENCE * cpu_s, cpu_s=cpu_s)

    def run(
        self,
        step: str,
        scope: Scope,
        project: Project,
        arguments: tuple[str, ...],
        *,
        limits: Limits,
        collect: tuple[str, ...],
        extra: Mapping[str, bytes] | None = None,
        task: Mapping[str, JsonValue] | None = None,
        logs: tuple[str, ...] | None = None,
    ) -> ProgramRun:
        """`python ARGUMENTS` next to the project's files, once; a step of the journal.

        `logs` asks for what the run reports its training and names files in which it may; a log
        that is not there or may not be read changes nothing. `task` goes to standard input with a
        word that no one else knows: what is collected under a name with `WORD` in it has that word
        in its place. Raises SandboxFailed and Stopped, which say nothing about the project.
        """
        environment = self.environment_of(project)
        inputs = {
            "project": dict(project.files),
            "arguments": arguments,
            "environment": environment.key,
            "limits": [limits.cpu_s or limits.wall_s, limits.memory_bytes],
            "extra": {
                name: hashlib.sha256(data).hexdigest() for name, data in (extra or {}).items()
            },
            "task": task,
            "folders": self.folder_marks,
        }

        def effect() -> ProgramRun:
            word = secrets.token_hex(16)
            files = {name: text.encode("utf-8", "replace") for name, text in project.files.items()}
            stdin = b""
            if task is not None:
                stdin = json.dumps(
                    {
                        **task,
                        "word": word,
                    }
                ).encode()
            named = {name: name.replace("WORD", word) for name in collect}
            files |= extra or {}
            return self.execute(
                environment,
                arguments,
                files,
                limits=limits,
                stdin=stdin,
                collect=named,
                logs=logs,
            )

        # A run that was killed is tried again by the same command, not kept.
        return scope.step(
            step,
            effect,
            kind=Kind.BOX,
            inputs=inputs,
            returns=ProgramRun,
            still=lambda run: run.was_run,
        )

    def execute(
        self,
        environment: Environment,
        arguments: tuple[str, ...],
        files: Mapping[str, bytes],
        *,
        limits: Limits,
        mounts: tuple[Mount, ...] = (),
        variables: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        collect: Mapping[str, str] | None = None,
        logs: tuple[str, ...] | None = None,
    ) -> ProgramRun:
        """`python ARGUMENTS` in a fresh sandbox, once; no step of a journal. `collect` has the name
        that a result gets, and the name of its file. Raises SandboxFailed and Stopped.
        """
        named = collect or {}
        command = Command(
            argv=(environment.python, "-s", *arguments),
            files=files,
            mounts=(*environment.mounts, *self.mounts(), *mounts),
            environment={
                **self.variables(environment),
                **(variables or {}),
            },
            stdin=stdin,
            collect=(*named.values(), *(logs or ())),
        )
        samplers: list[LogSampler] = []

        def listen() -> OnOutput | None:
            if logs is None:
                return None
            samplers.append(LogSampler())
            return samplers[-1]

        result = run_again_if_killed(
            self.sandbox,
            command,
            limits,
            listen=listen,
            stop=self.stop,
        )
        if result.ending is Ending.CANCELLED:
            raise ended_by(self.stop, "Stopped while generated code ran.")
        if result.ending is Ending.SANDBOX_FAILED:
            raise SandboxFailed(f"Generated code could not be run: {result.why}.")
        left = {
            name: result.results[real] for name, real in named.items() if real in result.results
        }
        kept = {name: result.results[name] for name in logs or () if name in result.results}
        training = {}
        if samplers:
            training = {
                PRINTED: samplers[-1].text(),
                **thinned(kept),
            }
        return ProgramRun(
            ending=str(_ending(result, logs or ())),
            exit_code=result.exit_code,
            signal=result.signal,
            why=result.why,
            wall_s=result.wall_s,
            cpu_s=result.cpu_s,
            peak_mib=result.peak_memory_bytes / MIB,
            output=result.output[-TAIL:],
            results={name: data.decode("utf-8", "replace") for name, data in left.items()},
            events=tuple(f"{event.kind}: {event.detail}" for event in result.events),
            logs={name: text for name, text in training.items() if text},
        )

    def mounts(self) -> tuple[Mount, ...]:
        """The user's folders as a box sees them."""
        return tuple(
            Mount(
                one.path.absolute(),
                f"{WORK}/{one.name}",
            )
            for one in self.folders
        )

    def variables(
        self,
        environment: Environment | None = None,
    ) -> dict[str, str]:
        """Variables that make runs alike, and say where the user's folders are."""
        keras = environment.keras if environment is not None else "torch"
        made = {
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "KERAS_BACKEND": keras,
        }
        return made | {one.variable: one.name for one in self.folders}

    @cached_property
    def folder_marks(self) -> list[str]:
        """Change when what is in the user's folders does; looked at once."""
        marks = [hashlib.sha256() for _ in self.folders]
        for mark, folder in zip(marks, (one.path for one in self.folders), strict=True):
            for path in sorted(filter(Path.is_file, folder.rglob("*"))):
                stat = path.stat()
                mark.update(
                    f"{path.relative_to(folder)}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode()
                )
        return [mark.hexdigest()[:16] for mark in marks]


class MountedSandbox:
    """The sandbox of a runner, with the user's folders and the environment of the code in every
    box.
    """

    def __init__(self, runner: ProjectRunner) -> None:
        self._runner = runner
        self.name = runner.sandbox.name
        self.missing = runner.sandbox.missing
        self.does_not_stop = runner.sandbox.does_not_stop

    def run(
        self,
        command: Command,
        limits: Limits,
        *,
        on_output: OnOutput | None = None,
        stop: Stop | None = None,
    ) -> BoxResult:
        """See `Sandbox.run`."""
        runner = self._runner
        made = runner.environments.listing() if runner.environments is not None else ()
        # A prepared interpreter, when the command starts one.
        prepared = next(
            (one.mounts for one in made if one.python == command.argv[0]),
            (),
        )
        mounts = (
            *command.mounts,
            *prepared,
            *runner.mounts(),
        )
        mounted = replace(
            command,
            mounts=mounts,
            environment={
                **runner.variables(),
                **command.environment,
            },
        )
        limits = replace(limits, memory_bytes=runner.limits().memory_bytes)
        return runner.sandbox.run(mounted, limits, on_output=on_output, stop=stop)


def _ending(result: BoxResult, logs: tuple[str, ...]) -> Ending:
    """How the program ended; a log that may not be read is not a result, and does not decide it."""
    refused = [one.partition(": ")[0] for one in result.why.split("; ")]
    if result.ending is not Ending.RESULT_REFUSED or not set(refused) <= set(logs):
        return result.ending
    if result.signal is not None:
        return Ending.SIGNAL
    return Ending.EXIT if result.exit_code else Ending.OK


MOST_LINES = 500
"""Logged lines of one kind; beyond that every second one is dropped, again and again."""
MOST_KINDS = 64
LONGEST_LINE = 600
LARGEST_WHOLE = 1 << 20
"""Bytes of a log file that cannot be thinned by lines."""
_NUMBER = re.compile(r"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?|\bnan\b|[-+]?\binf\b", re.IGNORECASE)


@dataclass(slots=True)
class _Kind:
    every: int = 1
    count: int = 0
    lines: list[tuple[int, str]] = field(default_factory=list)
    last: tuple[int, str] = (0, "")


class LogSampler:
    """Hears what is printed while it is printed, and keeps the lines that tell a number: of each
    kind a bounded share, however many there are.

    Lines are of one kind when they differ in their numbers alone, so that two methods which report
    in turn are thinned each by itself, and none of them is lost.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, _Kind] = {}
        self._rest = ""
        self._number = 0

    def __call__(self, data: bytes) -> None:
        """Take what one read gave; a listener of a box."""
        *lines, self._rest = (self._rest + data.decode("utf-8", "replace")).split("\n")
        self._rest = self._rest[: LONGEST_LINE + 1]
        self.take(lines)

    def take(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._number += 1
            kind = _NUMBER.sub("#", line)
            known = kind in self._kinds or len(self._kinds) < MOST_KINDS
            if not known or len(line) > LONGEST_LINE or kind == line:
                continue
            kept = self._kinds.setdefault(kind, _Kind())
            kept.last = (self._number, line)
            kept.lines += [] if kept.count % kept.every else [kept.last]
            kept.count += 1
            if len(kept.lines) >= MOST_LINES:
                kept.lines = kept.lines[::2]
                kept.every = kept.every * 2

    def text(self) -> str:
        """What was kept, in the order in which it was printed."""
        self.take(filter(None, [self._rest]))
        self._rest = ""
        kept = {line for one in self._kinds.values() for line in (*one.lines, one.last)}
        return "\n".join(line for _, line in sorted(kept))


def thinned(logs: Mapping[str, bytes]) -> dict[str, str]:
    """Log files as text, long ones thinned; one that is not text, or JSON of too many bytes, is
    left out.
    """
    found = {}
    for name, data in logs.items():
        text = data.decode("utf-8", "replace")
        if name.endswith(".json") and len(data) <= LARGEST_WHOLE:
            found[name] = text
        elif not name.endswith(".json") and "\0" not in text:
            lines = text.splitlines()
            sampler = LogSampler()
            sampler.take(lines[1:])
            # The first line of a table has names and no number.
            found[name] = "\n".join(
                [
                    *lines[:1],
                    sampler.text(),
                ]
            )
    return found
