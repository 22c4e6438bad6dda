"""A search as an Optuna study: optuna-dashboard opens it while it runs.

On disk, the journal of reenact is the truth and the study is made from it: after an interruption
the same questions are asked again in the same order, answered from the journal, and the file is
written again, damaged or not. In a database that several drivers share (setting `study_url`), what
others tell counts too: there the trials of this run are found by its id and reported again, and no
other is touched.

The address of the database may hold a password. It is shown nowhere but for its kind and its host.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reenact.errors import MissingPart, Unreachable
from reenact.program.patch import Patch
from reenact.repairs.search_context import Evaluation, SearchContext
from reenact.repairs.shared_study import SharedStudy
from reenact.repairs.space import patch_at, space_of

if TYPE_CHECKING:
    import optuna

FAILED = -1e9
"""What a study gets for a training that failed: it has no infinity."""
RUN = "run"
"""Attribute of a trial: whose it is."""
TRIES, PAUSE_S = 4, 0.5
"""To open a database that another driver is setting up at the same moment."""
LOCKED_S = 60
"""How long a SQLite file may be locked by others."""


@dataclass(frozen=True, slots=True)
class StudyPoint:
    """One point that the study wants to know about."""

    number: int
    patch: Patch
    trial: optuna.Trial | None
    """None for one that this run asked for before it was interrupted."""
    before: optuna.trial.FrozenTrial | None = None
    """What is known of that one."""


class Study:
    """Asks a sampler for points of a space and says it what came of them."""

    def __init__(
        self,
        context: SearchContext,
        sampler: Any,
        pruner: Any = None,
    ) -> None:
        """One that a pruner ends early begins with the faulty configuration."""
        options = context.options
        self.context = context
        self.shared = context.shared_study
        self.space = space_of(context.hyperparameters, options.space, options.chance)
        how = {"sampler": sampler, "pruner": pruner}
        self.study = new_study(
            context.studies,
            options.search_name,
            self.shared,
            **how,
        )
        with _reaching(self.shared):
            self._again = deque(_own(self.study, self.shared))
            if pruner is not None:
                start = {one.name: one.start for one in self.space}
                self.study.enqueue_trial(start, skip_if_exists=self.shared is not None)

    def ask(self) -> StudyPoint:
        """The next point, as a change that can be made; first those that this run asked for
        before.
        """
        with _reaching(self.shared):
            while self._again:
                before = self._again.popleft()
                if all(one.name in before.params for one in self.space):
                    return StudyPoint(
                        before.number,
                        self._patch(before.params),
                        None,
                        before,
                    )
            trial = self.study.ask()
            if self.shared is not None:
                trial.set_user_attr(RUN, self.shared.owner)
            drawn = {
                one.name: trial.suggest_float(
                    one.name,
                    one.low,
                    one.high,
                    log=one.logarithmic,
                )
                if one.is_range
                else trial.suggest_categorical(
                    one.name,
                    tuple(range(len(one.values))),
                )
                for one in self.space
            }
            patch = self._patch(drawn)
            trial.set_user_attr("patch", str(patch))
        return StudyPoint(trial.number, patch, trial)

    def _patch(self, drawn: dict[str, Any]) -> Patch:
        point = {one.name: one.value_at(drawn[one.name]) for one in self.space}
        return patch_at(self.space, point, self.context.applies)

    def tell(self, asked: StudyPoint, score: float | None) -> None:
        """What came of a point; no score: it was not trained to its end."""
        import optuna

        pruned = optuna.trial.TrialState.PRUNED if score is None else None
        if asked.before is None or not asked.before.state.is_finished():
            with _reaching(self.shared):
                self.study.tell(
                    asked.number,
                    None if score is None else finite(score),
                    pruned,
                )

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
    folder: Path | None, name: str, shared: SharedStudy | None
) -> Callable[[Evaluation], None]:
    """For strategies that ask no one: every evaluation is written into a study, into a shared
    one once.
    """
    import optuna

    study = new_study(folder, name, shared)
    with _reaching(shared):
        known = deque(_own(study, shared))

    def write(one: Evaluation) -> None:
        if known:
            known.popleft()
            return
        attributes = {
            "patch": str(one.patch),
            "seeds": one.seeds,
            "share": one.share,
            "spent": one.spent,
        }
        attributes |= {RUN: shared.owner} if shared is not None else {}
        with _reaching(shared):
            study.add_trial(
                optuna.trial.create_trial(value=finite(one.score), user_attrs=attributes)
            )

    return write


def new_study(
    folder: Path | None,
    name: str,
    shared: SharedStudy | None,
    **how: Any,
) -> optuna.Study:
    """A study in a new file, in memory without a folder; a shared one as it is in its database,
    made where it is not there yet. Raises MissingPart and Unreachable.
    """
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    how["direction"] = "maximize"
    tries = TRIES
    while shared is not None and tries:
        tries -= 1
        waits = {"timeout": LOCKED_S} if shared.url.startswith("sqlite") else {}
        try:
            with _reaching(shared):
                database = optuna.storages.RDBStorage(
                    shared.url, engine_kwargs={"connect_args": waits}
                )
                how |= {"storage": database, "load_if_exists": True}
                return optuna.create_study(study_name=shared.name, **how)
        except Unreachable:
            if not tries:
                raise
            time.sleep(PAUSE_S)
    storage = None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob(f"{name}.study*"):
            old.unlink()
        storage = JournalStorage(JournalFileBackend(str(folder / f"{name}.study")))
    return optuna.create_study(storage=storage, study_name=name, **how)


def _own(
    study: optuna.Study,
    shared: SharedStudy | None,
) -> list[optuna.trial.FrozenTrial]:
    """Trials that this run has asked for or written already, in order."""
    if shared is None:
        return []
    return [
        one for one in study.get_trials(deepcopy=False) if one.user_attrs.get(RUN) == shared.owner
    ]


@contextmanager
def _reaching(shared: SharedStudy | None) -> Iterator[None]:
    """Errors of the database in our words; theirs may quote its address."""
    if shared is None:
        yield
        return
    from optuna.exceptions import OptunaError
    from sqlalchemy.exc import SQLAlchemyError

    advice = (
        "`reenact config` says where study_url comes from; without it the study is a file of the "
        "run."
    )
    try:
        yield
    except ImportError as error:
        driver = error.name or "a driver for such databases"
        sentence = (
            f"The database of the study {shared} needs a package that is not installed: {driver}."
        )
        raise MissingPart(sentence, next_step="Install it next to reenact.") from None
    except (SQLAlchemyError, OptunaError) as error:
        sentence = f"The database of the study {shared} cannot be used ({type(error).__name__})."
        raise Unreachable(sentence, next_step=advice) from None


def finite(score: float) -> float:
    return score if math.isfinite(score) else FAILED
