"""Ends a training that has no hope left, as the rule of its trial says, and leaves a note of why."""

from __future__ import annotations

import json
import math
import os

VARIABLE = "REENACT_TRIAL_STOP"
LOST = 20
"""Steps in a row whose loss is no number, after which nothing good comes any more."""
_LOSS = 3
"""Column of the loss in a row of a step."""


class Rule:
    """What is hopeless; `path` is where the note goes."""

    def __init__(self, path, metric, bar, larger_is_better, share, epochs, not_finite):
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

    def value(self, name, value):
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

    def step(self, loss):
        """Why to stop after a step, or none."""
        if not isinstance(loss, float) or math.isfinite(loss):
            self.lost = 0
            return None
        self.lost += 1
        return f"the loss was no finite number for {LOST} steps" if self.lost >= LOST else None


class Watch:
    """Stands between the observers and the recorder."""

    def __init__(self, session, rule):
        self.session = session
        self.rule = rule
        recorder = session.recorder
        self._metric, self._event = recorder.metric, recorder.event
        recorder.metric, recorder.event = self.metric, self.event

    def metric(self, name, value, source, epoch=None):
        self._metric(name, value, source, epoch)
        number = _as_number(value)
        # A printed line may only repeat what Keras has told; what the probe saw of batches is no epoch.
        if (
            number is not None
            and source != "probe"
            and not (source == "output" and self.session.keras_drives)
        ):
            self._end(self.rule.value(str(name), number))

    def event(self, kind, **facts):
        if kind == "fit" and self.rule.epochs is None:
            self.rule.epochs = facts.get("epochs")
        self._event(kind, **facts)

    def torch_arrived(self, _):
        """Look at every row of a step, unless the probe stays away."""
        steps = getattr(self.session.torch, "steps", None)
        if steps is None or not self.rule.not_finite:
            return
        add, step = steps._add, self.rule.step

        def added(row):
            add(row)
            why = step(row[_LOSS])
            if why is not None:
                self.session.recorder.step += 1
                self._end(why)

        steps._add = added

    def _end(self, why):
        if why is None:
            return
        from reenact_probe import ending

        with open(self.rule.path, "w", encoding="utf-8") as file:
            file.write(why)
        ending.stop_here(self.session.recorder)


def watch(session, wishes):
    """Stand guard over a session of the probe from now on."""
    from reenact_probe.late import when_imported

    when_imported("torch", Watch(session, Rule(**wishes)).torch_arrived)


def from_environment(session):
    """For a trial in a fresh interpreter."""
    text = os.environ.get(VARIABLE)
    if text and session is not None:
        watch(session, json.loads(text))


def _as_number(value):
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        return None
