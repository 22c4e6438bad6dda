"""What every executor of trials does; `reenact.testing.executor` checks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, Self, TypeAlias

from reenact.trials.outcome import Outcome
from reenact.trials.trial import Trial
from reenact.types import Stop

OnOutcome: TypeAlias = Callable[[Trial, Outcome], None]


class Executor(Protocol):
    """Trains. An executor inherits this class, gives the two methods, and is used in a `with`."""

    def run(
        self, trials: Sequence[Trial], *, on: OnOutcome | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """The outcomes in the order of the trials.

        `on` is called in the caller's thread as each one ends. After a stop what has not ended is an outcome
        of kind interrupted. A patch that does not fit its program is an outcome of kind not-started.
        """
        ...

    def close(self) -> None:
        """End every process and remove what is left on disk; may be called twice."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
