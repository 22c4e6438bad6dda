"""A search as an Optuna study: optuna-dashboard opens it while it runs.

On disk, the journal of reenact is the truth and the study is made from it: after an interruption the same
questions are asked again in the same order, answered from the journal, and the file is written again, damaged
or not. In a database that several drivers share (setting `study_url`), what others tell counts too: there the
trials of this run are found by its id and reported again, and no other is touched.

The address of the database may hold a password. It is shown nowhere but for its kind and its host.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from reenact.errors import MissingPart, Unreachable
from reenact.program.patch import Patch
from reenact.repairs.space import Dimension, Space, Value, fitting

if TYPE_CHECKING:
    import optuna

    from reenact.repairs.search_context import Evaluation, SearchContext

FAILED = -1e9
"""What a study gets for a training that failed: it has no infinity."""
RUN = "run"
"""Attribute of a trial: whose it is."""
TRIES, PAUSE_S = 4, 0.5
"""To open a database that another driver is setting up at the same moment."""
LOCKED_S = 60
"""How long a SQLite file may be locked by others."""


@dataclass(frozen=True, slots=True)
class SharedStudy:
    """A study in a database."""

    url: str = field(repr=False)
    """A secret."""
    name: str
    owner: str
    """Id of this run, which its trials carry."""

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        return f"{self.name} in {parts.scheme.partition('+')[0]}" + (
            f" on {parts.hostname}" if parts.hostname else ""
        )

    @property
    def seed(self) -> int:
        """For the sampler: drivers that share a study must not propose the same."""
        return int.from_bytes(hashlib.sha256(self.owner.encode()).digest()[:4], "big")


@dataclass(frozen=True, slots=True)
class StudyPoint:
    """One point that the study wants to know about."""

    number: int
    patch: Patch
    trial: optuna.Trial | None
    """None for one that this run asked for before it was interrupted."""
    before: optuna.trial.FrozenTrial | None = None
    """What is known of that one."""

    @property
    def finished(self) -> bool:
        return self.before is not None and self.before.state.is_finished()


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
        self.context, self.space, self.shared = context, space, context.shared_study
        self.study = new_study(context.studies, context.options.search_name, sampler, pruner, self.shared)
        with _reaching(self.shared):
            self._again = deque(_own(self.study, self.shared))
            if from_faulty:
                start = {one.name: one.start for one in space.dimensions}
                self.study.enqueue_trial(start, skip_if_exists=self.shared is not None)

    def ask(self) -> StudyPoint:
        """The next point, as a change that can be made; first those that this run asked for before."""
        with _reaching(self.shared):
            while self._again:
                before = self._again.popleft()
                if all(one.name in before.params for one in self.space.dimensions):
                    point = {one.name: one.value_at(before.params[one.name]) for one in self.space.dimensions}
                    return StudyPoint(before.number, self._patch(point), None, before)
            trial = self.study.ask()
            if self.shared is not None:
                trial.set_user_attr(RUN, self.shared.owner)
            patch = self._patch({one.name: _suggested(trial, one) for one in self.space.dimensions})
            trial.set_user_attr("patch", str(patch))
        return StudyPoint(trial.number, patch, trial)

    def _patch(self, point: dict[str, Value]) -> Patch:
        return fitting(self.space.changes(point), self.context.applies)

    def tell(self, asked: StudyPoint, score: float) -> None:
        if not asked.finished:
            with _reaching(self.shared):
                self.study.tell(asked.number, finite(score))

    def drop(self, asked: StudyPoint) -> None:
        """It was not trained to its end."""
        import optuna

        if not asked.finished:
            with _reaching(self.shared):
                self.study.tell(asked.number, state=optuna.trial.TrialState.PRUNED)

    def should_end(self, asked: StudyPoint, score: float, rung: int) -> bool:
        """Report what a short training came to; whether the pruner says that it is enough."""
        import optuna

        if asked.before is not None:
            ended = asked.before.state is optuna.trial.TrialState.PRUNED
            return ended and rung >= max(asked.before.intermediate_values, default=0)
        assert asked.trial is not None
        with _reaching(self.shared):
            asked.trial.report(finite(score), rung)
            return asked.trial.should_prune()


def recorder_of(
    folder: Path | None, name: str, shared: SharedStudy | None = None
) -> Callable[[Evaluation], None]:
    """For strategies that ask nobody: every evaluation is written into a study, into a shared one once."""
    import optuna

    study = new_study(folder, name, None, None, shared)
    with _reaching(shared):
        known = deque(_own(study, shared))

    def write(evaluation: Evaluation) -> None:
        attributes = {
            "patch": str(evaluation.patch),
            "seeds": evaluation.seeds,
            "share": evaluation.share,
            "spent": evaluation.spent,
            **({RUN: shared.owner} if shared is not None else {}),
        }
        if known:
            known.popleft()
            return
        with _reaching(shared):
            study.add_trial(optuna.trial.create_trial(value=finite(evaluation.score), user_attrs=attributes))

    return write


def new_study(
    folder: Path | None, name: str, sampler: Any, pruner: Any, shared: SharedStudy | None = None
) -> optuna.Study:
    """A study in a new file, in memory without a folder; a shared one as it stands in its database."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    if shared is not None:
        return _joined(shared, sampler, pruner)
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


def _joined(shared: SharedStudy, sampler: Any, pruner: Any) -> optuna.Study:
    """The study of this name, made where it is not there yet; raises MissingPart and Unreachable."""
    import optuna

    waits = {"timeout": LOCKED_S} if shared.url.startswith("sqlite") else {}
    for left in reversed(range(TRIES)):
        try:
            with _reaching(shared):
                storage = optuna.storages.RDBStorage(shared.url, engine_kwargs={"connect_args": waits})
                return optuna.create_study(
                    storage=storage, sampler=sampler, pruner=pruner, study_name=shared.name,
                    direction="maximize", load_if_exists=True,
                )  # fmt: skip
        except Unreachable:
            if not left:
                raise
            time.sleep(PAUSE_S)
    raise AssertionError("not reached")


def _own(study: optuna.Study, shared: SharedStudy | None) -> list[optuna.trial.FrozenTrial]:
    """Trials that this run has asked for or written already, in order."""
    if shared is None:
        return []
    return [one for one in study.get_trials(deepcopy=False) if one.user_attrs.get(RUN) == shared.owner]


@contextmanager
def _reaching(shared: SharedStudy | None) -> Iterator[None]:
    """Errors of the database in our words; theirs may quote its address."""
    if shared is None:
        yield
        return
    from optuna.exceptions import OptunaError
    from sqlalchemy.exc import SQLAlchemyError

    advice = "`reenact config` says where study_url comes from; without it the study is a file of the run."
    try:
        yield
    except ImportError as error:
        driver = error.name or "a driver for such databases"
        sentence = f"The database of the study {shared} needs a package that is not installed: {driver}."
        raise MissingPart(sentence, next_step="Install it beside reenact.") from None
    except (SQLAlchemyError, OptunaError) as error:
        sentence = f"The database of the study {shared} cannot be used ({type(error).__name__})."
        raise Unreachable(sentence, next_step=advice) from None


def _suggested(trial: optuna.Trial, one: Dimension) -> Value:
    if one.is_range:
        return one.value_at(trial.suggest_float(one.name, one.low, one.high, log=one.logarithmic))
    return one.value_at(trial.suggest_categorical(one.name, tuple(range(len(one.values)))))


def finite(score: float) -> float:
    return score if math.isfinite(score) else FAILED
