"""Starts rehearsals without importing everything each time: one process, loaded once, forks a child
a start.

Reads a line of JSON (folder, tmp, crash_at, signal) and answers with two: the child's id, then how
it ended. Each child is a process of its own that dies as any other does; nothing was opened before
the fork.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import reenact.llm.scripted
import reenact.sandbox.tiers.bubblewrap  # noqa: F401
from reenact.sandbox.box import BoxResult, Command, Limits, Sandbox
from reenact.sandbox.choose import choose
from rehearsal.run import rehearse_counted

SIGNALLED = "rehearsal/trials/rate0-seed1"


class Signalled:
    """Sends its own process a signal as soon as the program in the box of one step has printed
    a word.
    """

    def __init__(self, sandbox: Sandbox, number: int) -> None:
        self.name = sandbox.name
        self._sandbox = sandbox
        self._number = number

    def run(self, command: Command, limits: Limits, **options: Any) -> BoxResult:
        if SIGNALLED in command.argv:
            options["on_output"] = lambda data: os.kill(os.getpid(), self._number)
        return self._sandbox.run(command, limits, **options)

    def missing(self) -> str:
        return self._sandbox.missing()

    def does_not_stop(self) -> tuple[str, ...]:
        return self._sandbox.does_not_stop()


def child(order: dict[str, Any]) -> None:
    os.environ["TMPDIR"] = order["tmp"]
    if order["crash_at"]:
        os.environ["REENACT_CRASH_AT"] = order["crash_at"]
    folder = Path(order["folder"])
    printed = os.open(f"{folder}.printed", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    sandbox = choose(trust_code=True)
    rehearse_counted(
        folder,
        sandbox=Signalled(sandbox, order["signal"]) if order["signal"] else sandbox,
    )


def main() -> None:
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                child(json.loads(line))
            except BaseException:  # noqa: BLE001
                traceback.print_exc()
                sys.stderr.flush()
                os._exit(1)
            os._exit(0)
        print(json.dumps({"pid": pid}), flush=True)
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"code": os.waitstatus_to_exitcode(status)}), flush=True)


if __name__ == "__main__":
    main()
