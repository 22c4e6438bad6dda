"""`command:PROGRAM ARGS`: a program of the user reads the prompt on stdin and prints the answer.

It is the user's own, trusted program: it runs unconfined, with the user's environment, without a shell.
Exit 0 is an answer. Exit 2, 126, 127 and the sysexits codes 64 to 78 but 75 are final: wrong usage, no such
program. Anything else (1, 75 "try later", death by a signal, a time-out) is tried again. At the time-out,
or when it prints too much, its whole process group is killed.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import signal
import subprocess
from pathlib import PurePath
from typing import IO

from reenact.errors import InputError, MissingPart, ModelRefused
from reenact.llm.clock import Clock
from reenact.llm.patience import Patience
from reenact.llm.quoting import capped, stripped
from reenact.llm.wire import Call, Reply, Transient
from reenact.redact import redact

LONGEST_OUTPUT = 4 * 1024 * 1024
LONGEST_COMPLAINT = 16 * 1024
"""Bytes of stderr that are kept."""
FINAL_EXITS = frozenset({2, 126, 127, *range(64, 79)} - {75})
LOOK_S = 0.1
"""How often the clock is looked at while the program is silent."""


class CommandWire:
    """A program that answers."""

    billed = False

    def __init__(self, command: str, patience: Patience, clock: Clock) -> None:
        try:
            self._argv = shlex.split(command)
        except ValueError as error:
            raise InputError(f"The command of the model cannot be split into words: {error}.") from None
        self._patience = patience
        self._clock = clock
        self.name = f"command:{PurePath(self._argv[0]).name}"

    def send(self, call: Call, within_s: float) -> Reply:
        until = self._clock.now() + min(self._patience.answer_s, within_s)
        process = self._start()
        try:
            answer, complaint = self._talk(process, call.as_text().encode(), until)
        finally:
            code = _end(process)
        said = redact(capped(stripped(complaint.decode("utf-8", "replace")).strip(), 300))
        if code in FINAL_EXITS:
            raise ModelRefused(
                f"{self.name} ended with exit code {code}: {said or 'it printed no reason'}",
                next_step="Run the command by hand and see what it needs.",
            )
        if code != 0:
            raise Transient(f"it ended with exit code {code}: {said or 'no reason given'}")
        return Reply(answer.decode("utf-8", "replace"), self.name)

    def _start(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(  # noqa: S603  the user's own program, no shell
                self._argv, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except OSError as error:
            raise MissingPart(
                f"The program of the model cannot be started: {error.strerror}. Received: {self._argv[0]}.",
                next_step="Give its full path after command:.",
            ) from None

    def _talk(self, process: subprocess.Popen[bytes], prompt: bytes, until: float) -> tuple[bytes, bytes]:
        """What it printed and what it complained of, once it has ended and all is read."""
        with _Pipes(process, prompt) as pipes:
            while True:
                ended = _has_ended(process)
                moved = pipes.move(0 if ended else LOOK_S)
                if ended and not moved:
                    return bytes(pipes.answer), bytes(pipes.complaint)
                if len(pipes.answer) > LONGEST_OUTPUT:
                    raise ModelRefused(f"{self.name} printed more than {LONGEST_OUTPUT} bytes.")
                if self._clock.now() >= until:
                    raise Transient("it did not answer in time")
                self._clock.sleep(0)


class _Pipes:
    """Writes the prompt and reads both outputs without ever blocking on one of them."""

    def __init__(self, process: subprocess.Popen[bytes], prompt: bytes) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self.answer = bytearray()
        self.complaint = bytearray()
        self._prompt = memoryview(prompt)
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._selector = selectors.DefaultSelector()
        self._open(self._stdin, selectors.EVENT_WRITE)
        self._open(self._stdout, selectors.EVENT_READ)
        self._open(self._stderr, selectors.EVENT_READ)

    def move(self, patience_s: float) -> bool:
        """Move what can be moved now or within that time; false when nothing could be read."""
        moved = False
        for key, _ in self._selector.select(patience_s):
            if key.fileobj is self._stdin:
                self._write()
            elif key.fileobj is self._stdout:
                moved |= self._read(self._stdout, self.answer)
            else:
                moved |= self._read(self._stderr, self.complaint)
                del self.complaint[:-LONGEST_COMPLAINT]
        return moved

    def _open(self, pipe: IO[bytes], event: int) -> None:
        os.set_blocking(pipe.fileno(), False)
        self._selector.register(pipe, event)

    def _close(self, pipe: IO[bytes]) -> None:
        self._selector.unregister(pipe)
        pipe.close()

    def _write(self) -> None:
        try:
            self._prompt = self._prompt[os.write(self._stdin.fileno(), self._prompt) :]
        except BrokenPipeError:
            # It may answer without reading everything.
            self._prompt = self._prompt[:0]
        if not self._prompt:
            self._close(self._stdin)

    def _read(self, pipe: IO[bytes], into: bytearray) -> bool:
        data = os.read(pipe.fileno(), 65536)
        into += data
        if not data:
            self._close(pipe)
        return bool(data)

    def __enter__(self) -> _Pipes:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        for pipe in (self._stdin, self._stdout, self._stderr):
            pipe.close()


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    # Looks without reaping: while the zombie is there, nobody else can get its process group.
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> int:
    """End whatever is left of the program's process group, and say how the program itself ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()
