"""What every executor of trials does (`reenact.testing.executor` checks it), and executors by their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, Self, TypeAlias

from reenact.errors import InputError
from reenact.trials.outcome import Outcome
from reenact.trials.trial import Trial
from reenact.types import Stop

PROCESS, ENSEMBLE, RAY = "process", "ensemble", "ray"
NAMES = (PROCESS, ENSEMBLE, RAY)

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


def open_executor(
    name: str = PROCESS,
    *,
    workers: int | None = None,
    python: str = "",
    scratch: Path | None = None,
    express: bool = False,
) -> Executor:
    """The executor of this name for a user's own programs; `ray` starts a cluster of this machine, while
    `ray://host:port` and `host:port` join one. Raises InputError, MissingExtra and MissingPart.

    `python` and `scratch` count on this machine only; the ensemble expresses whatever may be.
    """
    if name == PROCESS:
        from reenact.trials.pool import ProcessPool

        return ProcessPool(workers, python=python, scratch=scratch, express=express)
    if name == ENSEMBLE:
        from reenact.trials.ensemble import Ensemble

        return Ensemble(workers, python=python, scratch=scratch)
    if name == RAY or ":" in name:
        from reenact.trials.ray import RayExecutor

        return RayExecutor("" if name == RAY else name, workers=workers, express=express)
    raise InputError(
        f"There is no executor of that name. Received: executor={name!r}.",
        next_step=f"Use one of: {', '.join(NAMES)}, or the address of a Ray cluster.",
    )
