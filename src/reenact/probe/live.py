"""How far a watched program is, read from the newest chunk of its trace."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from reenact.errors import ResultRefused
from reenact.sandbox.files.arrays import read_arrays

LOOK_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class Position:
    """The last step that was written."""

    step: int
    epoch: int | None
    loss: float
    steps_a_second: float

    def __str__(self) -> str:
        epoch = "" if self.epoch is None else f"epoch {self.epoch + 1}  "
        return f"{epoch}step {self.step}  loss {self.loss:.4g}  {self.steps_a_second:.0f} steps/s"


class LiveView:
    """Looks at the folder from time to time; never more than one small file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._next = 0.0
        self._seen = ""
        self.position: Position | None = None

    def look(self) -> bool:
        """True when there is news."""
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + LOOK_EVERY_S
        names = sorted(path.name for path in self._folder.glob("chunk-*.npz"))
        if not names or names[-1] == self._seen:
            return False
        self._seen = names[-1]
        return self._read(self._folder / names[-1])

    def _read(self, path: Path) -> bool:
        try:
            columns = json.loads((self._folder / "header.json").read_text())["columns"]["steps"]
            rows = read_arrays(path.read_bytes())["steps"]
        except (OSError, ValueError, KeyError, ResultRefused):
            # The summary reads the whole trace and says what is wrong with it.
            return False
        if not len(rows):
            return False
        at = {name: i for i, name in enumerate(columns)}
        last, first = rows[-1], rows[0]
        span = float(last[at["time"]] - first[at["time"]])
        epoch = int(last[at["epoch"]])
        self.position = Position(
            step=int(last[at["step"]]) + 1,
            epoch=epoch if epoch >= 0 else None,
            loss=float(last[at["loss"]]),
            steps_a_second=(len(rows) - 1) / span if span > 0 else 0.0,
        )
        return True
