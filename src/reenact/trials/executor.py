"""What every executor of trials does (`tests/contracts/executor.py` checks it), and a twin
that trains nothing, for tests."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from typing import Protocol, Self, TypeAlias

from reenact.errors import PatchRefused
from reenact.probe.outcome import OutcomeKind
from reenact.trials.trial import Outcome, Trial
from reenact.types import Stop

Trials: TypeAlias = Sequence[Trial]
OnOutcome: TypeAlias = Callable[[Trial, Outcome], None]


class Executor(Protocol):
    """Trains. An executor inherits this class, gives the two methods, and is used in a `with`."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What anyone who reads the result should know of where the trainings ran."""
        return ()

    def run(
        self, trials: Trials, *, on: OnOutcome | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """The outcomes in the order of the trials.

        `on` is called in the caller's thread as each one ends. After a stop what has not ended is
        an outcome of kind interrupted. A patch that does not fit its program is an outcome of kind
        not-started.
        """

    def close(self) -> None:
        """End every process and remove what is left on disk; may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def as_they_end(
    executor: Executor, trials: Trials, stop: Stop
) -> Iterator[list[tuple[Trial, Outcome]]]:
    """Outcomes in groups, as soon as there are any; all trials are given to the executor at once,
    so that it is never idle while anyone who asked writes them down.
    """
    halt = Stop(parent=stop)
    ended: SimpleQueue[tuple[Trial, Outcome] | None] = SimpleQueue()
    with ThreadPoolExecutor(1) as thread:
        work = thread.submit(
            executor.run,
            trials,
            on=lambda *pair: ended.put(pair),
            stop=halt,
        )
        work.add_done_callback(lambda _: ended.put(None))
        try:
            over = False
            while not over:
                group = [ended.get()]
                while not ended.empty():
                    group.append(ended.get())
                over = None in group
                if found := [pair for pair in group if pair is not None]:
                    yield found
        finally:
            halt.ask()
        work.result()


class ThreadedExecutor(Executor):
    """Does one trial a thread: they begin in order, `workers` at a time."""

    workers: int

    @abstractmethod
    def attempt(self, trial: Trial, stop: Stop) -> Outcome:
        """One trial; called in a thread."""

    def run(
        self, trials: Trials, *, on: OnOutcome | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """See `Executor.run`; what goes wrong in a thread, or in `on`, stops the others and is
        raised.
        """
        halt = Stop(parent=stop)
        with ThreadPoolExecutor(self.workers) as threads:
            work = [threads.submit(self.attempt, trial, halt) for trial in trials]
            try:
                for ended in as_completed(work):
                    outcome = ended.result()
                    if on is not None:
                        on(trials[work.index(ended)], outcome)
            finally:
                halt.ask()
        return [ended.result() for ended in work]


class ScriptedExecutor(Executor):
    """Deterministic, in this thread; `ran` holds what was asked of it."""

    def __init__(self, play: Callable[[Trial], Outcome]) -> None:
        self.play = play
        self.ran: list[Trial] = []

    def run(
        self, trials: Trials, *, on: OnOutcome | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """See `Executor.run`."""
        found = []
        for trial in trials:
            found.append(self._one(trial, stop))
            if on is not None:
                on(trial, found[-1])
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
