"""What the book of metrics holds: evaluations and what was reported of them, states that were kept."""

from __future__ import annotations

from dataclasses import dataclass

from reenact.types import Place


@dataclass(frozen=True, slots=True)
class BatchMeasure:
    """A sum over the rows of one evaluation, and the same by batches."""

    name: str
    total: float
    """Over all rows."""
    shares: float
    """Sum of the means of the batches."""
    last: float
    """Mean of the last batch."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A figure of one evaluation that is not a mean over its rows."""

    name: str
    """What it is: `f1, the mean over classes`."""
    whole: float
    """Over all rows."""
    by_batch: float | None
    """The mean of those of the batches."""


@dataclass(frozen=True, slots=True)
class Stream:
    """What one model was asked about in one evaluation."""

    model: str
    source: str
    """Name of the loader; empty where there was none."""
    trains: bool
    """That loader also feeds the training."""
    kind: str
    """`classes`, `binary` (labels 0 and 1), `numbers`, or `answers` that are not scores."""
    complete: bool
    """Every pass could be read."""
    batches: int
    rows: float
    """Where each element is judged: elements."""
    largest: float
    """Rows of the largest batch."""
    measures: tuple[BatchMeasure, ...]
    recalls: tuple[float, ...]
    """Of each class that occurs, the share that was found."""
    ratios: tuple[Ratio, ...]

    asked_at: int = 0
    """The line that asks, where no loader gave the rows."""

    def measure(self, name: str) -> BatchMeasure | None:
        """The one of that name."""
        for one in self.measures:
            if one.name == name:
                return one
        return None


@dataclass(frozen=True, slots=True)
class Reported:
    """A metric that the program printed or logged after an evaluation."""

    name: str
    value: float | None
    """None for what is not finite."""
    source: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class MetricEvaluation:
    """What was asked between two steps, and what was reported of it."""

    step: int
    streams: tuple[Stream, ...]
    reported: tuple[Reported, ...]


@dataclass(frozen=True, slots=True)
class KeptEpoch:
    """A line that takes out the state of a model."""

    model: str
    place: Place | None
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A state that a model was given to load."""

    model: str
    step: int
    of: int
    """The last step at which the program took out these very weights; -1 where that is not known."""
    changed: bool
    """Whether the model had other weights before."""
    place: Place | None


@dataclass(frozen=True, slots=True)
class Plateau:
    """A schedule that waits for a metric to stop changing."""

    mode: str
    place: Place | None
    given: tuple[tuple[int, float], ...]
    """Steps and values."""


@dataclass(frozen=True, slots=True)
class StretchedAnswers:
    """Each answer of a column was compared with the labels of all rows."""

    rows: int
    place: Place | None


@dataclass(frozen=True, slots=True)
class MetricsBook:
    """Of the evaluations that were read whole, and of the states that were kept."""

    evaluations: tuple[MetricEvaluation, ...] = ()
    kept: tuple[KeptEpoch, ...] = ()
    stretched: tuple[StretchedAnswers, ...] = ()
    loaded: tuple[Loaded, ...] = ()
    """The last ones."""
    written: int = -1
    """The last step at which something was saved; -1 for none."""
    plateaus: tuple[Plateau, ...] = ()
