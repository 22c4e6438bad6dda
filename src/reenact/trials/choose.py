"""An executor by its name: `process`, `ensemble`, `ray`, or the address of a Ray cluster."""

from __future__ import annotations

from pathlib import Path

from reenact.errors import InputError
from reenact.trials.executor import Executor

PROCESS, ENSEMBLE, RAY = "process", "ensemble", "ray"
NAMES = (PROCESS, ENSEMBLE, RAY)


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
