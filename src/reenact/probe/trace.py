"""A trace: what happened in a training run, per step, layer and parameter, with metrics, events and
data facts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from reenact.probe.books import Books
from reenact.probe.crash import Crash
from reenact.program.graph import ModelGraph, TensorFacts
from reenact.types import JsonValue, Place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TRAINING, EVALUATION = 0, 1
"""Values of the column `phase` of the table of layers."""
SPLITS = {
    "train": "",
    "training": "",
    "trainer": "",
    "val": "val_",
    "valid": "val_",
    "validation": "val_",
    "validate": "val_",
    "dev": "val_",
    "eval": "val_",
    "evaluation": "val_",
    "test": "test_",
    "testing": "test_",
}
"""Prefix of a metric, by the word that names the split."""
_LEVELS = frozenset({"epoch", "step", "batch", "iteration"})
_SAME = {
    "acc": "accuracy",
    "lr": "learning_rate",
    "top1": "accuracy",
}
_SILENT = frozenset({"metric", "metrics"})
_BREAKS = re.compile(r"[/_\-. :]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Series:
    """Values over steps, in the order of the steps."""

    steps: NDArray[np.int64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def known(self) -> Series:
        """Without the steps whose value is not known."""
        import numpy as np

        keep = ~np.isnan(self.values)
        return Series(self.steps[keep], self.values[keep])


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows of numbers. A column that an older or other writer does not know reads as NaN."""

    columns: tuple[str, ...]
    rows: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> NDArray[np.float64]:
        if column in self.columns:
            return self.rows[:, self.columns.index(column)]
        import numpy as np

        return np.full(len(self.rows), np.nan)

    def where(self, **equal: float) -> Columns:
        """The rows in which each named column has the given value."""
        import numpy as np

        keep = np.ones(len(self.rows), dtype=bool)
        for column, value in equal.items():
            keep &= self[column] == value
        return Columns(self.columns, self.rows[keep])

    def series(self, column: str) -> Series:
        """One column over the steps."""
        import numpy as np

        return Series(
            self["step"].astype(np.int64),
            self[column],
        )


def no_rows(columns: tuple[str, ...]) -> Columns:
    """A table with these columns and no row."""
    import numpy as np

    return Columns(
        columns,
        np.empty((0, len(columns))),
    )


@dataclass(frozen=True, slots=True)
class Root:
    """Where places count from: a program's folder, and files that ran under another name (a
    notebook).
    """

    folder: Path
    renamed: Mapping[str, PurePosixPath] = field(default_factory=dict)
    seen_as: str = ""
    """Where the program itself saw the folder, when it ran in a box."""

    def name(self, file: str) -> PurePosixPath:
        """The name a reader knows a file by."""
        if file in self.renamed:
            return self.renamed[file]
        path = Path(file)
        for folder in (
            self.seen_as,
            str(self.folder),
            str(self.folder.resolve()),
        ):
            if folder and path.is_relative_to(folder):
                return PurePosixPath(path.relative_to(folder))
        return PurePosixPath(path)


@dataclass(frozen=True, slots=True)
class ParameterFacts:
    """A parameter tensor; its number is its place in `Trace.parameter_facts`."""

    name: str
    shape: tuple[int, ...]
    trainable: bool
    in_optimizer: bool
    graded: bool = False
    """A gradient came to it while no optimizer had it."""


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
    """`keras`, `lightning`, `torchmetrics`, `user`, `pattern`, `output` (read off a line),
    `progress` (off a progress bar), `probe` (a few batches).
    """


def metric_name(logged: str) -> str:
    """The metric behind a logged name: `Loss/train`, `train_loss_step` and `epoch_loss` are all
    `loss`.
    """
    words = [word for word in _BREAKS.split(_HUMP.sub("_", logged).lower()) if word]
    prefix, kept = "", []
    for word in words:
        if word in SPLITS:
            prefix = SPLITS[word] or prefix
        elif word not in _SILENT and (word not in _LEVELS or len(words) == 1):
            kept.append(_SAME.get(word, word))
    name = "_".join(kept)
    if kept[:1] == ["learning_rate"] or name == "learning_rate":
        # The rate belongs to no split; a library adds the name of the optimizer (`lr-Adam`).
        return "learning_rate"
    return prefix + name if name else logged


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened once: an evaluation, a data loader, an epoch, a mode."""

    kind: str
    step: int
    epoch: int
    time: float
    facts: Mapping[str, JsonValue]
    place: Place | None = None
    """Where in the program it happened, where that is known."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Rows that a split shares with the training data, among the rows that were looked at."""

    split: str
    rows: int
    shared: int
    complete: bool = False
    """Whether all training rows were known: only then a part of them among others was held out,
    and leaks.
    """

    @property
    def share(self) -> float:
        return self.shared / self.rows if self.rows else 0.0


@dataclass(frozen=True, slots=True)
class Trace:
    """What happened. Every detector can run on this alone."""

    steps: Columns
    """One row a step of an optimizer; columns in `reenact_probe.folder`."""
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
    stand_in_data: tuple[str, ...] = ()
    """Data sets that the program got made-up data for."""
    books: Books | None = None
    """What came in and what was spent; none where no books were kept."""

    @property
    def step_count(self) -> int:
        return len(self.steps)

    @property
    def losses(self) -> Series:
        """The loss of every step."""
        return self.steps.series("loss")

    @property
    def epoch_count(self) -> int | None:
        """Epochs begun, or none when there is no sign of them."""
        known = self.steps["epoch"]
        if len(known) and known.max() >= 0:
            return int(known.max()) + 1
        return None

    def layer(self, name: str, column: str, phase: int = TRAINING) -> Series:
        """One statistic of a layer's output over the sampled steps."""
        number = self.layer_names.index(name) if name in self.layer_names else -1
        return self.layers.where(layer=number, phase=phase).series(column)

    def parameter(self, name: str, column: str) -> Series:
        """One statistic of a parameter tensor over the sampled steps."""
        number = next(
            (i for i, facts in enumerate(self.parameter_facts) if facts.name == name),
            -1,
        )
        return self.parameters.where(parameter=number).series(column)

    def metric(self, name: str, source: str | None = None) -> Series:
        """A metric over the steps; from the best source when several tell of it and none is
        named.
        """
        import numpy as np

        known = [metric for metric in self.metrics if metric.name == name]
        known = known or [metric for metric in self.metrics if metric_name(metric.name) == name]
        wanted = source or next(
            (s for s in _SOURCES if any(metric.source == s for metric in known)), None
        )
        rows = [(metric.step, metric.value) for metric in known if metric.source == wanted]
        steps, values = zip(*rows, strict=True) if rows else ((), ())
        return Series(
            np.array(steps, dtype=np.int64),
            np.array(values, dtype=np.float64),
        )

    def metric_names(self) -> tuple[str, ...]:
        """Every metric there is, in the order of appearance."""
        return tuple(dict.fromkeys(metric.name for metric in self.metrics))

    def happened(self, kind: str) -> tuple[Event, ...]:
        """The events of one kind, in order."""
        return tuple(event for event in self.events if event.kind == kind)


_SOURCES = (
    "user",
    "keras",
    "lightning",
    "torchmetrics",
    "pattern",
    "output",
    "progress",
    "probe",
)
"""From the most to the least trusted."""


@dataclass(frozen=True, slots=True)
class OneBatch:
    """Training on the first batch over and over with Adam."""

    steps: int
    losses: tuple[float, ...]
    """Loss before each step."""
    accuracy: float | None
    """On that batch at the end; none for a regression."""
    zeroed_losses: tuple[float, ...] = ()
    """The same with inputs set to zero; empty where inputs and labels cannot be distinguished."""


@dataclass(frozen=True, slots=True)
class LearningRateRange:
    """A few steps at each of many growing learning rates, from the first weights on with the
    program's own optimizer (after Smith 2017).
    """

    rates: tuple[float, ...]
    losses: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class OwnRate:
    """Some dozens of steps on the first batch with the program's own optimizer, losses before
    each step.
    """

    rate: float
    own: tuple[float, ...]
    lower: tuple[float, ...]
    """At a tenth of the rate."""
    warmed: tuple[float, ...]
    """With the rate growing from nothing over the first half."""


@dataclass(frozen=True, slots=True)
class Mover:
    """The first module whose output moved when it should not have."""

    module: str
    """Its path in the model; empty for the model itself."""
    type: str
    forward: Place | None
    """The program's own `forward` that computes it or calls it, from its first to its last line."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a model did in evaluation mode with inputs that were changed on purpose. Movements are
    the largest change as a share of the spread of the output; none where there was no such test.
    """

    model: str
    at_end: bool = False
    """With the weights of the end of the training; else with those before its first step."""
    noise: float | None = None
    """With the same inputs and another random seed."""
    shift: int | None = None
    """How many places on the target of a token is: 1 for the next token, 0 where an input next to
    the first is the target itself; none where it is not such a target.
    """
    leak: float | None = None
    """Scores of earlier tokens, when later ones change."""
    leak_at: Mover | None = None
    mixing: float | None = None
    """The output of one row, when the other rows change."""
    mixing_at: Mover | None = None
    padding: float | None = None
    """When padding at the end of rows is cut off."""
    padding_added: float | None = None
    """The scores of a decoder, when padding is added to the rows that it reads from."""
    mask_blind: bool | None = None
    """Whether a mask next to padded tokens is the same at padding as at tokens; none without
    such a mask.
    """
    ignored_inputs: tuple[str, ...] = ()
    """Arguments, of several, whose rows can be exchanged while all outputs stay: at the end; before
    the first step, with weights that were moved a little.
    """
    order_blind: bool | None = None
    """Whether a model that attends answers the same when the places of a sequence are exchanged."""
    missing: str = ""

    @property
    def when(self) -> str:
        """What a sentence on it ends with."""
        return " after the training" if self.at_end else ""


@dataclass(frozen=True, slots=True)
class Stretched:
    """A difference or product, in a loss written by hand, of each output with the labels of all
    rows.
    """

    output: tuple[int, ...]
    target: tuple[int, ...]
    """Shapes: one is (rows, 1), the other (rows,)."""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class PaddingCounted:
    """Targets of a loss of classes that are padding, in the first batch."""

    value: int
    """What the program fills rows up with."""
    share: float
    loss: float
    without: float
    """The same loss computed again without them."""


@dataclass(frozen=True, slots=True)
class LossByMode:
    """The loss of the first batch with the weights of the end, with batch normalization as in
    either mode.
    """

    training: float
    evaluation: float


@dataclass(frozen=True, slots=True)
class PermutedLabels:
    """The loss of the first batch with the weights of the end, and with labels that belong to
    other rows.
    """

    rows: int
    loss: float
    permuted: tuple[float, ...]
    """With one permutation of the labels each."""

    @property
    def fit_as_well(self) -> bool:
        """Whether the labels of other rows fit as well as a row's own, within their spread."""
        usual = fmean(self.permuted)
        spread = pstdev(self.permuted)
        return math.isfinite(usual) and self.loss >= usual - max(0.5 * spread, 1e-6 * abs(usual))


@dataclass(frozen=True, slots=True)
class LossTerm:
    """A part of a loss that is added to others."""

    value: float | None
    """Before its factor; none where it is not a single number."""
    factor: float | None
    """The constant that it is multiplied by."""
    reduction: str
    """`mean`, `sum` or several, from the outside in; empty where it is neither."""
    elements: int
    """Numbers that it is reduced from."""
    weight: float | None
    """The factor of each of these."""
    reaches: int
    """Tensors of the optimizer to which it gives a gradient."""
    gradient: float | None
    """Norm of its own gradient over all weights of the optimizer."""
    on_shared: float | None
    """The same over the weights that other terms reach as well."""
    alike: int = 1
    """Parts of one form that it is the sum of, as of micro-batches; its value is their mean."""

    def reductions_differ(self, other: LossTerm) -> bool:
        """Whether one is summed over what the other is averaged over."""
        return bool(self.reduction and other.reduction) and self.reduction != other.reduction


@dataclass(frozen=True, slots=True)
class LossTerms:
    """The terms that the loss of the first batch is made of."""

    when: str
    """With which weights: `start` (before the first step), `one batch` (after a short training on
    the first batch) or `end` (of the training).
    """
    shared: int
    """Tensors that several terms reach."""
    weights: int
    terms: tuple[LossTerm, ...]
    place: Place | None = None
    """The line that adds them."""

    @property
    def largest(self) -> LossTerm:
        """The term that gives most of the gradient of what several terms reach."""
        return max(self.terms, key=self.share)

    def share(self, term: LossTerm) -> float:
        """Of the gradient of what several terms reach."""
        whole = sum((one.on_shared or 0.0) for one in self.terms)
        return (term.on_shared or 0.0) / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class Experiments:
    """What was tried; none where it was not, or could not be."""

    one_batch: OneBatch | None = None
    learning_rates: LearningRateRange | None = None
    own_rate: OwnRate | None = None
    behaviour: tuple[Behaviour, ...] = ()
    """One a model that was called, before the first step and, where it could be done, at the
    end.
    """
    permuted: PermutedLabels | None = None
    modes: LossByMode | None = None
    terms: tuple[LossTerms, ...] = ()
    """Before the first step and, where it could be done, later."""
    stretched: Stretched | None = None
    padding_counted: PaddingCounted | None = None
    non_finite_at: Place | None = None
    """The line that first made an infinite number, or none, of finite ones."""
    missing: tuple[str, ...] = ()
    """Why an experiment could not be done, each in a sentence."""
    unchecked: tuple[str, ...] = ()
    """What was not tried, or not to its end, for want of time."""

    def moving(self, name: str, most: float) -> tuple[Behaviour, ...]:
        """Models of which this moved by more, before the first step; where none did, those at
        the end.
        """
        moved = [tested for tested in self.behaviour if (getattr(tested, name) or 0.0) > most]
        return tuple(tested for tested in moved if not tested.at_end) or tuple(moved)
