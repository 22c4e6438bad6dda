"""Which executor trains: one by its name (`process`, `ray`), or the address of a Ray cluster."""

from collections.abc import Sequence
from pathlib import Path

from reenact.errors import InputError
from reenact.trials.executor import Executor
from reenact.types import Stop

PROCESS = "process"
RAY = "ray"
NAMES = (PROCESS, RAY)


def check_name(name: str) -> None:
    """Raises InputError for what is neither a name nor an address."""
    if name not in NAMES and ":" not in name:
        why = f"There is no executor of that name. Received: executor={name!r}."
        known = f"Use one of: {', '.join(NAMES)}, or the address of a Ray cluster."
        raise InputError(why, next_step=known)


def open_executor(
    name: str,
    *,
    workers: int = 0,
    python: str = "",
    data: Sequence[str] = (),
    stop: Stop | None = None,
) -> Executor:
    """The executor of this name for a user's own programs; `ray` starts a cluster of this machine,
    while `ray://host:port` and `host:port` join one. `data` are paths that every node of it has and
    that are not shipped; a `stop` ends connecting. Raises InputError, MissingExtra, MissingPart and
    Stopped.
    """
    check_name(name)
    if name == PROCESS:
        from reenact.trials.pool import ProcessPool

        return ProcessPool(workers or None, python=python)
    from reenact.trials.ray import RayExecutor

    address = "" if name == RAY else name
    paths = [Path(path) for path in data]
    return RayExecutor(
        address,
        workers=workers or None,
        python=python,
        data=paths,
        stop=stop,
    )
