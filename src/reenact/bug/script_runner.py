"""Runs of a script: a fresh sandbox, the project read-only next to it, seeds, and what the
watcher saw.
"""

import ast
import hashlib
import json
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from enum import Enum, StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any, TypedDict

from pydantic import TypeAdapter, ValidationError

from reenact.bug.project_files import ProjectFiles
from reenact.bug.recorded_calls import RecordedCalls
from reenact.claims.check import Check
from reenact.codegen.environment import Environment
from reenact.codegen.runner import ProgramRun, ProjectRunner
from reenact.codegen.syntax import imported_names, parsed
from reenact.errors import InputError, MissingPart, ResultRefused
from reenact.journal import Kind, Scope
from reenact.sandbox.box import Ending, Mount
from reenact.sandbox.files.results import read_json
from reenact.sandbox.view import WORK

REPOSITORY = "repository"
"""Name of the project's folder inside, below the work folder."""
INSIDE = (
    "watch.py",
    "judge.py",
    "calls.py",
    "digest.py",
    "hands.py",
    "lines.py",
    "reads.py",
    "checked.py",
    "genuine.py",
    "relations.py",
)
OF_CLAIMS = INSIDE[-3:]
"""Those that look at values, whatever a script is about."""
HANDED = "handed.py"
"""Runs what is handed over; it needs none of the others."""
RESULT = "result-{}.json"
OUTPUT_MIB = 4
"""Printed MiB after which a script is ended."""
REPAIRS = 3
"""Modules for which an environment is built again."""
PROOFS = 2
"""Times a proof is run that something stopped."""
OUTPUT = 3000
"""Characters of what the script printed that are kept, from the end. They are shown, never
believed.
"""


class FrameJson(TypedDict):
    """A frame for programs."""

    whose: str
    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a traceback."""

    whose: str
    """project, script or library."""
    file: str
    """Relative to the project for its own frames."""
    line: int
    function: str
    qualified: str
    """The function with its class, where the interpreter knows it."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.qualified}"

    def json_fields(self) -> FrameJson:
        """What programs get."""
        return {
            "whose": self.whose,
            "file": self.file,
            "line": self.line,
            "function": self.qualified,
        }


class Mode(StrEnum):
    """What the watcher looks at besides the outcome."""

    OUTCOME = "outcome"
    CALLS = "calls"
    """What goes from the script into the project, and what comes back."""
    HANDS = "hands"
    """What is raised in things that the script hands over."""
    LINES = "lines"
    """Which lines of the project it executes."""
    ALONE = "hands-alone"
    """The same where no fixed revision reports: lists, texts and numbers of the script are what
    they say.
    """


class Tried(Enum):
    """How a program and its test ended that were run as a maintainer runs them."""

    PASSED = (False, False)
    PROGRAM_FAILED = (True, False)
    TEST_FAILED = (False, True)
    FAILED = (True, True)
    UNKNOWN = (None, None)
    """They ended in a way of their own."""
    STOPPED = (None, None, "stopped")
    """Something stopped them each time."""

    @property
    def program_failed(self) -> bool | None:
        failed: bool | None = self.value[0]
        return failed

    @property
    def test_failed(self) -> bool | None:
        failed: bool | None = self.value[1]
        return failed


ENDINGS = (Tried.PASSED, Tried.PROGRAM_FAILED, Tried.TEST_FAILED, Tried.FAILED)
"""In the order of the exit codes of handed.py."""
FIRST_CODE = 64
PATIENCE = {
    Mode.OUTCOME: 1,
    Mode.CALLS: 4,
    Mode.HANDS: 2,
    Mode.LINES: 4,
    Mode.ALONE: 2,
}
"""How many times as long a run may take: writing calls down is work."""


@dataclass(frozen=True, slots=True)
class RunObservation:
    """One run of a script as the watcher in the box saw it: facts, no judgement."""

    ending: Ending
    why: str = ""
    """For endings that are about a limit or the box."""
    ended: str = ""
    """returned, raised or exited; empty when the watcher could not say."""
    classes: tuple[str, ...] = ()
    """Class of the exception and its bases."""
    message: str = ""
    frames: tuple[Frame, ...] = ()
    """Innermost last."""
    blamed: str = ""
    """Whose the innermost frame is that is not a library's."""
    missing: str = ""
    """The module that could not be found."""
    refused: bool = False
    """The innermost line is a `raise` or `assert`: something was refused on purpose."""
    holds: bool | None = None
    """Whether the relation that shows a silent bug holds; none when it was not looked at."""
    saw: str = ""
    number: float | None = None
    """The observed value, when it is a single number."""
    problem: str = ""
    """Why the check could not be computed."""
    network: bool = False
    """Whether it wanted the network, which is not there."""
    noticed: str = ""
    """What the script did that it may not: a file of the repository opened, the interpreter
    traced.
    """
    made: str = ""
    """How the script itself made the exception that came out of the project."""
    plain: str = ""
    """Classes of the script that were made to answer like the built-in types that they are."""
    calls: RecordedCalls | None = None
    imported: Mapping[str, str] = field(default_factory=dict)
    """The project's modules that the script names, and from which file each was imported: a
    relative path below the project, an absolute one elsewhere.
    """
    executed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Lines of each file of the project that ran in functions, the last one last; where that was
    looked at.
    """
    kinds: Mapping[str, str] = field(default_factory=dict)
    """The classes of `observed` and `reference`."""
    versions: Mapping[str, str] = field(default_factory=dict)
    output: str = ""
    wall_s: float = 0.0

    @property
    def was_run(self) -> bool:
        """Whether it says anything about the script: not when every box was killed from outside."""
        return self.ending is not Ending.KILLED

    @property
    def last(self) -> Frame | None:
        """The innermost frame that is not a library's."""
        return next(
            (frame for frame in reversed(self.frames) if frame.whose != "library"),
            None,
        )

    @property
    def project_frames(self) -> tuple[Frame, ...]:
        return tuple(frame for frame in self.frames if frame.whose == "project")


_OBSERVED = TypeAdapter(RunObservation)


@dataclass(frozen=True)
class Revision:
    """One state of the project."""

    identity: str
    """What the journal knows it by."""
    files: ProjectFiles
    day: date | None = None
    """When it was committed, where that is known."""
    metadata: Mapping[str, bytes] = field(default_factory=dict)
    """Files next to it that say that it is installed."""


@dataclass
class ScriptRunner:
    """All that a run needs but the script."""

    runner: ProjectRunner
    environment: Environment
    stubs: tuple[str, ...] = ()
    waited: list[float] = field(default_factory=list, compare=False)
    """Seconds of each box in which it had no processor."""
    rebuild: Callable[..., Environment] | None = None
    """Builds the environment once more, with the packages of missing modules."""
    missing: list[str] = field(default_factory=list, compare=False)
    """Modules for which it was built again."""

    def repair(self, missing: str) -> bool:
        """Whether there is a new environment now, with the module that a run did not find."""
        build = self.rebuild
        if build is None or not missing or missing in self.missing:
            return False
        if len(self.missing) >= REPAIRS:
            return False
        self.missing.append(missing)
        # A name that no one knows, or that cannot be installed: the verdict names the option.
        with suppress(InputError, MissingPart):
            self.environment = build(missing=tuple(self.missing))
            return True
        self.missing.remove(missing)
        self.rebuild = None
        return False

    def observe(
        self,
        run: Scope,
        name: str,
        script: str,
        check: Check | None,
        seeds: Sequence[int],
        at: Revision,
        mode: Mode = Mode.OUTCOME,
    ) -> dict[int, RunObservation]:
        """One run a seed, each a step of the journal: known ones are taken from there, the others
        share a box. Raises SandboxFailed and Stopped, which say nothing about the script.
        """
        steps = {f"{name}[{seed}]": seed for seed in seeds}

        def effect(missing: tuple[str, ...]) -> Iterator[Mapping[str, RunObservation]]:
            seen = self.run(
                script,
                check,
                [steps[one] for one in missing],
                at,
                mode,
            )
            yield {one: seen[steps[one]] for one in missing}

        given: dict[str, object] = {
            "script": script,
            "check": check.model_dump(mode="json") if check is not None else None,
            "revision": at.identity,
            "environment": self.environment.key,
            "stubs": list(self.stubs),
            "limits": self.bounds,
            "mode": mode.value,
            # What an older watcher saw is not taken for what this one would see.
            "watcher": hashlib.sha256(b"\0".join(map(_inside, INSIDE))).hexdigest()[:16],
        }
        inputs = {
            one: {
                **given,
                "seed": seed,
            }
            for one, seed in steps.items()
        }
        # A run whose box was killed is tried again by the same command, not kept.
        found = run.many(
            inputs,
            effect,
            kind=Kind.BOX,
            returns=RunObservation,
            still=lambda seen: seen.was_run,
        )
        return {seed: found[one] for one, seed in steps.items()}

    def run(
        self,
        script: str,
        check: Check | None,
        seeds: Sequence[int],
        revision: Revision,
        mode: Mode = Mode.OUTCOME,
        names: Collection[str] = (),
    ) -> dict[int, RunObservation]:
        """Run once a seed, in one box. `names`: the project's modules, where they may be none of
        this revision.
        """
        words = {seed: secrets.token_hex(16) for seed in seeds}
        task = {
            "words": words,
            "script": "script.py",
            "project": REPOSITORY,
            "roots": self.roots(revision),
            "seeded": self.environment.seeded(script),
            "stubs": list(self.stubs),
            "check": check.model_dump(mode="json") if check is not None else None,
            "mode": mode.value,
            "modules": modules_of(script, names or revision.files.packages),
        }
        given = {f".reenact/{name}": _inside(name) for name in INSIDE}
        given["script.py"] = script.encode("utf-8", "replace")
        stdin = json.dumps(task).encode()
        results = {one: one for one in map(RESULT.format, seeds)}
        times = len(seeds) * PATIENCE[mode]
        ran = self.execute_program(
            ".reenact/watch.py", given, revision, times, stdin=stdin, collect=results
        )
        return {
            seed: observation_of(
                ran,
                words[seed],
                RESULT.format(seed),
            )
            for seed in seeds
        }

    def exit_code(self, program: str, revision: Revision) -> int | None:
        """What a program exits with that finds the project by itself; none when something stopped
        it each time: a run that did not end says nothing.
        """
        given = {"repro.py": program.encode("utf-8", "replace")}
        for _ in range(PROOFS):
            ran = self.execute_program("repro.py", given, revision, 1)
            if ran.ending in (Ending.OK, Ending.EXIT):
                return ran.exit_code
        return None

    def try_out(self, program: str, test: str, revision: Revision) -> Tried:
        """Run what is handed over as a maintainer runs it: the program, and the test where there
        is one.
        """
        names = {"program": "repro.py", "test": "test_repro.py" if test else ""}
        given = {
            ".reenact/handed.py": _inside(HANDED),
            "repro.py": program.encode("utf-8", "replace"),
        }
        if test:
            given["test_repro.py"] = test.encode("utf-8", "replace")
        task = {
            **names,
            "roots": self.roots(revision),
            "seeded": self.environment.seeded(program),
        }
        for _ in range(PROOFS):
            ran = self.execute_program(
                f".reenact/{HANDED}",
                given,
                revision,
                2,
                stdin=json.dumps(task).encode(),
            )
            if ran.ending in (Ending.OK, Ending.EXIT):
                known = {FIRST_CODE + number: one for number, one in enumerate(ENDINGS)}
                return known.get(ran.exit_code or 0, Tried.UNKNOWN)
        return Tried.STOPPED

    def roots(self, revision: Revision) -> list[str]:
        """The folders of the project that go on the import path in a box."""
        return [str(Path(REPOSITORY) / root) for root in revision.files.roots]

    def execute_program(
        self,
        program: str,
        files: Mapping[str, bytes],
        revision: Revision,
        times: int,
        **more: Any,
    ) -> ProgramRun:
        """In a box that may use the seconds of so many runs, and may wait for a processor."""
        beside = {str(PurePosixPath(name).parents[1]) for name in revision.metadata}
        path = {}
        if beside:
            path = {"PYTHONPATH": ":".join(sorted(beside))}
        more["variables"] = {
            **path,
            **more.get("variables", {}),
        }
        # Read-only, and every revision at the same place.
        more["mounts"] = (
            Mount(
                revision.files.folder.absolute(),
                f"{WORK}/{REPOSITORY}",
            ),
        )
        given = {
            **files,
            **revision.metadata,
        }
        limits = self.runner.limits(self.runner.wall_s * times)
        ran = self.runner.execute(
            self.environment,
            (program,),
            given,
            limits=limits,
            **more,
        )
        self.waited.append(max(0.0, ran.wall_s - ran.cpu_s))
        return ran

    @property
    def bounds(self) -> list[float]:
        """Seconds and MiB of one run, as a journal compares them."""
        return [self.runner.wall_s, self.runner.memory_mib]


def modules_of(script: str, packages: Collection[str]) -> list[str]:
    """The modules of the project that a script imports, by their first names."""
    tree = parsed(script)
    nodes = ast.walk(tree) if tree is not None else ()
    named = {one.module.partition(".")[0] for node in nodes for one in imported_names(node)}
    return sorted(named & set(packages))


def observation_of(run: ProgramRun, word: str, name: str) -> RunObservation:
    """What a run left behind. A result without our word is not the watcher's and counts for
    nothing.
    """
    known = {
        "ending": Ending(run.ending),
        "network": run.wanted_network,
        "output": run.output[-OUTPUT:],
        "wall_s": round(run.wall_s, 2),
    }
    with suppress(ResultRefused, ValidationError):
        result = read_json(run.results.get(name, "").encode())
        if isinstance(result, dict) and result.get("word") == word:
            _name_events(result)
            return _OBSERVED.validate_python(
                {
                    **result,
                    **known,
                }
            )
    return _OBSERVED.validate_python(
        {
            **known,
            "why": run.why,
        }
    )


def _name_events(result: dict[str, Any]) -> None:
    """Recorded events come as lists, which are short; here they get their names."""
    calls = result.get("calls")
    if isinstance(calls, dict) and isinstance(calls.get("events"), list):
        names = ("way", "function", "line", "tree", "route")
        rows = (
            event
            for event in calls["events"]
            if isinstance(event, list) and len(event) == len(names)
        )
        calls["events"] = [dict(zip(names, event, strict=True)) for event in rows]


@cache
def _inside(name: str) -> bytes:
    package = "reenact.claims.inside" if name in OF_CLAIMS else "reenact.bug.inside"
    return files(package).joinpath(name).read_bytes()
