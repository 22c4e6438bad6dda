"""`command:PROGRAM ARGS`: a program of the user reads the prompt on stdin and prints the answer.

It is the user's own, trusted program: it runs unconfined, with the user's environment, without a
shell. Prompt and outputs are temporary files, so that a child that keeps an output open holds
no one up. Exit 0 is an answer. Exit 2, 126, 127 and the sysexits codes 64 to 78 but 75 are final:
wrong usage, no such program. Anything else (1, 75 "try later", death by a signal, a time-out) is
tried again. At the time-out, or when it prints too much, its whole process group is killed.
"""

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import time
from pathlib import PurePath
from typing import IO

from reenact.errors import InputError, MissingPart, ModelRefused
from reenact.host_program import start_users_program
from reenact.llm.ask import Call, Reply, Transient
from reenact.llm.patience import Clock, Patience
from reenact.llm.prompts import capped, stripped
from reenact.redact import redact

LONGEST_OUTPUT = 4 * 1024 * 1024
LONGEST_COMPLAINT = 16 * 1024
"""Bytes of stderr that are kept."""
FINAL_EXITS = frozenset(
    {
        2,
        126,
        127,
        *range(64, 79),
    }
    - {75}
)
LOOK_S = 0.02
"""How often the program is looked at while it runs."""


class CommandWire:
    """A program that answers."""

    billed = False

    def __init__(self, command: str, patience: Patience, clock: Clock) -> None:
        try:
            self._argv = shlex.split(command)
        except ValueError as error:
            raise InputError(
                f"The command of the model cannot be split into words: {error}."
            ) from None
        self._patience = patience
        self._clock = clock
        self.name = f"command:{PurePath(self._argv[0]).name}"

    def send(self, call: Call, within_s: float) -> Reply:
        until = self._clock.now() + min(self._patience.answer_s, within_s)
        file = tempfile.TemporaryFile
        with file() as prompt, file() as answer, file() as complaint:
            prompt.write(call.as_text().encode())
            prompt.seek(0)
            process = self._start(prompt, answer, complaint)
            try:
                self._wait(process.pid, answer, complaint, until)
            finally:
                # Whatever is left of the program's process group goes, too.
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                code = process.wait()
            text = _tail(answer, LONGEST_OUTPUT)
            reason = redact(
                capped(
                    stripped(_tail(complaint, LONGEST_COMPLAINT)).strip(),
                    300,
                )
            )
        if code in FINAL_EXITS:
            why = f"{self.name} ended with exit code {code}: {reason or 'it printed no reason'}"
            raise ModelRefused(why, next_step="Run the command by hand and see what it needs.")
        if code != 0:
            raise Transient(f"it ended with exit code {code}: {reason or 'no reason given'}")
        return Reply(text, self.name)

    def _start(
        self,
        prompt: IO[bytes],
        answer: IO[bytes],
        complaint: IO[bytes],
    ) -> subprocess.Popen[bytes]:
        try:
            return start_users_program(self._argv, stdin=prompt, stdout=answer, stderr=complaint)
        except OSError as error:
            why = (
                f"The program of the model cannot be started: {error.strerror}. Received: "
                f"{self._argv[0]}."
            )
            raise MissingPart(why, next_step="Give its full path after command:.") from None

    def _wait(
        self,
        process: int,
        answer: IO[bytes],
        complaint: IO[bytes],
        until: float,
    ) -> None:
        """Return when the program has ended; raise when it prints too much or takes too long."""
        # Looks without reaping: while the zombie is there, no one else can get its process group.
        while (
            os.waitid(
                os.P_PID,
                process,
                os.WEXITED | os.WNOHANG | os.WNOWAIT,
            )
            is None
        ):
            self._refuse_flood(answer, complaint)
            if self._clock.now() >= until:
                raise Transient("it did not answer in time")
            self._clock.sleep(0)
            time.sleep(LOOK_S)
        self._refuse_flood(answer)

    def _refuse_flood(self, *outputs: IO[bytes]) -> None:
        if any(os.fstat(output.fileno()).st_size > LONGEST_OUTPUT for output in outputs):
            raise ModelRefused(f"{self.name} printed more than {LONGEST_OUTPUT} bytes.")


def _tail(output: IO[bytes], most: int) -> str:
    """The last bytes of what was printed, as text."""
    output.seek(max(0, os.fstat(output.fileno()).st_size - most))
    return output.read(most).decode("utf-8", "replace")
