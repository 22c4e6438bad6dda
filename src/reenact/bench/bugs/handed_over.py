"""What was handed over, run as its user would: once where the bug is, once where it is mended.

Untrusted like all that a model wrote: a box each, without network, the project read-only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from reenact.bench.bugs.cases import BugCase
from reenact.bench.bugs.oracle import COULD_NOT_RUN
from reenact.errors import SandboxFailed, Stopped
from reenact.sandbox.box import Command, Ending, Limits, Mount, Sandbox
from reenact.types import Stop

PROJECT = "repository"
_START_S = 60.0
"""Beside the run itself: starting the box and importing packages."""


def exit_codes(
    script: str, case: BugCase, folders: Sequence[Path], sandbox: Sandbox, stop: Stop
) -> tuple[int | None, int | None]:
    """Its exit code on the buggy and, where there is one, on the fixed revision; none: it says nothing."""
    codes = list(_codes(script, case, folders, sandbox, stop)) if script else []
    return (*codes, None, None)[0], (*codes, None, None)[1]


def _codes(
    script: str, case: BugCase, folders: Sequence[Path], sandbox: Sandbox, stop: Stop
) -> Iterator[int | None]:
    for folder in folders:
        command = Command(
            argv=("python3", "-s", "script.py"),
            files={"script.py": script.encode("utf-8", "replace")},
            mounts=(Mount(folder.absolute(), f"/box/work/{PROJECT}"),),
            environment={
                "OMP_NUM_THREADS": "1", "KERAS_BACKEND": "torch", "PYTHONHASHSEED": "0",
                "REENACT_PROJECT": PROJECT, "PYTHONPATH": f"{PROJECT}/{case.imports_from}",
            },
        )  # fmt: skip
        result = sandbox.run(command, Limits(wall_s=_START_S + case.seconds), stop=stop)
        if result.ending is Ending.CANCELLED:
            raise Stopped("Stopped while a script was judged.")
        if result.ending is Ending.SANDBOX_FAILED:
            raise SandboxFailed(f"A script could not be judged: {result.why}.")
        ended = result.ending in (Ending.OK, Ending.EXIT)
        yield result.exit_code if ended and result.exit_code != COULD_NOT_RUN else None
