"""What most programs do to run untrusted code: a subprocess with a time limit. The zero line of the
measure.

Protects from nothing and is offered to nobody; it shows that the judge sees an escape where there
is one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reenact.sandbox.box import BoxResult, Command, Ending, Limits, OnOutput
from reenact.types import Stop


class Bare:
    """`subprocess.run(timeout=...)` in a temporary folder, with the caller's environment."""

    name = "bare"

    def run(
        self,
        command: Command,
        limits: Limits,
        *,
        on_output: OnOutput | None = None,
        stop: Stop | None = None,
    ) -> BoxResult:
        del stop
        began = time.monotonic()
        work = Path(tempfile.mkdtemp(prefix="bare-"))
        if command.workspace is not None:
            shutil.copytree(command.workspace, work, dirs_exist_ok=True)
        for name, content in command.files.items():
            (work / name).write_bytes(content)
        try:
            done = subprocess.run(  # noqa: S603 - on purpose
                [sys.executable, *command.argv[1:]],
                cwd=work,
                env={**os.environ, **command.environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=limits.wall_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            return BoxResult(
                Ending.TIMEOUT,
                self.name,
                why="wall time",
                output=_text(error.stdout, on_output),
            )
        output = _text(done.stdout, on_output)
        results = {name: (work / name).read_bytes() for name in command.collect}
        shutil.rmtree(work)
        ending = Ending.OK if done.returncode == 0 else Ending.EXIT
        if done.returncode < 0:
            ending = Ending.SIGNAL
        wall = time.monotonic() - began
        return BoxResult(
            ending,
            self.name,
            exit_code=done.returncode,
            wall_s=wall,
            output=output,
            results=results,
        )

    def missing(self) -> str:
        return ""

    def does_not_stop(self) -> tuple[str, ...]:
        return ("anything",)


def _text(printed: bytes | None, on_output: OnOutput | None) -> str:
    if on_output is not None and printed:
        on_output(printed)
    return (printed or b"").decode(errors="replace")
