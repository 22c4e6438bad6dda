"""A trace while it is being written: how far the training is, and what its loss does."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from reenact.errors import ResultRefused
from reenact.probe.read import read_steps
from reenact.probe.trace import Columns
from reenact.program.hyperparameter import Kind
from reenact.program.program import Program
from reenact.program.static_graph import hyperparameters_of
from reenact.types import Progress, Tell

LOOK_S = 1.0
MOST_VALUES = 480
"""Beyond twice this, every second value of the loss is left out."""
TRAINING = "training"
LONG_AFTER_S = 30.0
"""Seconds of training after which its length can be estimated."""
LONG_S = 600.0
"""A training with more than this left is a long one."""
LONG = (
    "This training takes about {left} more. Ctrl-C ends it and judges what was seen; "
    "--training-time 60 does"
    " so after 60 seconds."
)


@dataclass
class GrowingTrace:
    """What the chunks of a folder hold so far; each is read once."""

    folder: Path
    step: int = 0
    epoch: int = -1
    """From 0; -1 while no sign of epochs was seen."""
    seconds: float = 0.0
    """Since the first step."""
    losses: list[float] = field(default_factory=list)
    _began: float = math.nan
    _last: str = ""
    _every: int = 1

    def look(self) -> bool:
        """Read what is new; whether there was anything. A chunk that cannot be read is passed
        over.
        """
        new = sorted(
            path.name for path in self.folder.glob("chunk-*.npz") if path.name > self._last
        )
        for name in new:
            self._last = name
            try:
                self._add(read_steps(self.folder, name))
            except (ResultRefused, KeyError, TypeError, ValueError):
                continue
        return bool(new)

    def _add(self, steps: Columns) -> None:
        if not len(steps):
            return
        numbers = steps["step"]
        times = steps["time"].tolist()
        self._began = times[0] if math.isnan(self._began) else self._began
        self.step = int(numbers[-1]) + 1
        self.seconds = times[-1] - self._began
        self.epoch = max(self.epoch, int(steps["epoch"].max()))
        fresh = steps["loss"][numbers % self._every == 0].tolist()
        for value in fresh:
            if math.isfinite(value):
                self.losses.append(value)
        while len(self.losses) > 2 * MOST_VALUES:
            self.losses = self.losses[::2]
            self._every = 2 * self._every

    def left(self, epochs: int) -> float | None:
        """Seconds that the training still takes, if all epochs take as long; none where that is
        unknown.
        """
        if 0 < self.epoch < epochs:
            return self.seconds * (epochs - self.epoch) / self.epoch
        return None

    def progress(self, epochs: int) -> Progress:
        """For a waiting user; `epochs` is 0 where their number is unknown."""
        shown = min(self.epoch + 1, epochs) if epochs else self.epoch + 1
        parts = []
        if shown:
            total = f"/{epochs}" if epochs else ""
            parts.append(f"epoch {shown}{total}")
        parts.append(f"step {self.step}")
        if self.losses:
            parts.append(f"loss {self.losses[-1]:.4g}")
        left = self.left(epochs)
        if left is not None:
            parts.append(f"about {in_words(left)} left")
        return Progress(
            TRAINING,
            done=max(self.epoch, 0),
            total=epochs,
            note=", ".join(parts),
            values=tuple(self.losses),
            left=left,
        )


def in_words(seconds: float) -> str:
    """A time that no one needs to the second."""
    if seconds < 90:
        return f"{math.ceil(seconds)} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def epochs_of(program: Program) -> int:
    """The number of epochs as its text has it; 0 where that is not plain."""
    known = [one.in_force for one in hyperparameters_of(program) if one.kind is Kind.EPOCHS]
    if len(known) == 1 and isinstance(known[0], int) and known[0] > 0:
        return known[0]
    return 0


def telling_of(
    program: Program,
    folder: Path,
    tell: Tell,
    say_once: Callable[[str], None] | None = None,
) -> Callable[[], None]:
    """A function that reports the training in that folder, at most once a second, whenever it is
    called.

    `say_once` gets a sentence when the training turns out to be a long one.
    """
    growing = GrowingTrace(folder)
    epochs = epochs_of(program)
    due = time.monotonic() + LOOK_S

    def look() -> None:
        nonlocal due, say_once
        if time.monotonic() < due:
            return
        due = time.monotonic() + LOOK_S
        if not (growing.look() and growing.step):
            return
        tell(growing.progress(epochs))
        left = growing.left(epochs)
        if (
            say_once is not None
            and left is not None
            and growing.seconds >= LONG_AFTER_S
            and left > LONG_S
        ):
            say_once(LONG.format(left=in_words(left)))
            say_once = None

    return look
