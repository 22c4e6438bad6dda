"""One run of a script: a fresh box, the project read-only beside it, a seed, and the watcher."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from reenact.bug.environment.prepared import Prepared
from reenact.bug.project.files import ProjectFiles
from reenact.bug.run.sighting import Sighting, sighting_of
from reenact.bug.symptom import Check
from reenact.errors import SandboxFailed, ended_by
from reenact.sandbox.box import MIB, Command, Ending, Limits, Mount, Sandbox
from reenact.types import Stop

REPOSITORY = "repository"
"""Name of the project's folder inside, below the work folder."""
INSIDE = ("watch.py", "judge.py", "stub.py")
RESULT = "result-{}.json"
OUTPUT_BYTES = 4 * MIB


@dataclass(frozen=True)
class Revision:
    """One state of the project."""

    folder: Path
    identity: str
    """What the journal knows it by."""
    files: ProjectFiles


@dataclass(frozen=True)
class Boxes:
    """All that a run needs but the script."""

    sandbox: Sandbox
    prepared: Prepared
    stop: Stop
    wall_s: float
    memory_mib: int
    stubs: tuple[str, ...] = ()

    def run(
        self, script: str, check: Check | None, seeds: Sequence[int], revision: Revision
    ) -> dict[int, Sighting]:
        """Run once a seed. Raises SandboxFailed and Stopped, which say nothing about the script."""
        words = {seed: secrets.token_hex(16) for seed in seeds}
        command = self._command(script, check, revision, words)
        result = self.sandbox.run(command, self._limits(len(seeds)), stop=self.stop)
        if result.ending is Ending.CANCELLED:
            raise ended_by(self.stop, "Stopped while a script ran.")
        if result.ending is Ending.SANDBOX_FAILED:
            raise SandboxFailed(f"A script could not be run: {result.why}.")
        return {seed: sighting_of(result, words[seed], RESULT.format(seed)) for seed in seeds}

    def inputs(self, script: str, check: Check | None, seed: int, revision: Revision) -> dict[str, object]:
        """What the outcome of a run depends on."""
        return {
            "script": script,
            "check": check.model_dump(mode="json") if check is not None else None,
            "seed": seed,
            "revision": revision.identity,
            "environment": self.prepared.key,
            "stubs": list(self.stubs),
            "limits": [self.wall_s, self.memory_mib],
            "watcher": watcher_digest(),
        }

    def _command(
        self, script: str, check: Check | None, revision: Revision, words: Mapping[int, str]
    ) -> Command:
        task = {
            "words": words,
            "script": "script.py",
            "project": REPOSITORY,
            "roots": [str(Path(REPOSITORY) / root) for root in revision.files.roots],
            "seeded": self.prepared.seeded(script),
            "stubs": list(self.stubs),
            "check": check.model_dump(mode="json") if check is not None else None,
        }
        inside = {f".reenact/{name}": _inside(name) for name in INSIDE}
        return Command(
            argv=(self.prepared.python, "-s", ".reenact/watch.py"),
            files={**inside, "script.py": script.encode("utf-8", "replace")},
            mounts=(*self.prepared.mounts, mount(revision)),
            environment=self.environment,
            stdin=json.dumps(task).encode(),
            collect=tuple(RESULT.format(seed) for seed in words),
        )

    @property
    def environment(self) -> dict[str, str]:
        """Variables that make runs alike: one thread, no chance in the order of sets."""
        return {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "KERAS_BACKEND": self.prepared.keras}

    def _limits(self, runs: int) -> Limits:
        wall_s = self.wall_s * runs
        return Limits(wall_s=wall_s, memory_bytes=self.memory_mib * MIB, output_bytes=OUTPUT_BYTES)


def mount(revision: Revision) -> Mount:
    """The project as a box sees it: read-only, and every revision at the same place."""
    return Mount(revision.folder.absolute(), f"/box/work/{REPOSITORY}")


@cache
def watcher_digest() -> str:
    """Changes when the watcher does: what an older one saw is not taken for what this one would see."""
    return hashlib.sha256(b"\0".join(_inside(name) for name in INSIDE)).hexdigest()[:16]


def _inside(name: str) -> bytes:
    return files("reenact.bug.inside").joinpath(name).read_bytes()
