"""Trials of programs from elsewhere: each patched copy runs in the sandbox, never in the user's
interpreter.

Slower than the pool: a fresh interpreter a trial. Trainings whose loss is lost are not given up in
there, and processor time is not distinguished from wall time.
"""

from dataclasses import replace

from reenact.errors import PatchRefused
from reenact.probe.boxed import watch_boxed
from reenact.probe.outcome import OutcomeKind
from reenact.sandbox.box import Limits, Mount, Sandbox
from reenact.sandbox.choose import choose
from reenact.trials.executor import ThreadedExecutor
from reenact.trials.folder import Scratch, place
from reenact.trials.job import TREE, clear, watch_options
from reenact.trials.reading import outcome_of
from reenact.trials.trial import Outcome, Trial
from reenact.types import Stop

WALL_S = 600.0
"""Seconds of a trial whose limits name none."""


class Boxed(ThreadedExecutor):
    """The executor for what a model wrote, or what came with a repository, a paper or a report."""

    workers = 1

    def __init__(
        self,
        *,
        sandbox: Sandbox | None = None,
        python: str = "",
        mounts: tuple[Mount, ...] = (),
    ) -> None:
        """`sandbox`: the one that this machine would choose by default; `mounts`: data that the
        program reads. Raises SandboxUnavailable.
        """
        self.sandbox = sandbox if sandbox is not None else choose()
        self.python = python
        self.mounts = mounts
        self._scratch = Scratch.make()

    def close(self) -> None:
        """See `Executor.close`."""
        self._scratch.close()

    def attempt(self, trial: Trial, stop: Stop) -> Outcome:
        """See `ThreadedExecutor.attempt`."""
        if stop.asked:
            return Outcome(OutcomeKind.INTERRUPTED)
        folder = self._scratch.trial_folder()
        try:
            patched = trial.patched
            placed = place(patched, folder / TREE)
            inside = replace(patched, folder=placed.folder, working=placed.working)
            options = watch_options(trial, patched, folder, self.python)
            limits = Limits(wall_s=trial.limits.seconds or WALL_S)
            watched = watch_boxed(
                inside,
                options,
                self.sandbox,
                limits=limits,
                stop=stop,
                mounts=self.mounts,
            )
            return outcome_of(watched, watched.seconds, keep_trace=trial.keep_trace)
        except PatchRefused as error:
            return Outcome(OutcomeKind.NOT_STARTED, note=error.sentence)
        finally:
            clear(folder, keep_trace=trial.keep_trace)
