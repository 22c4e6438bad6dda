"""What the launcher asks of the probe, handed over as JSON in one environment variable."""

from __future__ import annotations

import json
import os
from typing import Any

VARIABLE = "REENACT_PROBE"


class Config:
    """The options of the launcher. Every field has a default, so that an older launcher still works."""

    def __init__(self, folder: str, **options: Any) -> None:
        self.folder = folder
        """Where the trace goes."""
        self.preset = options.get("preset", "quick")
        """Sampling schedule: bare, quick, normal or deep."""
        self.seed = options.get("seed")
        """Overrides the program's own global seeds; none leaves them alone."""
        self.patterns = tuple(options.get("patterns", ()))
        """Regular expressions with named groups, looked for in each printed line."""
        self.stop_after = options.get("stop_after")
        """End the process after this many optimizer steps; none lets it run."""
        self.experiments = options.get("experiments")
        """Seconds of CPU time that each small experiment may take before the first step, which then never
        comes; none trains as the program says.
        """
        self.shim = bool(options.get("shim", True))
        """Let programs written for older Keras or tf.keras run on Keras 3."""
        self.note_opened = bool(options.get("note_opened", False))
        """Write down which files the program opens."""
        self.tap_output = bool(options.get("tap_output", True))
        """Read metrics off the printed lines."""
        self.hide = options.get("hide")
        """What must not stand in a file of the trace: rules of reenact's redact.py."""


def from_environment() -> Config | None:
    """The configuration in the environment, or none when this process is not watched."""
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    options = json.loads(text)
    # Made absolute now: the program may change its working folder later.
    return Config(os.path.abspath(options.pop("folder")), **options)


RANKS = ("RANK", "LOCAL_RANK", "NODE_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")
"""What launchers tell a process of its place; not all tell the first. -1 means alone."""


def is_rank_zero() -> bool:
    """Whether this process is the one that records under distributed training."""
    return all(os.environ.get(name, "0") in ("0", "-1") for name in RANKS)
