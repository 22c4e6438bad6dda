"""How good the classifiers are on trainings they have not learned from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.detector.dataset import Dataset
from benchmarks.detector.fit import CLASSIFIERS, PAPER, fitted, probabilities
from reenact.types import Progress, Tell

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Probabilities = NDArray[np.float64]

FOLDS = 5
HALF = 0.5
UNION = "union of the first three"


@dataclass(frozen=True, slots=True)
class Score:
    """Of one class."""

    precision: float
    recall: float
    f1: float
    support: int
    """Faulty trainings of the class."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Of one classifier under one way of holding out."""

    by_class: Mapping[str, Score]
    """By the code of the class."""
    detected: float
    """Share of faulty trainings for which any class is named."""
    false_alarms: float
    """Share of healthy trainings for which any class is named."""
    hit: float
    """Share of faulty trainings for which a right class is named."""

    @property
    def f1(self) -> float:
        """Mean over the classes."""
        return sum(score.f1 for score in self.by_class.values()) / max(1, len(self.by_class))


@dataclass(frozen=True)
class Report:
    """Everything measured."""

    cross_validated: Mapping[str, Scores]
    """By classifier; both seeds of a mutant are in the same fold."""
    one_program_out: Mapping[str, Scores]
    """By classifier; each base program is judged by what was learned from the others."""
    held_out: Mapping[str, Probabilities]
    """By classifier: the probabilities behind `one_program_out`."""


def measure(data: Dataset, tell: Tell) -> Report:
    """Score every classifier both ways."""
    mixed, strict, held = {}, {}, {}
    for number, name in enumerate(CLASSIFIERS):
        tell(Progress("classifiers", number, len(CLASSIFIERS), name))
        mixed[name] = _held_out(data, name, list(_folds(data)))
        held[name] = strict[name] = _held_out(data, name, list(_programs(data)))
    for by_name in (mixed, strict):
        by_name[UNION] = _union([by_name[name] for name in PAPER])
    return Report(
        {name: judge(data, probabilities >= HALF) for name, probabilities in mixed.items()},
        {name: judge(data, probabilities >= HALF) for name, probabilities in strict.items()},
        held,
    )


def judge(data: Dataset, predicted: NDArray[np.bool_]) -> Scores:
    """Compare what was predicted with the truth."""
    import numpy as np

    truth = data.y.astype(bool)
    faulty = np.asarray(truth.any(axis=1))
    by_class = {
        one.code: _score(truth[:, at], predicted[:, at]) for at, one in enumerate(data.classes)
    }
    any_predicted = np.asarray(predicted.any(axis=1))
    right = np.asarray((predicted & truth).any(axis=1))
    return Scores(
        by_class,
        detected=_mean(any_predicted[faulty]),
        false_alarms=_mean(any_predicted[data.healthy]),
        hit=_mean(right[faulty]),
    )


def _score(truth: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> Score:
    hits = int((truth & predicted).sum())
    precision = hits / int(predicted.sum()) if predicted.any() else 0.0
    recall = hits / int(truth.sum()) if truth.any() else 0.0
    both = precision + recall
    return Score(
        precision,
        recall,
        2 * precision * recall / both if both else 0.0,
        int(truth.sum()),
    )


def _mean(flags: NDArray[np.bool_]) -> float:
    return float(flags.mean()) if len(flags) else 0.0


def _folds(data: Dataset) -> Iterator[NDArray[np.bool_]]:
    import numpy as np

    order = np.random.default_rng(0).permutation(int(data.mutants.max()) + 1)
    for fold in range(FOLDS):
        yield order[data.mutants] % FOLDS == fold


def _programs(data: Dataset) -> Iterator[NDArray[np.bool_]]:
    for number in range(len(data.base_names)):
        yield data.bases == number


def _held_out(data: Dataset, name: str, parts: list[NDArray[np.bool_]]) -> Probabilities:
    import numpy as np

    found = np.zeros(data.y.shape)
    for part in parts:
        model = fitted(name, data.x[~part], data.y[~part])
        found[part] = probabilities(model, data.x[part])
    return found


def _union(probabilities: list[Probabilities]) -> Probabilities:
    import numpy as np

    most: Probabilities = np.stack(probabilities).max(axis=0)
    return most
