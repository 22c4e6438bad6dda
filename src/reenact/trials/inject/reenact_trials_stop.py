"""Ends a training whose loss is lost, or that is hopeless, and leaves a note of why."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

import reenact_trials_hopeless

if TYPE_CHECKING:
    from reenact_probe.boot import Session
    from reenact_probe.types import Row

VARIABLE, BASELINE = "REENACT_TRIAL_STOP", "REENACT_TRIAL_BASELINE"
"""Paths of the note, and of what a training is compared with."""
LOST = 20
"""Steps in a row whose loss is no number, after which nothing good comes any more."""
POINTS = 50
"""Of the loss of the steps over a whole training: each is the mean of what came since the last."""
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
        if self.lost >= LOST:
            # The recorder counts a step when its row is complete.
            self.session.recorder.step += 1
            self.end(f"the loss was no finite number for {LOST} steps")

    def end(self, why: str) -> None:
        from reenact_probe import ending

        with open(self.path, "w", encoding="utf-8") as file:
            file.write(why)
        ending.stop_here(self.session.recorder)


class Beside(Watch):
    """Compares one metric, or the loss of the steps, with the curves of the program as it stands as well."""

    def __init__(self, session: Session, path: str, baseline: str) -> None:
        super().__init__(session, path)
        with open(baseline, encoding="utf-8") as file:
            self.base: dict[str, Any] = json.load(file)
        self.by_step = self.base["metric"] == "step_loss"
        self.sign = 1 if self.base["larger"] else -1
        self.points: list[tuple[float, float]] = []
        self._values: list[float] = []
        self._step = -1
        if not self.by_step:
            session.recorder.listen(self.metric, lambda *_: None)

    def metric(self, name: str, value: Any, source: str) -> None:
        """Values that come at one and the same step are those of the batches of one evaluation."""
        base = self.base
        if name != base["metric"] or base["source"] not in ("", source):
            return
        try:
            number = float(value)
        except (TypeError, ValueError, RuntimeError):
            return
        step = self.session.recorder.step
        if step != self._step:
            self._values, self._step = [], step
            if source == "probe":
                self.judge()
            self.points.append((step / base["steps"], 0.0))
        self._values.append(self.sign * number)
        self.points[-1] = (self.points[-1][0], sum(self._values) / len(self._values))
        if source != "probe":
            self.judge()

    def step(self, row: Row) -> None:
        super().step(row)
        loss: Any = row[_LOSS]
        if not self.by_step or not isinstance(loss, float) or math.isnan(loss):
            return
        self._values.append(self.sign * loss)
        step = self.session.recorder.step
        if step - self._step >= self.base["steps"] / POINTS:
            self.points.append((step / self.base["steps"], sum(self._values) / len(self._values)))
            self._values, self._step = [], step
            self.judge()

    def judge(self) -> None:
        base = self.base
        kind = "loss" if self.by_step else "metric"
        if reenact_trials_hopeless.hopeless(self.points, base["curves"], base["target"], base["least"], kind):
            share, value = self.points[-1]
            self.end(
                f"{reenact_trials_hopeless.HOPELESS}: {base['metric']} {self.sign * value:.4g} after"
                f" {min(1.0, share):.0%} of the training"
            )


def watch(session: Session, path: str, baseline: str = "") -> None:
    """Stand guard over a session of the probe from now on."""
    from reenact_probe.late import when_imported

    guard = Beside(session, path, baseline) if baseline else Watch(session, path)
    when_imported("torch", guard.torch_arrived)


def from_environment(session: Session) -> None:
    """For a trial in a fresh interpreter."""
    path = os.environ.get(VARIABLE)
    if path and session is not None:
        watch(session, path, os.environ.get(BASELINE, ""))
