"""A trace: what happened in a training run, per step, layer and parameter, with metrics, events and data
facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reenact.probe.columns import Columns, Series
from reenact.probe.outcome import Crash
from reenact.program.graph import ModelGraph, TensorFacts
from reenact.types import JsonValue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TRAINING, EVALUATION = 0, 1
"""Values of the column `phase` of the table of layers."""


@dataclass(frozen=True, slots=True)
class Header:
    """Where a trace comes from."""

    source: str
    """`probe`, or the kind of log it was read from."""
    started: float = 0.0
    """Unix time."""
    argv: tuple[str, ...] = ()
    cwd: str = ""
    python: str = ""
    preset: str = ""
    seed: int | None = None
    frameworks: Mapping[str, str] = field(default_factory=dict)
    """Version by name."""


@dataclass(frozen=True, slots=True)
class ParameterFacts:
    """A parameter tensor; its number is its place in `Trace.parameter_facts`."""

    name: str
    shape: tuple[int, ...]
    trainable: bool
    in_optimizer: bool


@dataclass(frozen=True, slots=True)
class Metric:
    """One value of one metric."""

    name: str
    """Keras names: `loss`, `accuracy`, `val_loss`, `test_accuracy`."""
    value: float
    step: int
    """Optimizer steps done when it was seen."""
    epoch: int
    """Epoch it belongs to, from 0; -1 when not known."""
    time: float
    source: str
    """`keras`, `lightning`, `torchmetrics`, `user`, `pattern`, `output` (read off a line), `probe` (a few
    batches).
    """


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened once: an evaluation, a data loader, an epoch, a mode."""

    kind: str
    step: int
    epoch: int
    time: float
    facts: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Overlap:
    """Rows that a split shares with the training data, among the rows that were looked at."""

    split: str
    rows: int
    shared: int

    @property
    def share(self) -> float:
        return self.shared / self.rows if self.rows else 0.0


@dataclass(frozen=True, slots=True)
class Trace:
    """What happened. Every detector can run on this alone."""

    header: Header
    steps: Columns
    """One row a step of an optimizer; columns in `reenact_probe.tables`."""
    layers: Columns
    """One row a layer and sampled forward pass."""
    parameters: Columns
    """One row a parameter tensor and sampled step."""
    layer_names: tuple[str, ...]
    parameter_facts: tuple[ParameterFacts, ...]
    metrics: tuple[Metric, ...]
    events: tuple[Event, ...]
    graph: ModelGraph | None
    data: tuple[TensorFacts, ...]
    overlaps: tuple[Overlap, ...]
    crash: Crash | None
    complete: bool
    """False when the program was killed: the last seconds may be missing."""
    seconds: float
    probe_seconds: float
    """What the probe itself took of them."""
    missing: tuple[str, ...]
    """Facts this trace cannot hold, each named in a sentence."""

    @property
    def step_count(self) -> int:
        return len(self.steps)

    @property
    def losses(self) -> Series:
        """The loss of every step."""
        return self.steps.series("loss")

    @property
    def sampled_steps(self) -> NDArray[np.int64]:
        """Steps that were looked at closely."""
        import numpy as np

        return self.steps.where(sampled=1)["step"].astype(np.int64)

    @property
    def epoch_count(self) -> int | None:
        """Epochs begun, or none when there is no sign of them. A log by epoch has metrics and no steps."""
        known = self.steps["epoch"]
        if len(known) and known.max() >= 0:
            return int(known.max()) + 1
        last = max((metric.epoch for metric in self.metrics), default=-1)
        return last + 1 if last >= 0 else None

    def layer(self, name: str, column: str, phase: int = TRAINING) -> Series:
        """One statistic of a layer's output over the sampled steps."""
        if name not in self.layer_names:
            return self.layers.where(layer=-1).series(column)
        return self.layers.where(layer=self.layer_names.index(name), phase=phase).series(column)

    def parameter(self, name: str, column: str) -> Series:
        """One statistic of a parameter tensor over the sampled steps."""
        number = next((i for i, facts in enumerate(self.parameter_facts) if facts.name == name), -1)
        return self.parameters.where(parameter=number).series(column)

    def metric(self, name: str, source: str | None = None) -> Series:
        """A metric over the steps; from the best source when several tell of it and none is named."""
        import numpy as np

        found = [metric for metric in self.metrics if metric.name == name]
        wanted = source or next((s for s in _SOURCES if any(metric.source == s for metric in found)), None)
        found = [metric for metric in found if metric.source == wanted]
        steps = np.array([metric.step for metric in found], dtype=np.int64)
        return Series(steps, np.array([metric.value for metric in found], dtype=np.float64))

    def metric_names(self) -> tuple[str, ...]:
        """Every metric there is, in the order of appearance."""
        return tuple(dict.fromkeys(metric.name for metric in self.metrics))

    def happened(self, kind: str) -> tuple[Event, ...]:
        """The events of one kind, in order."""
        return tuple(event for event in self.events if event.kind == kind)


_SOURCES = ("user", "keras", "lightning", "transformers", "torchmetrics", "pattern", "log", "output", "probe")
"""From the most to the least trusted."""
