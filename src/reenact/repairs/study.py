"""A search as an Optuna study on disk: optuna-dashboard opens it while it runs.

The journal of reenact is the truth and the study is made from it: after an interruption the same questions
are asked again in the same order, answered from the journal, and the file is written again, damaged or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reenact.program.patch import Patch
from reenact.repairs.search_context import Evaluation, SearchContext
from reenact.repairs.space import Dimension, Space, Value, fitting

if TYPE_CHECKING:
    import optuna

FAILED = -1e9
"""What a study gets for a training that failed: it has no infinity."""


@dataclass
class StudyPoint:
    """One point that the study wants to know about."""

    trial: optuna.Trial
    patch: Patch


class Study:
    """Asks a sampler for points of a space and tells it what came of them."""

    def __init__(
        self,
        context: SearchContext,
        space: Space,
        sampler: Any,
        *,
        pruner: Any = None,
        from_faulty: bool = False,
    ) -> None:
        self.context, self.space = context, space
        self.study = new_study(context.studies, context.options.search_name, sampler, pruner)
        if from_faulty:
            self.study.enqueue_trial({one.name: one.start for one in space.dimensions})

    def ask(self) -> StudyPoint:
        """The next point, as a change that can be made."""
        trial = self.study.ask()
        point = {one.name: _suggested(trial, one) for one in self.space.dimensions}
        patch = fitting(self.space.changes(point), self.context.applies)
        trial.set_user_attr("patch", str(patch))
        return StudyPoint(trial, patch)

    def tell(self, asked: StudyPoint, score: float) -> None:
        self.study.tell(asked.trial, finite(score))

    def drop(self, asked: StudyPoint) -> None:
        """It was not trained to its end."""
        import optuna

        self.study.tell(asked.trial, state=optuna.trial.TrialState.PRUNED)


def recorder_of(folder: Path | None, name: str) -> Callable[[Evaluation], None]:
    """For strategies that ask nobody: every evaluation is written into a study."""
    import optuna

    study = new_study(folder, name, None, None)

    def write(evaluation: Evaluation) -> None:
        attributes = {
            "patch": str(evaluation.patch),
            "seeds": evaluation.seeds,
            "share": evaluation.share,
            "spent": evaluation.spent,
        }
        study.add_trial(optuna.trial.create_trial(value=finite(evaluation.score), user_attrs=attributes))

    return write


def new_study(folder: Path | None, name: str, sampler: Any, pruner: Any) -> optuna.Study:
    """A study in a new file; in memory without a folder."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{name}.study"
        for old in folder.glob(f"{name}.study*"):
            old.unlink()
        storage = JournalStorage(JournalFileBackend(str(file)))
    return optuna.create_study(
        storage=storage, sampler=sampler, pruner=pruner, study_name=name, direction="maximize"
    )


def _suggested(trial: optuna.Trial, one: Dimension) -> Value:
    if one.is_range:
        return one.value_at(trial.suggest_float(one.name, one.low, one.high, log=one.logarithmic))
    return one.value_at(trial.suggest_categorical(one.name, tuple(range(len(one.values)))))


def finite(score: float) -> float:
    return score if math.isfinite(score) else FAILED
