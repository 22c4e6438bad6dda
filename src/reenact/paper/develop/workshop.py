"""What development and measurement work with, and one run of a project in a fresh box."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reenact.errors import SandboxFailed, ended_by
from reenact.journal import Kind, Scope
from reenact.llm.ask import Model
from reenact.paper.develop.hearing import Heard, thinned
from reenact.paper.develop.packages import Prepared, imported, prepared_for
from reenact.paper.project import Project
from reenact.paper.wishes import Wishes
from reenact.sandbox.box import MIB, BoxResult, Command, Ending, Limits, Mount, Sandbox
from reenact.sandbox.environments.prepare import Environments
from reenact.sandbox.walls.view import WORK
from reenact.types import JsonValue, Progress, Stop, Tell, tell_nobody

USER_DATA, USER_CHECKPOINTS = "user_data", "user_checkpoints"
"""Where the user's folders are seen, read-only, beside the project's files."""
OUTPUT_BYTES = 8 * MIB
TAIL = 6000
"""Characters of output that are kept: its end, where errors stand."""
PRINTED = ""
"""What the printed lines are called among what a run told."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of a project, as the journal keeps it."""

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
    told: Mapping[str, str] = field(default_factory=dict)
    """What it told of its training, where that was asked for: log files by name, and printed lines under
    `PRINTED`; long ones thinned."""

    @property
    def ok(self) -> bool:
        return self.ending == Ending.OK

    @property
    def sentence(self) -> str:
        """How it ended, in words."""
        if self.ok:
            return "It ended well."
        if self.ending == Ending.EXIT:
            return f"It ended with exit code {self.exit_code}."
        if self.ending == Ending.SIGNAL:
            return f"It died of signal {self.signal}."
        return f"It was ended ({self.ending}): {self.why}." if self.why else f"It was ended: {self.ending}."


@dataclass(frozen=True)
class Workshop:
    """Everything from outside. The wishes decide data, packages, time and memory of the runs."""

    model: Model
    sandbox: Sandbox
    wishes: Wishes = field(default_factory=Wishes)
    environments: Environments | None = None
    """Builds environments; without it only this interpreter's packages can be used."""
    packages: tuple[str, ...] = ()
    """Names of packages that the user vouches for."""
    out: Path | None = None
    """Where the project goes, a commit a round; none: nowhere."""
    gpu: bool = False
    """Let the generated code see the GPU."""
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)
    _known: dict[str, Prepared] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Environments by what is imported: a builder that fails is not asked again for every run."""
    _marks: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    def say(self, note: str) -> None:
        """Tell the user what happens; stop here when that was asked for."""
        if self.stop.asked:
            raise ended_by(self.stop, "Stopped between two steps.")
        self.tell(Progress("paper", note=note))

    def prepared(self, project: Project) -> Prepared:
        """The interpreter and packages that this version runs with."""
        key = "\n".join([*imported(project), "", project.files.get("requirements.txt", "")])
        if key not in self._known:
            wished = self.wishes.requirements
            self._known[key] = prepared_for(project, wished, self.packages, self.environments)
        return self._known[key]

    def limits(self, wall_s: float) -> Limits:
        return Limits(
            wall_s=wall_s,
            memory_bytes=self.wishes.memory_mib * MIB,
            output_bytes=OUTPUT_BYTES,
            keep_bytes=4 * TAIL,
        )

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
    ) -> Ran:
        """`python ARGUMENTS` beside the project's files, once; a step of the journal.

        `logs` asks for what the run tells of its training and names files in which it may; a log that is not
        there or may not be read changes nothing. `task` goes to standard input with a word that nobody else
        knows: what is collected under a name with `WORD` in it has that word in its place. Raises
        SandboxFailed and Stopped, which say nothing about the project.
        """
        prepared = self.prepared(project)
        inputs = {
            "project": dict(project.files),
            "arguments": arguments,
            "environment": prepared.key,
            "limits": [limits.wall_s, limits.memory_bytes],
            "extra": {name: hashlib.sha256(data).hexdigest() for name, data in (extra or {}).items()},
            "task": task,
            "folders": self.folder_marks(),
            "gpu": self.gpu,
        }

        def effect() -> Ran:
            word = secrets.token_hex(16)
            names = {name: name.replace("WORD", word) for name in collect}
            told = json.dumps({**task, "word": word}).encode() if task is not None else b""
            files = {name: text.encode("utf-8", "replace") for name, text in project.files.items()}
            command = Command(
                argv=(prepared.python, "-s", *arguments),
                files={**files, **(extra or {})},
                mounts=(*prepared.mounts, *self.mounts()),
                environment=self.environment(),
                stdin=told,
                collect=(*names.values(), *(logs or ())),
                gpu=self.gpu,
            )
            heard = Heard()
            listener = heard if logs is not None else None
            result = self.sandbox.run(command, limits, on_output=listener, stop=self.stop)
            if result.ending is Ending.CANCELLED:
                raise ended_by(self.stop, "Stopped while generated code ran.")
            if result.ending is Ending.SANDBOX_FAILED:
                raise SandboxFailed(f"Generated code could not be run: {result.why}.")
            left = {name: result.results[real] for name, real in names.items() if real in result.results}
            kept = {name: result.results[name] for name in logs or () if name in result.results}
            training = {PRINTED: heard.text(), **thinned(kept)} if logs is not None else {}
            return Ran(
                ending=str(_ending(result, logs or ())), exit_code=result.exit_code, signal=result.signal,
                why=result.why, wall_s=result.wall_s, cpu_s=result.cpu_s,
                peak_mib=result.peak_memory_bytes / MIB, output=result.output[-TAIL:],
                results={name: data.decode("utf-8", "replace") for name, data in left.items()},
                events=tuple(f"{event.kind}: {event.detail}" for event in result.events),
                told={name: text for name, text in training.items() if text},
            )  # fmt: skip

        return scope.step(step, effect, kind=Kind.BOX, inputs=inputs, returns=Ran)

    def mounts(self) -> tuple[Mount, ...]:
        """The user's folders as a box sees them."""
        given = ((self.wishes.data, USER_DATA), (self.wishes.checkpoints, USER_CHECKPOINTS))
        return tuple(Mount(path.absolute(), f"{WORK}/{name}") for path, name in given if path is not None)

    def environment(self) -> dict[str, str]:
        """Variables that make runs alike, and say where the user's folders are."""
        made = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "KERAS_BACKEND": "torch"}
        if self.wishes.data is not None:
            made["DATA_DIR"] = USER_DATA
        if self.wishes.checkpoints is not None:
            made["CHECKPOINT_DIR"] = USER_CHECKPOINTS
        return made

    def folder_marks(self) -> list[str]:
        """Change when what is in the user's folders does; looked at once."""
        given = [path for path in (self.wishes.data, self.wishes.checkpoints) if path is not None]
        if given and not self._marks:
            self._marks.extend(_mark(path) for path in given)
        return list(self._marks)


def _ending(result: BoxResult, logs: tuple[str, ...]) -> Ending:
    """How the program ended; a log that may not be read is no result, and does not decide it."""
    refused = [one.partition(": ")[0] for one in result.why.split("; ")]
    if result.ending is not Ending.RESULT_REFUSED or not set(refused) <= set(logs):
        return result.ending
    if result.signal is not None:
        return Ending.SIGNAL
    return Ending.EXIT if result.exit_code else Ending.OK


def _mark(folder: Path) -> str:
    mark = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            stat = path.stat()
            mark.update(f"{path.relative_to(folder)}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode())
    return mark.hexdigest()[:16]
