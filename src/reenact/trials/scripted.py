"""An executor that trains nothing: a function says what comes of each trial. For tests of its users."""

from collections.abc import Callable, Sequence

from reenact.errors import PatchRefused
from reenact.probe.outcome import OutcomeKind
from reenact.trials.executor import Executor, OnOutcome
from reenact.trials.trial import Outcome, Trial
from reenact.types import Stop


class ScriptedExecutor(Executor):
    """Deterministic, in this thread; `ran` holds what was asked of it."""

    def __init__(self, play: Callable[[Trial], Outcome]) -> None:
        self.play = play
        self.ran: list[Trial] = []

    def run(
        self, trials: Sequence[Trial], *, on: OnOutcome | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """See `Executor.run`."""
        found = []
        for trial in trials:
            outcome = self._one(trial, stop)
            found.append(outcome)
            if on is not None:
                on(trial, outcome)
        return found

    def close(self) -> None:
        """Nothing is open."""

    def _one(self, trial: Trial, stop: Stop | None) -> Outcome:
        if stop is not None and stop.asked:
            return Outcome(OutcomeKind.INTERRUPTED)
        try:
            trial.patch.apply(trial.program)
        except PatchRefused as error:
            return Outcome(OutcomeKind.NOT_STARTED, note=error.sentence)
        self.ran.append(trial)
        return self.play(trial)
