"""No sandbox: a plain process of the user, refused unless the user says that the code is trusted.

Covered: a clean environment, a folder of its own, limits by looking, no process left behind.
Not covered: everything else. The program reads and writes all files of the user, uses the network, sees and
signals the user's processes.
"""

from __future__ import annotations

from reenact.errors import SandboxUnavailable
from reenact.sandbox.box import BoxResult, Command, Limits, OnOutput
from reenact.sandbox.execute import execute
from reenact.sandbox.files.folder import BoxFolder
from reenact.sandbox.monitor.started import Started
from reenact.sandbox.tiers.plain_launch import link_mounts, plain_launch
from reenact.types import Stop


class NoSandbox:
    """Runs programs as they are. Fulfils the protocol `Sandbox`, and protects from nothing."""

    name = "none"

    def __init__(self, *, trust: bool = False) -> None:
        if not trust:
            raise SandboxUnavailable(
                "Without a sandbox a program can read, change and send away everything this user can.",
                next_step="Add --trust-code if you trust this program as your own.",
            )

    def run(
        self, command: Command, limits: Limits, *, on_output: OnOutput | None = None, stop: Stop | None = None
    ) -> BoxResult:
        return execute(self.name, self._start, command, limits, on_output=on_output, stop=stop)

    def missing(self) -> str:
        return ""

    def does_not_stop(self) -> tuple[str, ...]:
        return (
            "reading, changing and deleting any file of this user, keys and tokens included",
            "the network",
            "seeing, reading and signalling other processes of this user",
            "memory, processes and disk above their limits for the length of one look",
        )

    def _start(self, folder: BoxFolder, command: Command, limits: Limits) -> Started:
        link_mounts(folder, command)
        return plain_launch(command.argv, folder, command, limits)
