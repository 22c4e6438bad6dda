"""Trainings in processes of this machine: fork servers with the imports done, one fresh fork a trial.

Each trial has one thread, a folder of its own, no standard input, trackers off, and a process group that is
ended whole. When a server dies its trial is tried once more on a fresh one. When we die, so do they.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

from reenact.errors import InputError, PatchRefused
from reenact.probe.outcome import OutcomeKind
from reenact.trials.batch import Batch
from reenact.trials.executor import Executor, OnOutcome
from reenact.trials.job import TREE, make_job
from reenact.trials.outcome import Outcome
from reenact.trials.reading import read_outcome
from reenact.trials.scratch import SCRATCH, Scratch
from reenact.trials.server import Parked, Server, ServerDied
from reenact.trials.trial import Trial
from reenact.types import Stop

TRIES = 2
"""A trial whose server dies twice is an outcome of kind killed."""


class ProcessPool(Executor):
    """The executor of one machine. Servers start with the first trials and stay until `close`."""

    def __init__(
        self,
        workers: int | None = None,
        *,
        python: str = "",
        scratch: Path | None = None,
        express: bool = False,
    ) -> None:
        """`workers`: parallel trainings, one per core by default. `python`: the program's interpreter.

        `express`: recognised Keras trainings run as bare torch loops, with the same numbers; the outcome says
        when one was not recognised.

        `scratch` is where the trials run and where kept traces stay; without one a temporary folder is used
        and removed by `close`, kept traces too.
        """
        if workers is not None and workers < 1:
            raise InputError(f"A pool has at least one worker. Received: workers={workers}.")
        self.workers = workers or _cores()
        self.python = python
        self.express = express
        self._given = scratch
        self._scratch: Path | None = None
        self._held: Scratch | None = None
        self._idle: list[Server] = []
        self._busy: set[Server] = set()
        self._lock = threading.Lock()
        self._numbers = count(1)

    @property
    def servers(self) -> tuple[int, ...]:
        """Process numbers of the servers that stand now."""
        with self._lock:
            return tuple(server.pid for server in (*self._idle, *self._busy))

    def run(
        self, trials: Sequence[Trial], *, on: OnOutcome | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """See `Executor.run`."""
        batch = Batch(self, trials, stop)
        return batch.run(on)

    def close(self) -> None:
        """See `Executor.close`."""
        with self._lock:
            idle, self._idle = self._idle, []
            held, self._held, self._scratch = self._held, None, None
        for server in idle:
            server.close()
        if held is not None:
            held.close()

    def portion(self, trials: int) -> int:
        """How many of so many trials one thread takes at a time."""
        del trials
        return 1

    def attempts(self, trials: Sequence[Trial], stop: Stop) -> Iterator[tuple[int, Outcome]]:
        """What one thread does with its portion: the number of each trial in it, and its outcome."""
        for number, trial in enumerate(trials):
            yield number, self.attempt(trial, stop)

    def attempt(self, trial: Trial, stop: Stop) -> Outcome:
        """One trial from its folder to its outcome."""
        outcome = self._attempt(trial, stop, express=self.express and not trial.plain)
        if outcome.kind is not OutcomeKind.CRASHED or not outcome.expressed:
            return outcome
        # Whether the program itself is at fault only its own training can tell.
        why = f"the bare loop failed ({outcome.crash.type if outcome.crash else 'unknown'})"
        return replace(self._attempt(trial, stop, express=False), fallback=why)

    def _attempt(self, trial: Trial, stop: Stop, *, express: bool) -> Outcome:
        died = ""
        for _ in range(TRIES):
            if stop.asked:
                return Outcome(OutcomeKind.INTERRUPTED)
            folder = self.folder()
            try:
                return self._once(trial, folder, stop, express=express)
            except PatchRefused as error:
                return Outcome(OutcomeKind.NOT_STARTED, note=error.sentence)
            except ServerDied as error:
                died = str(error)
            finally:
                clear(folder, keep_trace=trial.keep_trace)
        return Outcome(OutcomeKind.KILLED, note=f"the server of this trial died {TRIES} times ({died})")

    def _once(self, trial: Trial, folder: Path, stop: Stop, *, express: bool) -> Outcome:
        job = make_job(trial, folder, self.python, express=express)
        with self.server(folder.parent) as server:
            ended = server.run(job.message, lambda: stop.asked)
        if isinstance(ended, Parked):
            raise ServerDied("a trial waited that was not asked to")
        return read_outcome(job, ended, keep_trace=trial.keep_trace)

    @contextmanager
    def server(self, scratch: Path) -> Iterator[Server]:
        """A server of one's own for a while; whatever goes wrong meanwhile ends it."""
        server = self._take(scratch)
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

    def _take(self, scratch: Path) -> Server:
        with self._lock:
            server = self._idle.pop() if self._idle else None
            if server is None:
                server = Server(self.python, scratch / "server.log")
            self._busy.add(server)
        return server

    def folder(self) -> Path:
        """An empty folder of one trial."""
        folder = self.scratch() / f"trial-{next(self._numbers):05d}"
        folder.mkdir()
        return folder

    def scratch(self) -> Path:
        """Where everything of this pool lies."""
        with self._lock:
            if self._scratch is None:
                self._scratch = self._made()
            return self._scratch

    def _made(self) -> Path:
        if self._given is None:
            self._held = Scratch.make()
            return self._held.path
        self._given.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=SCRATCH, dir=self._given)).resolve()


def _cores() -> int:
    """Processors that we may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def clear(folder: Path, *, keep_trace: bool) -> None:
    """Remove what a trial leaves behind, except a trace that somebody wants."""
    shutil.rmtree(folder / TREE if keep_trace else folder, ignore_errors=True)
