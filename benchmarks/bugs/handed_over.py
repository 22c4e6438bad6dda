"""What was handed over, run as its user would.

Untrusted like all that a model wrote: it runs in a box without network, the project read-only
beside it.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.bugs.cases import BugCase
from benchmarks.bugs.oracle import COULD_NOT_RUN
from reenact.errors import SandboxFailed, Stopped
from reenact.sandbox.box import Command, Ending, Limits, Mount, Sandbox
from reenact.types import Stop

PROJECT = "repository"
_START_S = 60.0
"""Beside the run itself: starting the box and importing packages."""


def exit_code(script: str, case: BugCase, folder: Path, sandbox: Sandbox, stop: Stop) -> int | None:
    """What it exits with on one revision; none: it could not be run, and says nothing."""
    command = Command(
        argv=("python3", "-s", "script.py"),
        files={"script.py": script.encode("utf-8", "replace")},
        mounts=(Mount(folder.absolute(), f"/box/work/{PROJECT}"),),
        environment={
            "OMP_NUM_THREADS": "1",
            "KERAS_BACKEND": "torch",
            "PYTHONHASHSEED": "0",
            "REENACT_PROJECT": PROJECT,
            "PYTHONPATH": f"{PROJECT}/{case.imports_from}",
        },
    )
    result = sandbox.run(command, Limits(wall_s=_START_S + case.seconds), stop=stop)
    if result.ending is Ending.CANCELLED:
        raise Stopped("Stopped while a script was judged.")
    if result.ending is Ending.SANDBOX_FAILED:
        raise SandboxFailed(f"A script could not be judged: {result.why}.")
    ended = result.ending in (Ending.OK, Ending.EXIT)
    return result.exit_code if ended and result.exit_code != COULD_NOT_RUN else None
