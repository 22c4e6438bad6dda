"""What a case's own oracle says of its revisions, run in the sandbox over seeds.

Covered: oracle and project run in one box without network, the project read-only beside them. Not
covered: an oracle that lies. It is the word of whoever made the case.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import TypeAdapter, ValidationError

from benchmarks.bugs.cases import BugCase, unpack
from reenact.errors import ResultRefused, SandboxFailed, Stopped
from reenact.sandbox.box import BoxResult, Command, Ending, Limits, Mount, Sandbox
from reenact.sandbox.files.results import read_json
from reenact.types import Stop

SHOWS, SHOWS_NOT, COULD_NOT_RUN = 1, 0, 125
SEEDS = (0, 1)
_START_S = 60.0
"""Beside the runs themselves: starting the box and importing packages."""
_CODES = "codes.json"


@dataclass(frozen=True, slots=True)
class Shown:
    """What the oracle reported of one revision."""

    revision: str
    codes: Mapping[int, int]
    """The exit code of each seed."""
    output: str
    """What was printed, by this and the other revisions of the same box."""

    @property
    def always(self) -> bool:
        """Whether the bug showed with every seed."""
        return all(code == SHOWS for code in self.codes.values())

    @property
    def never(self) -> bool:
        """Whether the oracle ran with every seed and the bug showed with none."""
        return all(code == SHOWS_NOT for code in self.codes.values())


def run_oracle(
    case: BugCase,
    revision: str,
    sandbox: Sandbox,
    *,
    seeds: Sequence[int] = SEEDS,
    stop: Stop | None = None,
) -> Shown:
    """Ask the oracle about one revision."""
    return _ask(case, (revision,), sandbox, seeds, stop)[0]


def verify(
    case: BugCase,
    sandbox: Sandbox,
    *,
    seeds: Sequence[int] = SEEDS,
    stop: Stop | None = None,
) -> tuple[Shown, ...]:
    """Ask the oracle about every revision of the case in one box: the buggy one first."""
    return _ask(case, case.revisions, sandbox, seeds, stop)


def _ask(
    case: BugCase,
    revisions: Sequence[str],
    sandbox: Sandbox,
    seeds: Sequence[int],
    stop: Stop | None,
) -> tuple[Shown, ...]:
    with TemporaryDirectory(prefix="reenact-bug-") as made:
        folders = [unpack(case, revision, Path(made)) for revision in revisions]
        command = _command(case, folders, seeds)
        wall_s = _START_S + case.seconds * len(revisions) * len(seeds)
        result = sandbox.run(command, Limits(wall_s=wall_s), stop=stop)
    table = _codes(result, len(revisions), len(seeds))
    return tuple(
        Shown(revision, dict(zip(seeds, codes, strict=True)), result.output)
        for revision, codes in zip(revisions, table, strict=True)
    )


def _command(case: BugCase, folders: Sequence[Path], seeds: Sequence[int]) -> Command:
    names = [f"revision{number}" for number, _ in enumerate(folders)]
    task = {
        "packages": [*case.packages, *case.preload],
        "seeds": list(seeds),
        "paths": [f"{name}/{case.imports_from}" for name in names],
    }
    inside = Path(__file__).with_name("inside.py").read_bytes()
    return Command(
        argv=("python3", "inside.py"),
        files={"inside.py": inside, "oracle.py": case.oracle},
        mounts=tuple(
            Mount(folder.absolute(), f"/box/work/{name}")
            for name, folder in zip(names, folders, strict=True)
        ),
        environment={
            "OMP_NUM_THREADS": "1",
            "KERAS_BACKEND": "torch",
            "PYTHONHASHSEED": "0",
        },
        stdin=json.dumps(task).encode(),
        collect=(_CODES,),
    )


def _codes(result: BoxResult, revisions: int, seeds: int) -> list[list[int]]:
    """The exit codes by revision and seed. Without a usable table nothing could be run."""
    if result.ending is Ending.CANCELLED:
        raise Stopped("Stopped while an oracle ran.")
    if result.ending is Ending.SANDBOX_FAILED:
        raise SandboxFailed(f"An oracle could not be run: {result.why}.")
    nothing = [[COULD_NOT_RUN] * seeds for _ in range(revisions)]
    if not result.ok or _CODES not in result.results:
        return nothing
    try:
        table = TypeAdapter(list[list[int]]).validate_python(
            read_json(result.results[_CODES]), strict=True
        )
    except (ResultRefused, ValidationError):
        return nothing
    fits = len(table) == revisions and all(len(row) == seeds for row in table)
    return table if fits else nothing
