"""Ends a training whose loss is lost, and leaves a note of why."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact_probe.boot import Session
    from reenact_probe.types import Row

VARIABLE = "REENACT_TRIAL_STOP"
"""Path of the note."""
LOST = 20
"""Steps in a row whose loss is no number, after which nothing good comes any more."""
_LOSS = 3
"""Column of the loss in a row of a step."""


class Watch:
    """Listens to every step of torch."""

    def __init__(self, session: Session, path: str) -> None:
        self.session = session
        self.path = path
        self.lost = 0

    def torch_arrived(self, _: Any) -> None:
        """Look at every row of a step, unless the probe stays away."""
        steps = getattr(self.session.torch, "steps", None)
        if steps is not None:
            steps.listen(self.step)

    def step(self, row: Row) -> None:
        loss: Any = row[_LOSS]
        self.lost = self.lost + 1 if isinstance(loss, float) and not math.isfinite(loss) else 0
        if self.lost < LOST:
            return
        from reenact_probe import ending

        self.session.recorder.step += 1
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(f"the loss was no finite number for {LOST} steps")
        ending.stop_here(self.session.recorder)


def watch(session: Session, path: str) -> None:
    """Stand guard over a session of the probe from now on."""
    from reenact_probe.late import when_imported

    when_imported("torch", Watch(session, path).torch_arrived)


def from_environment(session: Session) -> None:
    """For a trial in a fresh interpreter."""
    path = os.environ.get(VARIABLE)
    if path and session is not None:
        watch(session, path)
