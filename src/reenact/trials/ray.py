"""The same trials on a Ray cluster: one per core, each in a pool of one worker that stays warm, or in the
sandbox when the program is not the user's own.

reenact must be installed on the cluster, and the program's folder must be seen at the same path everywhere. A
trial whose worker or machine dies is done again elsewhere; of the two only one outcome is passed on.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from reenact.errors import InputError, MissingExtra, MissingPart
from reenact.probe.outcome import OutcomeKind
from reenact.trials.executor import Executor, OnOutcome
from reenact.trials.trial import Outcome, Trial
from reenact.types import Stop

if TYPE_CHECKING:
    from reenact.trials.boxed import Boxed
    from reenact.trials.pool import ProcessPool

LOOK_S = 0.5
TRIES = 3
"""How often a trial is done again after the death of its worker."""


class RayExecutor(Executor):
    """Connects when it is made; a cluster that it started itself ends with it."""

    def __init__(self, address: str = "", *, workers: int | None = None, boxed: bool = False) -> None:
        """`address`: of a running cluster; without one a cluster of this machine is started, with `workers`
        cores. `boxed`: the programs are not the user's own. Raises MissingExtra and MissingPart.
        """
        self._ray = _import_ray()
        self.boxed = boxed
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._connect(address, workers)
        self._task = self._ray.remote(num_cpus=1, max_retries=TRIES)(_attempt)

    def _connect(self, address: str, workers: int | None) -> None:
        options: dict[str, Any] = {"log_to_driver": False, "include_dashboard": False}
        if address:
            options = {"address": address, "log_to_driver": False}
        elif workers is not None:
            if workers < 1:
                raise InputError(f"A cluster has at least one worker. Received: workers={workers}.")
            options["num_cpus"] = workers
        try:
            self._ray.init(**options)
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            raise MissingPart(
                f"The Ray cluster cannot be reached: {_first_line(error)} Received: {address or 'none'}.",
                next_step="Start one with `ray start --head`, or give its address.",
            ) from error

    def run(
        self, trials: Sequence[Trial], *, on: OnOutcome | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        """See `Executor.run`."""
        waiting = {self._task.remote(trial, self.boxed): number for number, trial in enumerate(trials)}
        found: dict[int, Outcome] = {}
        asked = False
        try:
            while waiting:
                if not asked and stop is not None and stop.asked:
                    asked = True
                    self._cancel(waiting)
                ended, _ = self._ray.wait(list(waiting), timeout=LOOK_S)
                for reference in ended:
                    number = waiting.pop(reference)
                    found[number] = self._outcome(reference)
                    if on is not None:
                        on(trials[number], found[number])
        finally:
            self._cancel(waiting)
        return [found[number] for number in range(len(trials))]

    def _cancel(self, waiting: dict[Any, int]) -> None:
        for reference in waiting:
            self._ray.cancel(reference, force=False)

    def _outcome(self, reference: Any) -> Outcome:
        errors = self._ray.exceptions
        try:
            outcome: Outcome = self._ray.get(reference)
        except (errors.TaskCancelledError, KeyboardInterrupt):
            return Outcome(OutcomeKind.INTERRUPTED)
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError) as error:
            note = f"the worker of this trial died {TRIES + 1} times ({_first_line(error)})"
            return Outcome(OutcomeKind.KILLED, note=note)
        except errors.RayTaskError as error:
            if isinstance(error.cause, KeyboardInterrupt):
                return Outcome(OutcomeKind.INTERRUPTED)
            raise error.as_instanceof_cause() from error
        return outcome

    def close(self) -> None:
        """See `Executor.close`."""
        if self._ours and self._ray.is_initialized():
            self._ray.shutdown()


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _import_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("ray", "ray") from error
    return ray


def _attempt(trial: Trial, boxed: bool) -> Outcome:
    """Runs on a worker. Ray keeps its process for the next trial, and so the warm pool."""
    (outcome,) = _executor(boxed).run([trial])
    return outcome


@lru_cache(maxsize=2)
def _executor(boxed: bool) -> Boxed | ProcessPool:
    if boxed:
        from reenact.trials.boxed import Boxed

        return Boxed()
    from reenact.trials.pool import ProcessPool

    return ProcessPool(1)
