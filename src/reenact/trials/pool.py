"""Trainings in processes of this machine: fork servers with the imports done, one fresh fork a trial.

Each trial has one thread, a folder of its own, no standard input, trackers off, and a process group that is
ended whole. When a server dies its trial is tried once more on a fresh one. When we die, so do they.
"""

from __future__ import annotations

import os
import queue
import shutil
import tempfile
import threading
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from reenact.errors import InputError, PatchRefused
from reenact.probe.outcome import OutcomeKind
from reenact.trials.executor import Executor, Heard
from reenact.trials.folder import SCRATCH
from reenact.trials.job import TREE, make_job
from reenact.trials.reading import read_outcome
from reenact.trials.server import Server, ServerDied
from reenact.trials.trial import Outcome, Trial
from reenact.types import Stop

LOOK_S = 0.2
TRIES = 2
"""A trial whose server dies twice is an outcome of kind killed."""


class ProcessPool(Executor):
    """The executor of one machine. Servers start with the first trials and stay until `close`."""

    def __init__(self, workers: int | None = None, *, python: str = "", scratch: Path | None = None) -> None:
        """`workers`: trainings at once, one a core by default. `python`: the program's interpreter.

        `scratch` is where the trials run and where kept traces stay; without one a temporary folder is used
        and removed by `close`, kept traces too.
        """
        if workers is not None and workers < 1:
            raise InputError(f"A pool has at least one worker. Received: workers={workers}.")
        self.workers = workers or _cores()
        self.python = python
        self._given = scratch
        self._scratch: Path | None = None
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
        self, trials: Sequence[Trial], *, on: Heard | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """See `Executor.run`."""
        batch = _Batch(self, trials, stop)
        return batch.run(on)

    def close(self) -> None:
        """See `Executor.close`."""
        with self._lock:
            idle, self._idle = self._idle, []
            scratch, self._scratch = self._scratch, None
        for server in idle:
            server.close()
        if scratch is not None and self._given is None:
            shutil.rmtree(scratch, ignore_errors=True)

    def attempt(self, trial: Trial, stop: Stop) -> Outcome:
        """One trial from its folder to its outcome."""
        died = ""
        for _ in range(TRIES):
            if stop.asked:
                return Outcome(OutcomeKind.INTERRUPTED)
            folder = self._folder()
            try:
                return self._once(trial, folder, stop)
            except PatchRefused as error:
                return Outcome(OutcomeKind.NOT_STARTED, note=error.sentence)
            except ServerDied as error:
                died = str(error)
            finally:
                _clear(folder, keep_trace=trial.keep_trace)
        return Outcome(OutcomeKind.KILLED, note=f"the server of this trial died {TRIES} times ({died})")

    def _once(self, trial: Trial, folder: Path, stop: Stop) -> Outcome:
        job = make_job(trial, folder, self.python)
        server = self._take(folder.parent)
        try:
            ended = server.run(job.told, lambda: stop.asked)
        except BaseException:
            with self._lock:
                self._busy.discard(server)
            server.kill()
            raise
        with self._lock:
            self._busy.discard(server)
            self._idle.append(server)
        return read_outcome(job, ended, keep_trace=trial.keep_trace)

    def _take(self, scratch: Path) -> Server:
        with self._lock:
            server = self._idle.pop() if self._idle else None
            if server is None:
                server = Server(self.python, scratch / "server.log")
            self._busy.add(server)
        return server

    def _folder(self) -> Path:
        """An empty folder of one trial."""
        with self._lock:
            if self._scratch is None:
                self._scratch = self._made()
            folder = self._scratch / f"trial-{next(self._numbers):05d}"
        folder.mkdir()
        return folder

    def _made(self) -> Path:
        if self._given is not None:
            self._given.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=SCRATCH, dir=self._given)).resolve()


class _Batch:
    """One call of `run`: threads that take trials in order, and the caller's thread that hears of them."""

    def __init__(self, pool: ProcessPool, trials: Sequence[Trial], stop: Stop | None) -> None:
        self.pool = pool
        self.trials = list(trials)
        self.stop = stop
        self.halt = Stop()
        """Asked for when the caller asks, and when something goes wrong in his thread or ours."""
        self.ended: queue.Queue[tuple[int, Outcome] | BaseException] = queue.Queue()
        self._next = iter(range(len(self.trials)))
        self._lock = threading.Lock()

    def run(self, on: Heard | None) -> list[Outcome]:
        threads = [
            threading.Thread(target=self._work, daemon=True)
            for _ in range(min(self.pool.workers, len(self.trials)))
        ]
        for thread in threads:
            thread.start()
        try:
            return self._hear(on)
        finally:
            self.halt.ask()
            for thread in threads:
                thread.join()

    def _hear(self, on: Heard | None) -> list[Outcome]:
        found: dict[int, Outcome] = {}
        while len(found) < len(self.trials):
            if self.stop is not None and self.stop.asked:
                self.halt.ask()
            try:
                told = self.ended.get(timeout=LOOK_S)
            except queue.Empty:
                continue
            if isinstance(told, BaseException):
                raise told
            number, outcome = told
            found[number] = outcome
            if on is not None:
                on(self.trials[number], outcome)
        return [found[number] for number in range(len(self.trials))]

    def _work(self) -> None:
        try:
            while (number := self._take()) is not None:
                self.ended.put((number, self.pool.attempt(self.trials[number], self.halt)))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            self.ended.put(error)

    def _take(self) -> int | None:
        with self._lock:
            return next(self._next, None)


def _cores() -> int:
    """Processors that we may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _clear(folder: Path, *, keep_trace: bool) -> None:
    """Remove what a trial leaves behind, except a trace that somebody wants."""
    shutil.rmtree(folder / TREE if keep_trace else folder, ignore_errors=True)
