"""What the launcher asks of the probe, handed over as JSON in one environment variable."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

RANKS = ("RANK", "LOCAL_RANK", "NODE_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")
"""What launchers tell a process of its place; not all set the first. -1 means alone."""


class Config(NamedTuple):
    """The options of the launcher."""

    folder: str
    """Where the trace goes."""
    preset: str = "quick"
    """Sampling schedule: bare, quick, normal or deep."""
    seed: int | None = None
    """Overrides the program's own global seeds; none leaves them alone."""
    patterns: tuple[str, ...] = ()
    """Regular expressions with named groups, looked for in each printed line."""
    stop_after: int | None = None
    """End the process after this many optimizer steps; none lets it run."""
    experiments: float | None = None
    """Seconds of CPU time for each small experiment before the first step, which then never comes;
    none: train.
    """
    experiment_share: float = 0.0
    """Share of the training's own time that each may take beyond that."""
    epochs: int = 0
    """Of the training, as its text has it; 0 where that is not plain."""
    weights: str | None = None
    """Where a training leaves its weights when it ends, and the experiments wait for them;
    none: nowhere.
    """
    shim: bool = True
    """Let programs written for older Keras or tf.keras run on Keras 3."""
    note_opened: bool = False
    """Say when the import system lists a folder (`importing.py`)."""
    stand_ins: tuple[str, ...] | None = None
    """Data sets to give made-up data for (`standin.py`); empty: whatever cannot be had; none:
    for no one.
    """
    books: bool = True
    """Keep the books of the training (`books/`)."""
    tap_output: bool = True
    """Read metrics off the printed lines."""
    hide: dict[str, Any] | None = None
    """What must not stand in a file of the trace: rules of reenact's redact.py."""


def from_environment() -> Config | None:
    """The configuration in the environment, or none when this process is not watched."""
    options = json.loads(os.environ.get("REENACT_PROBE") or "{}")
    # Made absolute now: the program may change its working folder later.
    if not options:
        return None
    return Config(
        os.path.abspath(options.pop("folder")),
        **options,
    )


def is_rank_zero() -> bool:
    """Whether this process is the one that records under distributed training."""
    return all(os.environ.get(name, "0") in ("0", "-1") for name in RANKS)
