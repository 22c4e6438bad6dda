"""Trials of programs from elsewhere: each patched copy runs in the sandbox, never in the user's interpreter.

Slower than the pool: a fresh interpreter a trial. Trainings whose loss is lost are not given up in there, and
processor time is not distinguished from wall time.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reenact.errors import PatchRefused
from reenact.probe.boxed import watch_boxed
from reenact.probe.outcome import OutcomeKind
from reenact.sandbox.box import Limits, Sandbox
from reenact.sandbox.choose import choose
from reenact.trials.executor import Executor, OnOutcome, run_in_threads
from reenact.trials.folder import Scratch, place
from reenact.trials.job import TREE, clear, watch_options
from reenact.trials.reading import outcome_of
from reenact.trials.trial import Outcome, Trial
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
        self._scratch = Scratch.make(scratch)

    def run(
        self, trials: Sequence[Trial], *, on: OnOutcome | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """See `Executor.run`."""
        return run_in_threads(self.attempt, trials, self.workers, on, stop)

    def close(self) -> None:
        """See `Executor.close`."""
        self._scratch.close()

    def attempt(self, trial: Trial, stop: Stop) -> Outcome:
        """One trial; called in a thread."""
        if stop.asked:
            return Outcome(OutcomeKind.INTERRUPTED)
        folder = self._scratch.trial_folder()
        try:
            patched = trial.patched
            placed = place(patched, folder / TREE)
            inside = replace(patched, folder=placed.folder, working=placed.working)
            options = watch_options(trial, patched, folder, self.python)
            limits = Limits(wall_s=trial.limits.seconds or WALL_S)
            watched = watch_boxed(inside, options, self.sandbox, limits=limits, stop=stop)
            return outcome_of(watched, watched.seconds, keep_trace=trial.keep_trace)
        except PatchRefused as error:
            return Outcome(OutcomeKind.NOT_STARTED, note=error.sentence)
        finally:
            clear(folder, keep_trace=trial.keep_trace)
