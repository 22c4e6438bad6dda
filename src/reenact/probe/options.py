"""What a caller may ask of a watched run, and the folder that its trace goes into."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from reenact.errors import InputError
from reenact.redact import for_probe

TRACES = Path(".reenact") / "traces"
PRESETS = ("bare", "quick", "normal", "deep")


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """Every option has a default: a plain `watch` observes and changes nothing."""

    folder: Path
    """Where the trace goes; made when it is not there."""
    preset: str = "quick"
    """How closely to look: quick, normal or deep; bare takes one row a step and no statistics
    of layers.
    """
    seed: int | None = None
    """Overrides the program's own global seeds; none leaves them."""
    patterns: tuple[str, ...] = ()
    """Regular expressions with named groups, looked for in each printed line."""
    max_time: float | None = None
    """Seconds after which the program is ended."""
    stop_after: int | None = None
    """Optimizer steps after which the program is ended."""
    interrupts: bool = True
    """When the user stops: interrupt the program as Ctrl-C does, so that it says where it was; else
    it is ended without a word.
    """
    experiments: float | None = None
    """Seconds of CPU time for each small experiment, done in place of the first step; none
    trains.
    """
    experiment_share: float = 0.0
    """Share of the training's own time that each may take beyond that."""
    epochs: int = 0
    """Of the training, as its text has it; 0 where that is not plain."""
    weights: Path | None = None
    """Where a training leaves its weights when it ends, and the experiments wait for them;
    none: nowhere.
    """
    python: str = ""
    """Interpreter; empty means the one that runs reenact."""
    shim: bool | None = None
    """Let programs written for older Keras or tf.keras run on Keras 3; none: when the program reads
    like one.
    """
    note_opened: bool = False
    """Write down what the program looks at, see `looks/`."""
    stand_ins: tuple[str, ...] | None = None
    """Data sets that the program gets made-up data for; empty: whatever cannot be had; none:
    for no one.
    """
    books: bool = True
    """Keep the books of the training: what `reenact.accounts` reads."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables set for the program on top of the caller's own."""

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise InputError(
                f"A preset is one of {', '.join(PRESETS)}. Received: preset={self.preset!r}."
            )
        if self.seed is not None and not 0 <= self.seed < 2**32:
            raise InputError(f"A seed lies between 0 and 4294967295. Received: seed={self.seed}.")

    def as_config(self, folder: str) -> dict[str, object]:
        """The options as the injected part reads them."""
        names = (
            "preset",
            "seed",
            "patterns",
            "stop_after",
            "experiments",
            "experiment_share",
            "epochs",
            "note_opened",
            "stand_ins",
            "books",
        )
        hide = for_probe({**os.environ, **self.environment})
        same = {name: getattr(self, name) for name in names}
        weights = str(self.weights) if self.weights is not None else None
        return {
            "folder": folder,
            "shim": bool(self.shim),
            "hide": hide,
            "weights": weights,
            **same,
        }


def fresh_folder(name: str, parent: Path | None = None) -> Path:
    """`PARENT/name-1`, or the next number that no one has taken; made at once, so that it is
    ours.
    """
    parent = parent or TRACES
    make_private(parent)
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "run"
    number = 0
    while True:
        number += 1
        folder = parent / f"{stem}-{number}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            return folder


def make_private(folder: Path) -> None:
    """Make a folder, and what is missing above it, for its owner alone."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
