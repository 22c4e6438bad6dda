"""What every executor of trials does (`tests/contracts/executor.py` checks it), one by its name (`process`,
`ray`, or the address of a Ray cluster), and a twin that trains nothing, for tests."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol, Self, TypeAlias

from reenact.errors import InputError, PatchRefused
from reenact.probe.outcome import OutcomeKind
from reenact.trials.trial import Outcome, Trial
from reenact.types import Stop

OnOutcome: TypeAlias = Callable[[Trial, Outcome], None]


class Executor(Protocol):
    """Trains. An executor inherits this class, gives the two methods, and is used in a `with`."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What whoever reads the result should know of where the trainings ran."""
        return ()

    def run(
        self, trials: Sequence[Trial], *, on: OnOutcome | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """The outcomes in the order of the trials.

        `on` is called in the caller's thread as each one ends. After a stop what has not ended is an outcome
        of kind interrupted. A patch that does not fit its program is an outcome of kind not-started.
        """

    def close(self) -> None:
        """End every process and remove what is left on disk; may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def as_they_end(
    executor: Executor, trials: Sequence[Trial], stop: Stop
) -> Iterator[list[tuple[Trial, Outcome]]]:
    """Outcomes in groups, as soon as there are any; all trials are given to the executor at once, so that it
    is never idle while whoever asked writes them down."""
    halt = Stop(parent=stop)
    ended: SimpleQueue[tuple[Trial, Outcome] | None] = SimpleQueue()
    with ThreadPoolExecutor(1) as thread:
        work = thread.submit(executor.run, trials, on=lambda *pair: ended.put(pair), stop=halt)
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


def run_in_threads(
    attempt: Callable[[Trial, Stop], Outcome],
    trials: Sequence[Trial],
    workers: int,
    on: OnOutcome | None,
    stop: Stop | None,
) -> list[Outcome]:
    """`Executor.run` for executors that do one trial a thread: trials begin in order, so many at a time.

    What goes wrong in a thread, or in `on`, stops the others and is raised here.
    """
    halt = Stop(parent=stop)
    outcomes: dict[int, Outcome] = {}
    with ThreadPoolExecutor(workers) as threads:
        numbers = {threads.submit(attempt, trial, halt): number for number, trial in enumerate(trials)}
        try:
            for ended in as_completed(numbers):
                number = numbers[ended]
                outcomes[number] = ended.result()
                if on is not None:
                    on(trials[number], outcomes[number])
        finally:
            halt.ask()
    return [outcomes[number] for number in range(len(trials))]


PROCESS, RAY = "process", "ray"
NAMES = (PROCESS, RAY)


def check_name(name: str) -> None:
    """Raises InputError for what is neither a name nor an address."""
    if name not in NAMES and ":" not in name:
        raise InputError(
            f"There is no executor of that name. Received: executor={name!r}.",
            next_step=f"Use one of: {', '.join(NAMES)}, or the address of a Ray cluster.",
        )


def open_executor(
    name: str = PROCESS,
    *,
    workers: int | None = None,
    python: str = "",
    scratch: Path | None = None,
    data: Sequence[str] = (),
    stop: Stop | None = None,
) -> Executor:
    """The executor of this name for a user's own programs; `ray` starts a cluster of this machine, while
    `ray://host:port` and `host:port` join one. `data` are paths that every node of it has and that are not
    shipped; a `stop` ends connecting. Raises InputError, MissingExtra, MissingPart and Stopped.

    `scratch` counts on this machine only.
    """
    check_name(name)
    if name == PROCESS:
        from reenact.trials.pool import ProcessPool

        return ProcessPool(workers, python=python, scratch=scratch)
    from reenact.trials.ray import RayExecutor

    address = "" if name == RAY else name
    return RayExecutor(address, workers=workers, python=python, data=[Path(one) for one in data], stop=stop)


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
