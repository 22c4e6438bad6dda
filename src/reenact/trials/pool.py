"""Trainings in processes of this machine: fork servers with the imports done, one fresh fork a
trial.

Each trial has one thread, a folder of its own, no standard input, trackers off, and a process group
that is ended whole. When a server dies its trial is tried once more on a fresh one. When we die, so
do they.
"""

import json
import os
import select
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from reenact.errors import InputError, PatchRefused
from reenact.host_program import start_users_program
from reenact.probe.injected import default_python
from reenact.probe.outcome import OutcomeKind
from reenact.probe.watch import Ended
from reenact.trials.cards import Card, Packing, cards_here
from reenact.trials.executor import ThreadedExecutor
from reenact.trials.folder import INJECTED, Scratch
from reenact.trials.job import around, clear, make_job
from reenact.trials.reading import read_outcome
from reenact.trials.trial import Outcome, Trial
from reenact.types import JsonValue, Stop

TRIES = 2
"""A trial whose server dies twice is an outcome of kind killed."""
SERVER = INJECTED / "reenact_trials_server.py"
POLL_S = 0.05
CLOSE_S = 5.0


class ServerDied(Exception):
    """The server ended while a trial ran, or would not start."""


class Server:
    """A fork server seen from our side: one process that runs one trial at a time, each in a fresh
    fork.

    Started when it is made; imports nothing until the first trial says what.
    """

    def __init__(self, python: str, log: Path) -> None:
        self.log = log
        self.process = _start(default_python(python), log)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._sink, self._source = self.process.stdin, self.process.stdout
        self._rest = b""
        self._running: int | None = None

    def run(
        self,
        message: dict[str, JsonValue],
        stop: Stop,
    ) -> tuple[Ended, float]:
        """Run one trial to its end: how that was, and its CPU seconds. Raises ServerDied."""
        self._send(message)
        asked = False
        while True:
            answer = self._answer()
            if "code" in answer:
                self._running = None
                why = answer["ended"]
                ended = Ended(
                    answer["code"],
                    answer["seconds"],
                    why == "timeout",
                    why == "stopped",
                )
                return ended, float(answer["cpu"])
            self._running = answer.get("pid", self._running)
            if stop.asked and not asked:
                asked = True
                if self._running is None:
                    # It still imports, which can take long, and hears nothing meanwhile.
                    self.kill()
                    raise ServerDied("ended before the trial began")
                self._send({"kill": True})

    def _send(self, message: dict[str, JsonValue]) -> None:
        try:
            self._sink.write(json.dumps(message).encode() + b"\n")
            self._sink.flush()
        except (BrokenPipeError, ValueError) as error:
            self.kill()
            raise ServerDied(str(error)) from error

    def _answer(self) -> dict[str, Any]:
        """The next answer; empty when there is none yet."""
        if (
            b"\n" not in self._rest
            and select.select(
                [self._source],
                [],
                [],
                POLL_S,
            )[0]
        ):
            more = os.read(
                self._source.fileno(),
                1 << 16,
            )
            if not more:
                self.kill()
                last = (
                    self.log.read_bytes()[-200:]
                    .decode("utf-8", "replace")
                    .strip()
                    .rpartition("\n")[2]
                )
                raise ServerDied(f"exit code {self.process.wait()}; {last}")
            self._rest += more
        if b"\n" not in self._rest:
            return {}
        line, _, self._rest = self._rest.partition(b"\n")
        return dict(json.loads(line))

    def kill(self) -> None:
        """End the server and what it runs, at once."""
        self.process.kill()
        if self._running is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._running, signal.SIGKILL)
            self._running = None
        self.process.wait()
        self._close_pipes()

    def close(self) -> None:
        """Let it go: it ends by itself when no one talks to it any more."""
        self._close_pipes()
        try:
            self.process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def _close_pipes(self) -> None:
        for pipe in (self._sink, self._source):
            with suppress(BrokenPipeError):
                pipe.close()


def _start(python: str, log: Path) -> subprocess.Popen[bytes]:
    try:
        with log.open("ab") as sink:
            # In a session of its own: Ctrl-C is for us to hear, not for the servers.
            return start_users_program(
                [python, str(SERVER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                environment=around(log.parent) | {"MPLBACKEND": "Agg"},
            )
    except OSError as error:
        why = (
            f"The interpreter for the trials could not be started: {error.strerror}. Received: "
            f"{python}."
        )
        raise InputError(
            why, next_step="Name the interpreter that the program is run with."
        ) from error


class ProcessPool(ThreadedExecutor):
    """The executor of one machine. Servers start with the first trials and stay until `close`."""

    def __init__(
        self,
        workers: int | None = None,
        *,
        python: str = "",
        scratch: Path | None = None,
        cards: Sequence[Card] | None = None,
    ) -> None:
        """`workers`: parallel trainings, one per core by default. `python`: the program's
        interpreter. `cards`: those of this machine by default.

        `scratch` is where the trials run and where kept traces stay; without one a temporary folder
        is used and removed by `close`, kept traces too.
        """
        if workers is not None and workers < 1:
            raise InputError(f"A pool has at least one worker. Received: workers={workers}.")
        own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        self.workers = workers or own or 1
        self.python = python
        self._within = scratch
        self._scratch: Scratch | None = None
        self._idle: list[Server] = []
        self._busy: set[Server] = set()
        self._lock = threading.Lock()
        self._packing = Packing(cards_here() if cards is None else cards)

    @property
    def servers(self) -> tuple[int, ...]:
        """Process numbers of the running servers."""
        with self._lock:
            return tuple(server.process.pid for server in (*self._idle, *self._busy))

    def side_by_side(self, trial: Trial) -> int | None:
        """How many such trainings fit on the cards; none where that is not known, or needs no
        card.
        """
        return self._packing.fits(trial)

    def close(self) -> None:
        """See `Executor.close`."""
        with self._lock:
            idle = self._idle
            self._idle = []
            scratch, self._scratch = self._scratch, None
        for server in idle:
            server.close()
        if scratch is not None:
            scratch.close()

    def attempt(self, trial: Trial, stop: Stop) -> Outcome:
        """One trial from its folder to its outcome; on a card only where it fits."""
        tries = 0
        while True:
            with self._packing.seat(trial, stop, tries=tries) as seat:
                outcome = self._train(
                    trial,
                    stop,
                    seat.card.name if seat is not None else "",
                )
            if not self._packing.learn(trial, outcome, seat):
                return outcome
            tries += 1

    def _train(self, trial: Trial, stop: Stop, card: str) -> Outcome:
        died = ""
        for _ in range(TRIES):
            if stop.asked:
                return Outcome(OutcomeKind.INTERRUPTED)
            with self._lock:
                self._scratch = self._scratch or Scratch.make(self._within)
                folder = self._scratch.trial_folder()
            try:
                job = make_job(trial, folder, self.python, card)
                with self._server(folder.parent) as server:
                    ended, cpu = server.run(job.message, stop)
                return read_outcome(job, ended, cpu, keep_trace=trial.keep_trace)
            except PatchRefused as error:
                return Outcome(OutcomeKind.NOT_STARTED, note=error.sentence)
            except ServerDied as error:
                died = str(error)
            finally:
                clear(folder, keep_trace=trial.keep_trace)
        return Outcome(
            OutcomeKind.KILLED,
            note=f"the server of this trial died {TRIES} times ({died})",
        )

    @contextmanager
    def _server(self, scratch: Path) -> Iterator[Server]:
        """A server for one trial; whatever goes wrong meanwhile ends it."""
        with self._lock:
            server = self._idle.pop() if self._idle else Server(self.python, scratch / "server.log")
            self._busy.add(server)
        try:
            yield server
        except BaseException:
            with self._lock:
                self._busy.discard(server)
            server.kill()
            raise
        with self._lock:
            self._busy.discard(server)
            self._idle.append(server)
