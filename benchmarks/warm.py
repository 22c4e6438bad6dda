"""A pool of warm servers that many runs of a benchmark use one after another."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import lru_cache
from multiprocessing import parent_process
from multiprocessing.util import Finalize

from reenact.trials.executor import Executor, OnOutcome
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Outcome, Trial
from reenact.types import ExitCode, Stop


class Lent(Executor):
    """An executor that many use one after another: who closes it only gives it back."""

    def __init__(self, lender: Executor) -> None:
        self.lender = lender
        self.trainings = 0
        """That were really done."""
        self.cpu_seconds = 0.0

    def run(
        self,
        trials: Sequence[Trial],
        *,
        on: OnOutcome | None = None,
        stop: Stop | None = None,
    ) -> list[Outcome]:
        """See `Executor.run`."""
        found = self.lender.run(trials, on=on, stop=stop)
        self.trainings += len(found)
        self.cpu_seconds += sum(outcome.cpu_seconds for outcome in found)
        return found

    def close(self) -> None:
        """It stays open."""


@lru_cache(maxsize=1)
def warm_pool(workers: int) -> ProcessPool:
    """The pool of this process: its servers have imported torch and Keras once for all faults."""
    pool = ProcessPool(workers=workers)
    Finalize(None, pool.close, exitpriority=10)
    return pool


@lru_cache(maxsize=1)
def end_with_parent() -> None:
    """In a process that another one started: when that one is gone, nobody waits for results
    any more.
    """
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        # The servers of the pool end when nobody talks to them; outcomes are written whole or not
        # at all.
        os._exit(ExitCode.STOPPED)

    threading.Thread(target=watch, daemon=True).start()
