"""Which number judges a training. It is chosen once, from the unpatched program, and never changes
with a patch: a different loss does not make a better loss.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from reenact.errors import InputError
from reenact.probe.trace import Trace
from reenact.program.graph import TaskType
from reenact.trials.trial import Outcome

STEP_LOSS = "step_loss"
"""The mean training loss of the last steps, which is there where nothing was logged."""
LOSS_FALL = "loss_fall"
"""By how much of its first value the training loss fell: it moves where the metric is stuck."""
SEEN_ACCURACY = "train_accuracy"
"""Share of right guesses in the last batches that trained, where nothing was logged at all."""
BATCHES = "batches"
"""The source of what the probe computes from outputs and labels of batches."""
LAST_BATCHES = 20
"""Batches at the end over which it is taken."""
SCORES = (
    "accuracy",
    "acc",
    "binary_accuracy",
    "balanced_accuracy",
    "f1",
    "f1_score",
    "auc",
    "map",
    "mrr",
    "bleu",
    "precision",
    "recall",
)
"""Of a classification, larger is better, the more telling first."""
ONE_OF_MANY = ("accuracy", "acc")
"""Says nothing where several classes hold at once: Keras compares the largest output with one
of them.
"""
ERRORS = (
    "mae",
    "mean_absolute_error",
    "rmse",
    "root_mean_squared_error",
    "mse",
    "mean_squared_error",
    "r2",
    "r2_score",
    "mape",
    "mean_absolute_percentage_error",
)
"""Of a regression."""
RATES = ("error", "perplexity", "ppl")
"""Of either, smaller is better."""
LOSSES = ("loss", STEP_LOSS)
HELD_OUT = ("test_", "val_", "")
"""Data that was not trained on comes first; a name without a prefix may be either."""

LEARNS = 0.1
"""Fall of the training loss below which nothing is learned, so that no metric can tell changes
apart.
"""
MATERIAL = 0.05
"""Share of what is left to gain that an improvement must bring to matter."""

_LARGER = frozenset((*SCORES, "r2", "r2_score"))
_SEEN = "train_"


@dataclass(frozen=True, slots=True)
class Measure:
    """The metric that judges."""

    name: str
    source: str | None = None
    """Where it is read; none takes whatever reports it."""
    larger_is_better: bool = True
    is_loss: bool = False
    """It is the loss itself: no comparison between trainings that minimise different losses."""

    @property
    def is_of_batches(self) -> bool:
        """Whether the program logs nothing, so that trainings have to be watched closely."""
        return self.source == BATCHES

    def read(self, outcome: Outcome) -> float | None:
        """The metric of a training; none when it logged none, or NaN."""
        value = outcome.metrics.get(self.name)
        other = self.source is not None and outcome.sources.get(self.name) != self.source
        return None if value is None or other or math.isnan(value) else value

    def score(self, outcome: Outcome) -> float:
        """The same so that larger is better; -inf for a training that failed, was given up or
        logged no number. Of a pruned one it is what it had reached: not better than the program as
        it is.
        """
        ended = outcome.stopped and not outcome.pruned
        value = self.read(outcome) if outcome.trained and not ended else None
        if value is None or not math.isfinite(value):
            return -math.inf
        return value if self.larger_is_better else -value


LEARNING = Measure(LOSS_FALL)
"""Whether a training learns at all, whatever its loss is."""


def choose_measure(
    seen: Trace | Outcome, task: TaskType | None = None, wanted: str | None = None
) -> Measure:
    """The user's own metric, else the one on held-out data that fits the task; a loss when nothing
    else is there.

    Raises InputError when the wanted one was not seen, or none was.
    """
    sources = seen.sources if isinstance(seen, Outcome) else metric_sources(seen)
    if wanted is not None and wanted not in sources:
        there = ", ".join(sorted(sources)) or "none"
        raise InputError(
            f"The training logs no metric of this name; it logs {there}. Received: {wanted}."
        )
    name = wanted or next(
        _in_order(sources, task or TaskType.UNKNOWN),
        None,
    )
    if name is None:
        fix = "Let it print one (`test accuracy: 0.93`), or give a pattern that finds it."
        raise InputError("No metric was found to judge this training by.", next_step=fix)
    kind = kind_of(name)
    return Measure(
        name,
        sources[name],
        kind in _LARGER,
        kind in LOSSES,
    )


def _in_order(there: Collection[str], task: TaskType) -> Iterator[str]:
    """Every metric that can judge, the best first."""
    for kinds in _kinds(task):
        for prefix in (*HELD_OUT, _SEEN):
            fitting = [
                name for name in there if prefix_of(name) == prefix and kind_of(name) in kinds
            ]
            yield from sorted(
                fitting,
                key=lambda name: (
                    kinds.index(kind_of(name)),
                    len(name),
                    name,
                ),
            )


def _kinds(task: TaskType) -> Sequence[Sequence[str]]:
    """Groups of kinds, in order. Accuracy says nothing of a regression, and little of several
    labels at once: there even the loss comes first.
    """
    if task is TaskType.REGRESSION:
        return ((*ERRORS, *RATES), LOSSES, SCORES)
    if task is TaskType.MULTI_LABEL:
        whole = tuple(kind for kind in SCORES if kind not in ONE_OF_MANY)
        return ((*whole, *RATES), ERRORS, LOSSES, ONE_OF_MANY)
    return ((*SCORES, *RATES), ERRORS, LOSSES)


def prefix_of(name: str) -> str:
    """Of which data a metric is, by its name: `val_`, `test_`, `train_`, or nothing."""
    return next(
        (prefix for prefix in ("test_", "val_", _SEEN) if name.startswith(prefix)),
        "",
    )


def kind_of(name: str) -> str:
    """`val_out_accuracy` is of the kind accuracy; a name no one knows is its own kind."""
    bare = name.removeprefix(prefix_of(name)).lower()
    known = (*SCORES, *ERRORS, *RATES, *LOSSES)
    return max(
        (kind for kind in known if bare == kind or bare.endswith(f"_{kind}")),
        key=len,
        default=bare,
    )


def metric_sources(trace: Trace) -> dict[str, str]:
    """Every metric of a trace and where its values come from."""

    def source(name: str) -> str:
        """The source that `Trace.metric` takes: the one whose values it gives."""
        best = trace.metric(name).values.tobytes()
        sources = dict.fromkeys(metric.source for metric in trace.metrics if metric.name == name)
        return next(one for one in sources if trace.metric(name, one).values.tobytes() == best)

    found = {name: source(name) for name in trace.metric_names()}
    if not found and seen_accuracy(trace) is not None:
        found[SEEN_ACCURACY] = BATCHES
    return found | ({STEP_LOSS: "probe"} if len(trace.losses.known) else {})


def seen_accuracy(trace: Trace) -> float | None:
    """Accuracy in the last batches that trained, as the probe saw it; none where it means nothing, or
    the probe did not look closely enough.
    """
    if not len(trace.steps):
        return None
    known = [float(value) for value in trace.steps["accuracy"] if math.isfinite(value)]
    last = known[-LAST_BATCHES:]
    return sum(last) / len(last) if last else None


def least_gain(before: float, *, bounded: bool, share: float = MATERIAL) -> float:
    """The smallest improvement on this that matters."""
    left = 1 - before if bounded else abs(before)
    return max(share * left, 0.01 if bounded else 1e-9)
