"""A fork server seen from our side: one process that runs one trial at a time, each in a fresh fork."""

import json
import os
import select
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact.errors import InputError
from reenact.probe.injected import default_python
from reenact.trials import job
from reenact.trials.folder import INJECTED
from reenact.types import JsonValue

SERVER = INJECTED / "reenact_trials_server.py"
POLL_S = 0.05
CLOSE_S = 5.0


class ServerDied(Exception):
    """The server ended while a trial ran, or would not start."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a trial's process ended."""

    code: int
    """Negative for a signal."""
    seconds: float
    cpu: float
    ended: str
    """`timeout` or `stopped` when it was ended from outside, else empty."""


class Server:
    """Started when it is made; imports nothing until the first trial says what."""

    def __init__(self, python: str, log: Path) -> None:
        self.log = log
        self._process = _start(default_python(python), log)
        self._rest = b""
        self._running: int | None = None

    @property
    def pid(self) -> int:
        return self._process.pid

    def run(self, message: dict[str, JsonValue], stopped: Callable[[], bool]) -> Ended:
        """Run one trial to its end. Raises ServerDied."""
        self._send(message)
        asked = False
        while True:
            answer = self._answer()
            if answer is not None and "code" in answer:
                self._running = None
                return Ended(
                    int(answer["code"]), float(answer["seconds"]), float(answer["cpu"]), str(answer["ended"])
                )
            if answer is not None and "pid" in answer:
                self._running = int(answer["pid"])
            if not asked and stopped():
                asked = True
                self._ask_to_end()

    def _ask_to_end(self) -> None:
        if self._running is None:
            # It still imports, which can take long, and hears nothing meanwhile.
            self.kill()
            raise ServerDied("ended before the trial began")
        self._send({"kill": True})

    def _send(self, message: dict[str, JsonValue]) -> None:
        sink = self._process.stdin
        if sink is None:
            raise ServerDied
        try:
            sink.write(json.dumps(message).encode() + b"\n")
            sink.flush()
        except (BrokenPipeError, ValueError) as error:
            self.kill()
            raise ServerDied(str(error)) from error

    def _answer(self) -> dict[str, Any] | None:
        """The next answer, or none when there is none yet."""
        if b"\n" not in self._rest and not self._receive():
            return None
        line, _, self._rest = self._rest.partition(b"\n")
        found = json.loads(line)
        return found if isinstance(found, dict) else None

    def _receive(self) -> bool:
        source = self._process.stdout
        if source is None:
            raise ServerDied
        if select.select([source], [], [], POLL_S)[0]:
            more = os.read(source.fileno(), 1 << 16)
            if not more:
                self.kill()
                raise ServerDied(f"exit code {self._process.wait()}; {self._last_words()}")
            self._rest += more
        return b"\n" in self._rest

    def _last_words(self) -> str:
        return self.log.read_bytes()[-200:].decode("utf-8", "replace").strip().rpartition("\n")[2]

    def kill(self) -> None:
        """End the server and what it runs, at once."""
        self._process.kill()
        if self._running is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._running, signal.SIGKILL)
            self._running = None
        self._process.wait()
        self._close_pipes()

    def close(self) -> None:
        """Let it go: it ends by itself when nobody talks to it any more."""
        self._close_pipes()
        try:
            self._process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                with suppress(BrokenPipeError):
                    pipe.close()


def _start(python: str, log: Path) -> subprocess.Popen[bytes]:
    try:
        with log.open("ab") as sink:
            return subprocess.Popen(  # noqa: S603 - our own script in the user's interpreter
                [python, str(SERVER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                env=job.around(log.parent) | {"MPLBACKEND": "Agg"},
                # Ctrl-C is for us to hear, not for the servers.
                start_new_session=True,
            )
    except OSError as error:
        raise InputError(
            f"The interpreter for the trials could not be started: {error.strerror}. Received: {python}.",
            next_step="Name the interpreter that the program is run with.",
        ) from error
