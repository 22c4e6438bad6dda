"""Trials of programs from elsewhere: each patched copy runs in the sandbox, never in the user's interpreter.

Slower than the pool: a fresh interpreter a trial. A rule for hopeless trainings is not followed in there, and
processor time is not distinguished from wall time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from reenact.errors import PatchRefused
from reenact.probe.boxed import watch_boxed
from reenact.probe.options import WatchOptions
from reenact.probe.outcome import OutcomeKind
from reenact.program.static_graph import Framework, framework_of
from reenact.sandbox.box import Limits, Sandbox
from reenact.sandbox.choose import choose
from reenact.trials.batch import Batch
from reenact.trials.executor import Executor, OnOutcome
from reenact.trials.folder import place
from reenact.trials.job import TRACE, TREE
from reenact.trials.outcome import Outcome
from reenact.trials.pool import clear
from reenact.trials.reading import outcome_of
from reenact.trials.scratch import SCRATCH, Scratch
from reenact.trials.trial import Trial
from reenact.types import Stop

WALL_S = 600.0
"""Seconds of a trial whose limits name none."""


class Boxed(Executor):
    """The executor for what a model wrote, or what came with a repository, a paper or a report."""

    def __init__(
        self,
        workers: int = 1,
        *,
        sandbox: Sandbox | None = None,
        python: str = "",
        scratch: Path | None = None,
    ) -> None:
        """`sandbox`: the one that this machine would choose by default. Raises SandboxUnavailable."""
        self.workers = workers
        self.sandbox = sandbox if sandbox is not None else choose()
        self.python = python
        self._held = Scratch.make() if scratch is None else None
        if scratch is not None:
            scratch.mkdir(parents=True, exist_ok=True)
        self._scratch = (
            self._held.path if self._held else Path(tempfile.mkdtemp(prefix=SCRATCH, dir=scratch)).resolve()
        )

    def run(
        self, trials: Sequence[Trial], *, on: OnOutcome | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """See `Executor.run`."""
        return Batch(self, trials, stop).run(on)

    def close(self) -> None:
        """See `Executor.close`."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def portion(self, trials: int) -> int:
        """One at a time."""
        del trials
        return 1

    def attempts(self, trials: Sequence[Trial], stop: Stop) -> Iterator[tuple[int, Outcome]]:
        """What one thread does."""
        for number, trial in enumerate(trials):
            yield number, self._attempt(trial, stop)

    def _attempt(self, trial: Trial, stop: Stop) -> Outcome:
        if stop.asked:
            return Outcome(OutcomeKind.INTERRUPTED)
        folder = Path(tempfile.mkdtemp(prefix="trial-", dir=self._scratch))
        try:
            return self._once(trial, folder, stop)
        except PatchRefused as error:
            return Outcome(OutcomeKind.NOT_STARTED, note=error.sentence)
        finally:
            clear(folder, keep_trace=trial.keep_trace)

    def _once(self, trial: Trial, folder: Path, stop: Stop) -> Outcome:
        patched = trial.patched
        placed = place(patched, folder / TREE)
        inside = replace(patched, folder=placed.folder, working=placed.working)
        options = WatchOptions(
            folder=folder / TRACE,
            preset=trial.preset,
            seed=trial.seed % 2**32,
            max_time=trial.limits.seconds,
            stop_after=trial.limits.steps,
            python=self.python,
            shim=framework_of(patched) in (Framework.TF_KERAS, Framework.KERAS_OLD),
        )
        limits = Limits(wall_s=trial.limits.seconds or WALL_S)
        watched = watch_boxed(inside, options, self.sandbox, limits=limits, stop=stop)
        return outcome_of(watched, watched.seconds, keep_trace=trial.keep_trace)
