"""Trainings in processes of this machine: fork servers with the imports done, one fresh fork a trial.

Each trial has one thread, a folder of its own, no standard input, trackers off, and a process group that is
ended whole. When a server dies its trial is tried once more on a fresh one. When we die, so do they.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from reenact.errors import InputError, PatchRefused
from reenact.probe.outcome import OutcomeKind
from reenact.trials.cards import Card, Packing, cards_here
from reenact.trials.executor import Executor, OnOutcome, run_in_threads
from reenact.trials.folder import Scratch
from reenact.trials.job import clear, make_job
from reenact.trials.reading import read_outcome
from reenact.trials.server import Server, ServerDied
from reenact.trials.trial import Outcome, Trial
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
        cards: Sequence[Card] | None = None,
    ) -> None:
        """`workers`: parallel trainings, one per core by default. `python`: the program's interpreter.
        `cards`: those of this machine by default.

        `scratch` is where the trials run and where kept traces stay; without one a temporary folder is used
        and removed by `close`, kept traces too.
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
            return tuple(server.pid for server in (*self._idle, *self._busy))

    def run(
        self, trials: Sequence[Trial], *, on: OnOutcome | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """See `Executor.run`."""
        return run_in_threads(self._attempt, trials, self.workers, on, stop)

    def side_by_side(self, trial: Trial) -> int | None:
        """How many such trainings fit on the cards; none where that is not known, or needs no card."""
        return self._packing.fits(trial)

    def close(self) -> None:
        """See `Executor.close`."""
        with self._lock:
            idle, self._idle = self._idle, []
            scratch, self._scratch = self._scratch, None
        for server in idle:
            server.close()
        if scratch is not None:
            scratch.close()

    def _attempt(self, trial: Trial, stop: Stop) -> Outcome:
        """One trial from its folder to its outcome; on a card only where it fits."""
        tries = 0
        while True:
            with self._packing.seat(trial, stop, tries=tries) as seat:
                outcome = self._train(trial, stop, seat.card.name if seat is not None else "")
            if not self._packing.learn(trial, outcome, seat):
                return outcome
            tries += 1

    def _train(self, trial: Trial, stop: Stop, card: str) -> Outcome:
        died = ""
        for _ in range(TRIES):
            if stop.asked:
                return Outcome(OutcomeKind.INTERRUPTED)
            folder = self._open_scratch().trial_folder()
            try:
                job = make_job(trial, folder, self.python, card)
                with self._server(folder.parent) as server:
                    ended = server.run(job.message, lambda: stop.asked)
                return read_outcome(job, ended, keep_trace=trial.keep_trace)
            except PatchRefused as error:
                return Outcome(OutcomeKind.NOT_STARTED, note=error.sentence)
            except ServerDied as error:
                died = str(error)
            finally:
                clear(folder, keep_trace=trial.keep_trace)
        return Outcome(OutcomeKind.KILLED, note=f"the server of this trial died {TRIES} times ({died})")

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

    def _open_scratch(self) -> Scratch:
        with self._lock:
            if self._scratch is None:
                self._scratch = Scratch.make(self._within)
            return self._scratch
