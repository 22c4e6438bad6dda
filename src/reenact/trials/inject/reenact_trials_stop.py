"""Ends a training whose loss is lost, or that is hopeless, and leaves a note of why.

The rule: a training cannot become better than the unchanged program any more. It looks at one
metric on the way, larger is better, against the curves of the unchanged program over its seeds.
A training is hopeless when it could not reach what it must even if it went on to gain several times
as fast as it did of late, and it is clearly behind the worst of them at the same share of the
training; late in the training the first suffices. `python -m benchmarks curves` replays it on whole
curves; its constants were chosen there.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact_probe.boot import Session
    from reenact_probe.types import Row

VARIABLE, BASELINE = "REENACT_TRIAL_STOP", "REENACT_TRIAL_BASELINE"
"""Paths of the note, and of what a training is compared with."""
LOST = 20
"""Steps in a row whose loss is not a number, after which nothing good comes any more."""
POINTS = 50
"""Of the loss of the steps over a whole training: each is the mean of what came since the last."""
_LOSS = 3
"""Column of the loss in a row of a step."""

Curve = Sequence[Sequence[float]]
"""Shares of the training, from 0 to 1, and values."""

HOPELESS = "hopeless compared with the unchanged program"
"""How the note of a training begins that was ended so."""
EARLIEST = {"metric": 0.3, "loss": 0.5}
"""Share of a training before which nothing is ended."""
BEHIND = {"metric": 0.25, "loss": 0.5}
"""Share of all that the unchanged program gains in its training by which one must be after."""
LATE = {"metric": 0.6, "loss": 2.0}
"""Share from which on it need not be after; a loss alone never suffices."""
FASTER = 3.0
"""Times as fast as of late that it may gain in the rest."""
REPORTS = 3
"""Values that must be known; the best of so many last ones counts."""
NEAR = 0.1
"""Share of a training within which values count as being at the same place."""


def hopeless(
    points: Curve,
    base: Sequence[Curve],
    target: float,
    least: float,
    kind: str,
    **constants: float,
) -> bool:
    """Whether a training with these points so far is: `base` are the curves of the program as it
    is, `target` is what it must reach to be better, `least` the smallest difference that
    matters.
    """
    own = {
        "earliest": EARLIEST[kind],
        "behind": BEHIND[kind],
        "late": LATE[kind],
        "faster": FASTER,
    }
    rule = {**own, **constants}
    if len(points) < REPORTS or points[-1][0] < rule["earliest"] or not base:
        return False
    share = min(1.0, points[-1][0])
    reached = max(value for _, value in points[-REPORTS:])
    early = max([value for at, value in points if at <= share / 2] or [points[0][1]])
    pace = max(0.0, reached - early) / (share / 2)
    if reached + rule["faster"] * pace * (1 - share) >= target:
        return False
    worst = min(_around(curve, share) for curve in base)
    values = [value for curve in base for _, value in curve]
    margin = max(rule["behind"] * (max(values) - min(values)), least)
    return share >= rule["late"] or reached < worst - margin


def _around(curve: Curve, share: float) -> float:
    """The worst value near this share: curves go up and down."""
    before = [value for at, value in curve if at <= share] or [curve[0][1]]
    return min(
        [
            *(value for at, value in curve if abs(at - share) <= NEAR),
            before[-1],
        ]
    )


class Watch:
    """Listens to every step of torch. With a baseline it also compares one metric, or the loss of
    the steps, with the curves of the unchanged program.
    """

    def __init__(self, session: Session, path: str, baseline: str) -> None:
        self.session = session
        self.path = path
        self.lost = 0
        self.base: dict[str, Any] = {}
        if baseline:
            with open(baseline, encoding="utf-8") as file:
                self.base = json.load(file)
        self.by_step = self.base.get("metric") == "step_loss"
        self.sign = 1 if self.base.get("larger") else -1
        self.points: list[tuple[float, float]] = []
        self._values: list[float] = []
        self._step = -1
        if self.base and not self.by_step:
            session.recorder.on_metric.append(self.metric)

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
        if not self.by_step or not isinstance(loss, float) or math.isnan(loss):
            return
        self._values.append(self.sign * loss)
        step = self.session.recorder.step
        if step - self._step >= self.base["steps"] / POINTS:
            self.points.append(
                (
                    step / self.base["steps"],
                    sum(self._values) / len(self._values),
                )
            )
            self._values = []
            self._step = step
            self.judge()

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
            self._values = []
            self._step = step
            if source == "probe":
                self.judge()
            self.points.append((step / base["steps"], 0.0))
        self._values.append(self.sign * number)
        self.points[-1] = (
            self.points[-1][0],
            sum(self._values) / len(self._values),
        )
        if source != "probe":
            self.judge()

    def judge(self) -> None:
        base = self.base
        kind = "loss" if self.by_step else "metric"
        if hopeless(
            self.points,
            base["curves"],
            base["target"],
            base["least"],
            kind,
        ):
            share, value = self.points[-1]
            reached = f"{base['metric']} {self.sign * value:.4g}"
            self.end(f"{HOPELESS}: {reached} after {min(1.0, share):.0%} of the training")

    def end(self, why: str) -> None:
        from reenact_probe import ending

        with open(self.path, "w", encoding="utf-8") as file:
            file.write(why)
        ending.stop_here(self.session.recorder)


def watch(session: Session | None) -> None:
    """Stand guard over a session of the probe from now on, where the trial is one that may be
    given up.
    """
    from reenact_probe.late import when_imported

    path = os.environ.get(VARIABLE)
    if path and session is not None:
        when_imported(
            "torch",
            Watch(session, path, os.environ.get(BASELINE, "")).torch_arrived,
        )
