"""One look at a program through the script of a check: in the sandbox, once a seed."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import TypeAdapter, ValidationError

from reenact.claims.check import Check
from reenact.errors import ResultRefused, SandboxFailed, ended_by
from reenact.probe.injected import default_python
from reenact.program.program import Program
from reenact.sandbox.again import run_again_if_killed
from reenact.sandbox.box import MIB, BoxResult, Command, Ending, Limits, Mount, Sandbox
from reenact.sandbox.files.results import read_json
from reenact.sandbox.view import WORK
from reenact.trials.folder import INJECTED, Placed, place
from reenact.trials.job import imports
from reenact.types import Stop

INSIDE = ("look.py", "reach.py", "checked.py", "genuine.py", "relations.py")
TREES = "reenact_trials_tree.py"
BESIDE = ".reenact-claim"
RESULT = "seen-{}-{}.json"
TREE = "tree"
WALL_S = 120.0
"""Seconds of one run of a script, for which it may wait four times as long."""
PATIENCE = 4
MEMORY_MIB = 8192
TAIL = 2000


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One run of a script on a program, with one seed: facts, no judgement."""

    ending: str
    """An `Ending`, as text."""
    why: str = ""
    ended: str = ""
    """returned, raised or exited; empty when no one could say."""
    holds: bool | None = None
    """Whether the relation holds that shows the fault; none where it could not be computed."""
    saw: str = ""
    problem: str = ""
    kinds: Mapping[str, str] = field(default_factory=dict)
    number: float | None = None
    kind: str = ""
    message: str = ""
    where: str = ""
    """The exception that ended the script: its class, its message, and the line."""
    unreached: bool = False
    reached: int = 0
    """How often it got into the program."""
    output: str = ""
    cpu_s: float = 0.0

    @property
    def was_run(self) -> bool:
        """Whether it says anything: not when every box was killed from outside."""
        return self.ending != Ending.KILLED

    @property
    def is_red(self) -> bool:
        """The script ended normally, and the property does not hold."""
        return self.ended == "returned" and self.holds is True and not self.problem

    @property
    def is_green(self) -> bool:
        return self.ended == "returned" and self.holds is False and not self.problem

    @property
    def decided(self) -> bool:
        return self.is_red or self.is_green

    @property
    def sentence(self) -> str:
        """What came of it, in words."""
        if self.problem:
            return self.problem
        if self.decided:
            return self.saw
        if self.unreached:
            return f"the check did not reach the program: {self.message}"
        if self.ended == "raised":
            at = f" ({self.where})" if self.where else ""
            return f"it ended in {self.kind}: {self.message}{at}"
        if self.ended == "exited":
            return f"it exited: {self.message}"
        return f"it was ended: {self.ending}{f', {self.why}' if self.why else ''}"


_SEEN = TypeAdapter(CheckRun)


@dataclass(frozen=True, slots=True)
class Look:
    """A program to look at."""

    name: str
    program: Program
    seeds: tuple[int, ...] = (1,)
    later: int = 1
    """Times as far as the script goes by itself."""


@dataclass(frozen=True)
class Looker:
    """All that a look needs but the program and the script."""

    sandbox: Sandbox
    python: str = ""
    mounts: tuple[Mount, ...] = ()
    """What the watched run opened outside of the program's folder, read-only."""
    wall_s: float = WALL_S
    stop: Stop = field(default_factory=Stop)

    def __call__(
        self,
        program: Program,
        script: str,
        check: Check,
        looks: Sequence[Look],
    ) -> dict[str, tuple[CheckRun, ...]]:
        """Each look, once a seed, all in one box that imports the frameworks once. `program` is
        what they are changed from. Raises SandboxFailed and Stopped.
        """
        with TemporaryDirectory(prefix="reenact-claim-") as made:
            placed = place(program, Path(made) / TREE)
            words = {one.name: [secrets.token_hex(16) for _ in one.seeds] for one in looks}
            task = {
                "work": WORK,
                "tree": TREE,
                "script": f"{BESIDE}/check.py",
                "root": _within(placed.folder, placed),
                "working": _within(placed.working, placed),
                "entry": str(placed.entry.relative_to(placed.folder)),
                "bases": [str(one) for one in program.bases],
                "imports": _ahead(program),
                "check": check.model_dump(mode="json"),
                "looks": [
                    {
                        "name": one.name,
                        "files": _files(program, one.program, placed),
                        "arguments": list(one.program.arguments),
                        "later": one.later,
                        "seeds": list(zip(one.seeds, words[one.name], strict=True)),
                    }
                    for one in looks
                ],
            }
            given = {f"{BESIDE}/{name}": _inside(name) for name in INSIDE}
            given[f"{BESIDE}/{TREES}"] = (INJECTED / TREES).read_bytes()
            given[f"{BESIDE}/check.py"] = script.encode("utf-8", "replace")
            names = [RESULT.format(one.name, seed) for one in looks for seed in one.seeds]
            command = Command(
                argv=(default_python(self.python), "-s", f"{BESIDE}/look.py"),
                files=given,
                workspace=Path(made),
                mounts=self.mounts,
                environment=_variables(),
                stdin=json.dumps(task).encode(),
                collect=tuple(names),
            )
            wall = self.wall_s * sum(len(one.seeds) * one.later for one in looks)
            limits = Limits(
                wall_s=PATIENCE * wall,
                cpu_s=wall,
                memory_bytes=MEMORY_MIB * MIB,
                keep_bytes=4 * TAIL,
            )
            result = run_again_if_killed(self.sandbox, command, limits, stop=self.stop)
        if result.ending is Ending.CANCELLED:
            raise ended_by(self.stop, "Stopped while a check ran.")
        if result.ending is Ending.SANDBOX_FAILED:
            raise SandboxFailed(f"The check could not be run: {result.why}.")
        return {
            one.name: tuple(
                _seen(result, word, RESULT.format(one.name, seed))
                for seed, word in zip(one.seeds, words[one.name], strict=True)
            )
            for one in looks
        }


def _within(path: Path, placed: Placed) -> str:
    """Where a folder of the tree is in the box."""
    return str(Path(WORK, TREE) / path.relative_to(placed.root))


def _files(program: Program, other: Program, placed: Placed) -> dict[str, str]:
    """The files of another program that are not those of this one, by their place in the tree."""
    folder = placed.folder.relative_to(placed.root)
    found = {
        str(folder / new.path): new.raw
        for old, new in zip(program.files, other.files, strict=True)
        if old.raw != new.raw
    }
    if program.is_notebook and other.script() != program.script():
        found[str(placed.entry.relative_to(placed.root))] = other.script()
    return found


def _ahead(program: Program) -> list[str]:
    """What is imported before the program runs: also what an optimizer imports when it is made, which
    takes several times as long while calls are followed.
    """
    found = list(imports(program))
    return [*found, "torch._dynamo"] if "torch" in found else found


def _variables() -> dict[str, str]:
    return {
        # What is imported ahead may start CUDA, and no fork could use it any more.
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "KERAS_BACKEND": "torch",
    }


def _seen(result: BoxResult, word: str, name: str) -> CheckRun:
    """What a run left. A result without our word is not the watcher's and counts for nothing."""
    known: dict[str, Any] = {
        "ending": str(result.ending),
        "output": result.output[-TAIL:],
        "cpu_s": round(result.cpu_s, 2),
    }
    with suppress(ResultRefused, ValidationError, KeyError):
        found = read_json(result.results[name])
        if isinstance(found, dict) and found.pop("word", "") == word:
            return _SEEN.validate_python({**found, **known})
    return _SEEN.validate_python({**known, "why": result.why})


@cache
def _inside(name: str) -> bytes:
    return files("reenact.claims.inside").joinpath(name).read_bytes()
