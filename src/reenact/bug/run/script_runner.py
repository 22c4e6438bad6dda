"""One run of a script: a fresh sandbox, the project read-only beside it, seeds, and the watcher."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from reenact.bug.project.files import ProjectFiles
from reenact.bug.run.observation import RunObservation, observation_of
from reenact.bug.symptom import Check
from reenact.codegen.environment import Environment
from reenact.codegen.runner import ProjectRunner
from reenact.sandbox.box import Mount

REPOSITORY = "repository"
"""Name of the project's folder inside, below the work folder."""
INSIDE = ("watch.py", "judge.py", "stub.py")
RESULT = "result-{}.json"
OUTPUT_MIB = 4
"""Printed MiB after which a script is ended."""


@dataclass(frozen=True)
class Revision:
    """One state of the project."""

    folder: Path
    identity: str
    """What the journal knows it by."""
    files: ProjectFiles


@dataclass(frozen=True)
class ScriptRunner:
    """All that a run needs but the script."""

    runner: ProjectRunner
    environment: Environment
    stubs: tuple[str, ...] = ()

    def run(
        self, script: str, check: Check | None, seeds: Sequence[int], revision: Revision
    ) -> dict[int, RunObservation]:
        """Run once a seed. Raises SandboxFailed and Stopped, which say nothing about the script."""
        words = {seed: secrets.token_hex(16) for seed in seeds}
        names = [RESULT.format(seed) for seed in seeds]
        inside = {f".reenact/{name}": _inside(name) for name in INSIDE}
        ran = self.runner.execute(
            self.environment,
            (".reenact/watch.py",),
            {**inside, "script.py": script.encode("utf-8", "replace")},
            limits=self.runner.limits(self.runner.wall_s * len(seeds)),
            mounts=(mount(revision),),
            stdin=json.dumps(self._task(script, check, revision, words)).encode(),
            collect={name: name for name in names},
        )
        return {seed: observation_of(ran, words[seed], RESULT.format(seed)) for seed in seeds}

    def exit_code(self, repro: str, revision: Revision) -> int:
        """What a repro.py exits with when it is run as the user will run it; -1 when it was killed."""
        ran = self.runner.execute(
            self.environment,
            ("repro.py",),
            {"repro.py": repro.encode("utf-8", "replace")},
            limits=self.runner.limits(),
            mounts=(mount(revision),),
            variables={"REENACT_PROJECT": REPOSITORY},
        )
        return ran.exit_code if ran.exit_code is not None else -1

    def inputs(self, script: str, check: Check | None, seed: int, revision: Revision) -> dict[str, object]:
        """What the outcome of a run depends on."""
        return {
            "script": script,
            "check": check.model_dump(mode="json") if check is not None else None,
            "seed": seed,
            "revision": revision.identity,
            "environment": self.environment.key,
            "stubs": list(self.stubs),
            "limits": self.bounds,
            "watcher": watcher_digest(),
        }

    @property
    def bounds(self) -> list[float]:
        """Seconds and MiB of one run, as a journal compares them."""
        return [self.runner.wall_s, self.runner.memory_mib]

    def _task(
        self, script: str, check: Check | None, revision: Revision, words: Mapping[int, str]
    ) -> dict[str, object]:
        return {
            "words": words,
            "script": "script.py",
            "project": REPOSITORY,
            "roots": [str(Path(REPOSITORY) / root) for root in revision.files.roots],
            "seeded": self.environment.seeded(script),
            "stubs": list(self.stubs),
            "check": check.model_dump(mode="json") if check is not None else None,
        }


def mount(revision: Revision) -> Mount:
    """The project as a box sees it: read-only, and every revision at the same place."""
    return Mount(revision.folder.absolute(), f"/box/work/{REPOSITORY}")


@cache
def watcher_digest() -> str:
    """Changes when the watcher does: what an older one saw is not taken for what this one would see."""
    return hashlib.sha256(b"\0".join(_inside(name) for name in INSIDE)).hexdigest()[:16]


def _inside(name: str) -> bytes:
    return files("reenact.bug.inside").joinpath(name).read_bytes()
