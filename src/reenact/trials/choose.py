"""An executor by its name: `process`, `ray`, or the address of a Ray cluster."""

from collections.abc import Sequence
from pathlib import Path

from reenact.errors import InputError
from reenact.trials.executor import Executor
from reenact.types import Stop

PROCESS, RAY = "process", "ray"
NAMES = (PROCESS, RAY)
REMOVED = "ensemble"


def check_name(name: str) -> None:
    """Raises InputError for what is neither a name nor an address."""
    if name == REMOVED:
        raise InputError(
            "The executor 'ensemble' was removed: it did not make whole runs twice as fast.",
            next_step=f"Use {PROCESS}, which is the default.",
        )
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
