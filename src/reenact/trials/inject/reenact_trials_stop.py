"""Ends a training that has no hope left, as the rule of its trial says, and leaves a note of why."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact_probe.boot import Session
    from reenact_probe.types import Facts, Row

VARIABLE = "REENACT_TRIAL_STOP"
LOST = 20
"""Steps in a row whose loss is no number, after which nothing good comes any more."""
_LOSS = 3
"""Column of the loss in a row of a step."""


class Rule:
    """What is hopeless; `path` is where the note goes."""

    def __init__(
        self,
        path: str,
        metric: Any,
        bar: float | None,
        larger_is_better: bool,
        share: float,
        epochs: int | None,
        not_finite: bool,
    ) -> None:
        self.path = path
        self.metric = metric
        self.bar = bar
        self.sign = 1.0 if larger_is_better else -1.0
        self.share = share
        self.epochs = epochs
        """Epochs that the training will have; none until `fit` says so."""
        self.not_finite = not_finite
        self.best = -math.inf
        self.values = 0
        """Values of the metric so far: one an epoch."""
        self.lost = 0

    def value(self, name: str, value: float) -> str | None:
        """Why to stop after a value of a metric, or none."""
        if name != self.metric or self.bar is None:
            return None
        self.values += 1
        if not math.isnan(value):
            self.best = max(self.best, self.sign * value)
        if self.epochs is None or self.values < math.ceil(self.share * self.epochs):
            return None
        if self.best >= self.sign * self.bar:
            return None
        best = "no number" if math.isinf(self.best) else f"{self.sign * self.best:g}"
        return (
            f"{name} had reached {best} after {self.values} of {self.epochs} epochs, the bar was {self.bar:g}"
        )

    def step(self, loss: Any) -> str | None:
        """Why to stop after a step, or none."""
        if not isinstance(loss, float) or math.isfinite(loss):
            self.lost = 0
            return None
        self.lost += 1
        return f"the loss was no finite number for {LOST} steps" if self.lost >= LOST else None


class Watch:
    """Listens to the recorder, and to every step of torch."""

    def __init__(self, session: Session, rule: Rule) -> None:
        self.session = session
        self.rule = rule
        session.recorder.listen(self.metric, self.event)

    def metric(self, name: str, value: Any, source: str) -> None:
        number = _as_number(value)
        # A printed line may only repeat what Keras has reported; what the probe saw of batches is no epoch.
        if (
            number is not None
            and source != "probe"
            and not (source == "output" and self.session.keras_drives)
        ):
            self._end(self.rule.value(name, number))

    def event(self, kind: str, facts: Facts) -> None:
        if kind == "fit" and self.rule.epochs is None:
            self.rule.epochs = facts.get("epochs")

    def torch_arrived(self, _: Any) -> None:
        """Look at every row of a step, unless the probe stays away."""
        steps = getattr(self.session.torch, "steps", None)
        if steps is not None and self.rule.not_finite:
            steps.listen(self.step)

    def step(self, row: Row) -> None:
        why = self.rule.step(row[_LOSS])
        if why is not None:
            self.session.recorder.step += 1
            self._end(why)

    def _end(self, why: str | None) -> None:
        if why is None:
            return
        from reenact_probe import ending

        with open(self.rule.path, "w", encoding="utf-8") as file:
            file.write(why)
        ending.stop_here(self.session.recorder)


def watch(session: Session, rule: Facts) -> None:
    """Stand guard over a session of the probe from now on."""
    from reenact_probe.late import when_imported

    when_imported("torch", Watch(session, Rule(**rule)).torch_arrived)


def from_environment(session: Session) -> None:
    """For a trial in a fresh interpreter."""
    text = os.environ.get(VARIABLE)
    if text and session is not None:
        watch(session, json.loads(text))


def _as_number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        return None
