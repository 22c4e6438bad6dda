"""What a strategy works with: the program, its evidence, trainings within the budget, the best
so far.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median_low
from typing import TypedDict

from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.journal.scope import Scope
from reenact.llm.ask import Model
from reenact.program.edit.change import Set
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.program.static_graph import hyperparameters_of
from reenact.repairs.options import RepairOptions
from reenact.repairs.shared_study import SharedStudy
from reenact.result import rounded
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.trial import Outcome, Trial
from reenact.types import Progress, Tell

NOTHING = Patch(())
STEPS_TO_ASK = 3
PERFECT = 0.995
"""A bounded metric from here on leaves nothing worth searching for."""


class EvaluationJson(TypedDict):
    """What a change scored in the search, as JSON."""

    patch: Patch
    score: float
    seeds: int
    share: float
    spent: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One look at a changed program."""

    patch: Patch
    score: float
    """Middle value over the seeds, larger is better; -inf for a failed training."""
    seeds: int
    share: float
    """Of the epochs of a whole training."""
    spent: float
    """Trainings' worth of CPU time used when it was known."""

    def json_fields(self) -> EvaluationJson:
        return {
            "patch": self.patch,
            "score": self.score,
            "seeds": self.seeds,
            "share": self.share,
            "spent": rounded(self.spent, 3),
        }


@dataclass
class SearchContext:
    """Handed to a strategy; counts, remembers, shows the way."""

    evidence: Evidence
    suspects: Sequence[Finding]
    """What the diagnosis suspects, strongest first: also what it does not report; then what a
    model thinks.
    """
    trainer: BudgetedTrainer
    options: RepairOptions
    tell: Tell
    note: Callable[[Evaluation], None]
    """Writes the best so far down."""
    studies: Path | None = None
    """Folder for the search as an Optuna study; none: it is not kept."""
    shared_study: SharedStudy | None = None
    """In a database, where the setting `study_url` names one."""
    write: Callable[[Evaluation], None] | None = None
    """Writes every look into a study, for a strategy that has none of its own."""
    scratch: Path | None = None
    """Folder for what trainings leave to one another."""
    model: Model | None = None
    questions: Scope | None = None
    """Where questions to the model are journalled."""
    at_once: int = 1
    """Trainings that run at the same time."""
    evaluations: list[Evaluation] = field(default_factory=list)
    best: Evaluation | None = None
    kept: Patch = NOTHING
    """Fixes of proven faults: what is searched is searched on top of them."""
    reserve: float = 0.0
    """Trainings' worth that the search leaves for minimising."""
    begun_with: Trial | None = None
    """The training of the unchanged program that was done to see what one costs: it is not
    done again.
    """
    fewer_data: bool = False
    """Short trainings use a share of the data instead of a share of the epochs."""
    first_seed: int = 0
    """Which of the seeds is looked at first."""
    looks: int = 1
    """Seeds of a first look, of which the middle value counts: more where trainings are short."""

    @property
    def program(self) -> Program:
        return self.trainer.program

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        return tuple(param for param in hyperparameters_of(self.program) if param.changeable)

    @property
    def seeds(self) -> tuple[int, ...]:
        return self.trainer.seeds[self.first_seed :] + self.trainer.seeds[: self.first_seed]

    @property
    def sampler_seed(self) -> int:
        """Of the search; drivers that share a study have others."""
        own = self.options.chance
        if self.shared_study is None:
            return own
        return (own + self.shared_study.seed) % 2**32

    def base(self) -> float:
        """The unchanged program."""
        return self.scores([NOTHING])[0]

    def scores(
        self,
        patches: Sequence[Patch],
        seeds: int = 0,
        share: float = 1.0,
    ) -> list[float]:
        """The middle value of each changed program over the first seeds, larger is better; over
        those of a first look where no number is given.
        """
        seeds = seeds or self.looks
        chosen = self.seeds[:seeds]
        trials = [self._trial(patch, seed, share) for patch in patches for seed in chosen]
        found = [median_low(values) for values in self.trainer.scored(trials, len(patches))]
        for patch, score in zip(patches, found, strict=True):
            self._remember(
                Evaluation(
                    self.kept + patch,
                    score,
                    seeds,
                    share,
                    self.trainer.usage.spent,
                )
            )
        return found

    def samples(self, patch: Patch, seeds: int) -> tuple[float, ...]:
        """One changed program over the first seeds."""
        return self.trainer.scored([self._trial(patch, seed, 1.0) for seed in self.seeds[:seeds]])[
            0
        ]

    def within_budget(self, trainings: float) -> bool:
        """Whether so much more can be spent, and the reserve stays."""
        return self.trainer.within_budget(trainings + self.reserve)

    def _trial(self, patch: Patch, seed: int, share: float) -> Trial:
        """Shorter by epochs where there are enough, else by the data."""
        known = self.begun_with
        patch = self.kept + patch
        if known is not None and not patch and seed == known.seed and share == 1:
            return known
        # A change whose loss is lost is not a repair, and need not be trained to its end.
        trial = replace(
            self.trainer.trial(self.shortened(patch, share), seed),
            while_finite=bool(patch),
        )
        if share == 1:
            return self.trainer.pruned(trial)
        if self.fewer_data:
            return replace(trial, data=share)
        return trial

    def try_fewer_data(self, share: float) -> bool:
        """Whether short trainings can be made by a share of the data; a few steps of one tell."""
        trial = self.trainer.trial(NOTHING, self.seeds[0])
        few = replace(trial.limits, steps=STEPS_TO_ASK)
        (outcome,) = self.trainer.outcomes([replace(trial, data=share, limits=few)])
        self.fewer_data = outcome.cut > 0
        return self.fewer_data

    def cost(self, patch: Patch, seeds: int = 0, share: float = 1.0) -> float:
        """Trainings' worth of a look; a short training counts for one where trainings are
        counted.
        """
        seeds = seeds or self.looks
        if self.trainer.budget.trainings is not None:
            return float(seeds)
        part = share if self.fewer_data else 1.0
        return self.trainer.relative_cost(self.shortened(patch, share)) * part * seeds

    def applies(self, patch: Patch) -> bool:
        return self.trainer.applies(self.kept + patch)

    def better(self, before: float, after: float) -> bool:
        """Whether the difference is large enough to matter."""
        return self.trainer.improves(before, after)

    def perfect(self, score: float) -> bool:
        return self.trainer.bounded and score >= PERFECT

    @property
    def can_shorten(self) -> bool:
        return self._epochs() is not None

    def shortened(self, patch: Patch, share: float) -> Patch:
        """The same change in a shorter training; the change itself where epochs cannot be set."""
        param = self._epochs() if share < 1 and not self.fewer_data else None
        if param is None:
            return patch
        sets = (
            one for one in patch.changes if isinstance(one, Set) and one.hyperparameter == param.id
        )
        own = next(sets, None)
        epochs = own.value if own is not None else param.in_force
        if not isinstance(epochs, int):
            return patch
        shorter = Set(
            param.id,
            max(1, round(share * epochs)),
        )
        rest = tuple(one for one in patch.changes if one is not own)
        if shorter.value != param.in_force:
            return Patch((*rest, shorter))
        return Patch(rest)

    def together(self, *patches: Patch) -> Patch | None:
        """All in one, or none where they do not fit together."""
        whole = sum(patches, NOTHING)
        return whole if self.applies(whole) else None

    def outcome(self, patch: Patch, seed: int) -> Outcome:
        """One training, for its curves."""
        return self.trainer.outcomes([self._trial(patch, seed, 1.0)])[0]

    def _epochs(self) -> Hyperparameter | None:
        found = [param for param in self.hyperparameters if param.kind is Kind.EPOCHS]
        whole = [
            param for param in found if isinstance(param.in_force, int) and param.in_force >= 2
        ]
        return whole[0] if len(found) == 1 and whole else None

    def _remember(self, evaluation: Evaluation) -> None:
        self.evaluations.append(evaluation)
        if self.write is not None:
            self.write(evaluation)
        if evaluation.share < 1:
            return
        if self.best is None or evaluation.score > self.best.score:
            self.best = evaluation
            if evaluation.patch:
                self.note(evaluation)
        used, total = self.trainer.balance
        change = f" ({self.best.patch})" if self.best.patch else ""
        best_so_far = f"best so far {abs(self.best.score):.4g}{change}"
        self.tell(
            Progress(
                "repair",
                int(min(used, total)),
                int(total),
                best_so_far,
            )
        )
