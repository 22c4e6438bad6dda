"""Trains changed programs over seeds for a diagnosis or a repair: journalled, within a budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median_low

from reenact.errors import Inconclusive, PatchRefused, ended_by
from reenact.journal.scope import Scope
from reenact.probe.crash import Crash
from reenact.probe.outcome import OutcomeKind
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.trials.bounds import ACCURACIES, POWERS, MetricBounds
from reenact.trials.budget import TrainingBudget, TrainingUsage
from reenact.trials.ending import as_trained
from reenact.trials.executor import Executor, as_they_end
from reenact.trials.hopeless import baseline_from, steps_factor, touches_loss
from reenact.trials.metric import MATERIAL, Measure, kind_of, least_gain
from reenact.trials.trial import Baseline, Outcome, Part, Trial, TrialLimits
from reenact.types import Stop

PASSING = frozenset((OutcomeKind.INTERRUPTED, OutcomeKind.KILLED, OutcomeKind.NOT_STARTED))
"""Endings that say nothing of the training: it is tried again."""
MORE_PATIENCE = 1.5
"""A training that took too long is tried again when it may take so many times as long."""
PATIENCE = 12.0
"""A changed program may take so many times as long as it should before it counts as failed."""
LEAST_SECONDS = 60.0
WELL_GUESSED, WELL_EXPLAINED = 0.95, 0.99
"""Share of right guesses, and of the labels' variance, from which on a training does well."""
ABOVE_GUESSING = 0.1
"""Share of what the most frequent class leaves to gain."""
SCREENING_SEEDS = (11, 12, 13, 14, 15, 16)
CLOSELY = "quick"
"""How the probe looks at trainings that log no metric: what judges is seen in their batches."""
RETRIES = 2
"""How often a training that was killed from outside is done again before that counts as its
outcome.
"""


@dataclass
class BudgetedTrainer:
    """Trains, and keeps the account of what that took. The account is its own: a copy begins
    with nothing.
    """

    program: Program
    executor: Executor
    measure: Measure
    budget: TrainingBudget
    one_training: float
    """CPU seconds of the unchanged program."""
    one_wall: float
    """Wall seconds of the same."""
    trials: Scope
    """Where they are journalled."""
    stop: Stop
    seeds: tuple[int, ...] = SCREENING_SEEDS
    """Seeds that choose; none of them judges."""
    label_spread: float | None = None
    """Standard deviation of the labels, where they are quantities."""
    majority: float | None = None
    """Accuracy of always naming the most frequent class, where labels are classes."""
    several_labels: bool = False
    """Whether a row has several labels: no one knows then whether an accuracy is that of rows or of
    labels, and the most frequent class is not an answer to compare it with.
    """
    loss_floor: float | None = None
    """The least value of the formula of the loss, where it is known."""
    constant_loss: float | None = None
    """The loss of the best answer that ignores the inputs, where it is known."""
    part: Part = Part.WHOLE
    """Evaluation data that choose."""
    around: str = ""
    """Mark of what they depend on besides the text of the program: its surroundings and the
    files it opens.
    """
    shared: bool = True
    """Take over what finished runs have trained with equal inputs."""
    training_time: float | None = None
    """Seconds that one training may take, when the user says so."""
    ending: Crash | None = None
    """The exception that ends the unchanged program, after its training: one like it does
    no harm.
    """
    prunes: bool = False
    """End trainings that choose when they are hopeless compared with the unchanged program."""
    stand_ins: tuple[str, ...] = ()
    """Data sets that every training gets made-up data for."""
    stdin: bytes = b""
    """What every training reads on its stdin: the answers that the watched run got."""
    on_trained: Callable[[int], None] | None = None
    """Called with the number of trainings that have ended, of those that were asked for at once."""
    _begun: float = field(default_factory=time.monotonic, init=False)
    _cpu_seconds: float = field(default=0.0, init=False)
    _paid: set[str] = field(default_factory=set, init=False)
    """Keys of the trainings in the account."""
    _baseline: Baseline | None = field(default=None, init=False)
    _pruned: list[float] = field(default_factory=list, init=False)
    """Of each pruned training, the share that was saved."""
    _epochs: int = field(default=0, init=False)
    """Of the unchanged program."""

    def apart(
        self,
        *,
        measure: Measure | None = None,
        part: Part | None = None,
    ) -> BudgetedTrainer:
        """The same trainings on an account of their own, perhaps judged by something else."""
        return replace(
            self,
            measure=measure or self.measure,
            part=part or self.part,
        )

    def judge_by(self, measure: Measure, part: Part = Part.WHOLE) -> None:
        """From now on another metric counts, on these evaluation data."""
        self.measure = measure
        self.part = part
        self._baseline = None

    @property
    def usage(self) -> TrainingUsage:
        """What was used so far."""
        seconds = time.monotonic() - self._begun
        return TrainingUsage(
            seconds,
            len(self._paid),
            self._cpu_seconds,
            self.one_training,
        )

    def charge(self, cpu_seconds: float) -> None:
        """Count what somebody else spent for this search."""
        self._cpu_seconds += cpu_seconds

    @property
    def bounded(self) -> bool:
        """Whether the measure lies between 0 and 1, 1 being best."""
        return self.measure.larger_is_better and "r2" not in self.measure.name

    @property
    def bounds(self) -> MetricBounds:
        """What is known of the numbers that metrics can come to."""
        return MetricBounds(
            loss_floor=self.loss_floor,
            constant_loss=self.constant_loss,
            majority=None if self.several_labels else self.majority,
            label_spread=self.label_spread,
        )

    def is_good_enough(self, score: float) -> bool:
        """Whether a training that reaches this is good enough: at most one miss in twenty, or an
        error of a tenth of the labels' own spread."""
        kind = kind_of(self.measure.name)
        if self.measure.larger_is_better:
            return score >= (WELL_EXPLAINED if kind.startswith("r2") else WELL_GUESSED)
        if not self.label_spread or kind not in POWERS:
            return False
        distance = math.pow(
            -score,
            1 / POWERS[kind],
        )
        return distance <= math.sqrt(1 - WELL_EXPLAINED) * self.label_spread

    def is_above_guessing(self, score: float) -> bool:
        """Whether a training that reaches this knows more than which class is most frequent; so too
        where no one can say.
        """
        guess = self.majority if kind_of(self.measure.name) in ACCURACIES else None
        return guess is None or score > guess + ABOVE_GUESSING * (1 - guess)

    def improves(self, before: float, after: float, *, share: float = MATERIAL) -> bool:
        """Whether the difference is large enough to matter; see `material`."""
        return material(before, after, bounded=self.bounded, share=share)

    def within_budget(self, trainings: float) -> bool:
        """Whether the budget covers so many more trainings of the unchanged program."""
        used, total = self.balance
        return used + trainings <= total

    @property
    def balance(self) -> tuple[float, float]:
        """What is used and what there is in all, both in trainings, however the budget was
        given.
        """
        if self.budget.trainings is not None:
            return float(len(self._paid)), float(self.budget.trainings)
        if self.budget.seconds is not None:
            one = max(self.one_wall, 1e-3)
            return (time.monotonic() - self._begun) / one, self.budget.seconds / one
        return self.usage.spent, self.budget.multiple

    def cost(self, patch: Patch, seeds: int = 1) -> float:
        """What trainings of a changed program over so many seeds take from the budget."""
        if self.budget.trainings is not None:
            return float(seeds)
        return self.relative_cost(patch) * seeds

    def relative_cost(self, patch: Patch) -> float:
        """How much longer than the program itself a changed one takes, by its epochs and
        batches.
        """
        return steps_factor(self.program, patch, least=0.5, most=4.0)

    def applies(self, patch: Patch) -> bool:
        """Whether it fits the program, and can be judged: a loss cannot judge a change of the
        loss.
        """
        try:
            patch.apply(self.program)
        except PatchRefused:
            return False
        return not (self.measure.is_loss and touches_loss(patch))

    def measure_cost(self) -> Outcome:
        """Train the program once unchanged: what does one training cost?"""
        (outcome,) = self.outcomes(
            [
                self.trial(
                    Patch(()),
                    self.seeds[0],
                )
            ]
        )
        self.set_cost(outcome)
        return outcome

    def set_cost(self, outcome: Outcome) -> None:
        """From now on one training costs what this one did, where it is one."""
        if outcome.trained:
            self.one_training = outcome.cpu_seconds
            self.one_wall = outcome.seconds
        self.budget = self.budget.for_trainings_of(self.one_training)

    def scores(
        self, patches: Sequence[Patch], seeds: int = 1, against: float | None = None
    ) -> list[float]:
        """The measure of each changed program over the first seeds (their middle value), larger is
        better, -inf for a failed training.

        `against`: a score that they are compared with. What is no better than that on any of more
        than half of the seeds is not trained on the others, which could not make it better.
        """
        if against is None or seeds == 1:
            return [median_low(values) for values in self._looks(patches, seeds)]
        first = self._looks(patches, seeds // 2 + 1)
        is_open = [self.improves(against, max(values)) for values in first]
        rest = iter(
            self._looks(
                [one for one, left in zip(patches, is_open, strict=True) if left],
                seeds,
            )
        )
        looks = zip(first, is_open, strict=True)
        return [median_low(next(rest) if left else values) for values, left in looks]

    def _looks(
        self,
        patches: Sequence[Patch],
        seeds: int,
    ) -> list[tuple[float, ...]]:
        trials = [
            self.pruned(self.trial(patch, seed)) for patch in patches for seed in self.seeds[:seeds]
        ]
        return self.scored(trials, len(patches))

    def samples(
        self,
        patches: Sequence[Patch],
        seeds: Sequence[int],
    ) -> list[tuple[float, ...]]:
        """The same over several seeds, for each patch."""
        return self.scored(
            [self.trial(patch, seed) for patch in patches for seed in seeds],
            len(patches),
        )

    def scored(
        self,
        trials: Sequence[Trial],
        programs: int = 1,
    ) -> list[tuple[float, ...]]:
        """The measure of each training, in as many groups of equal size as there are changed
        programs.
        """
        values = [self.measure.score(outcome) for outcome in self.outcomes(trials)]
        size = max(1, len(trials) // max(1, programs))
        return [tuple(values[at : at + size]) for at in range(0, len(values), size)]

    def trial(self, patch: Patch, seed: int) -> Trial:
        """A training of the changed program, with patience by what it should take."""
        seconds = max(
            LEAST_SECONDS,
            PATIENCE * self.one_wall * max(1.0, self.relative_cost(patch)),
        )
        seconds = min(seconds, self.training_time or seconds)
        limits = TrialLimits(seconds=seconds)
        return Trial(
            self.program,
            patch,
            seed,
            limits,
            preset=CLOSELY if self.measure.is_of_batches else "bare",
            part=self.part,
            stand_ins=self.stand_ins,
            stdin=self.stdin,
        )

    def pruned(self, trial: Trial) -> Trial:
        """The same, ended early where it is hopeless compared with the curves of the program as it
        is.
        """
        base = self._baseline
        if base is None or not trial.patch:
            return trial
        if touches_loss(trial.patch) and (base.is_loss or self.measure.is_loss):
            return trial
        return replace(
            trial,
            baseline=base.for_steps(steps_factor(self.program, trial.patch)),
        )

    @property
    def pruning_note(self) -> str:
        """How many trainings were pruned, and what that saved; empty where none was."""
        if not self._pruned:
            return ""
        count = len(self._pruned)
        saved = sum(self._pruned)
        epochs = f", about {saved * self._epochs:.0f} epochs" if self._epochs else ""
        return (
            f"Pruned as hopeless compared with the unchanged program: {count} of {len(self._paid)} "
            f"trainings; saved {saved:.1f} whole trainings{epochs} (--no-prune trains all to "
            "their end)."
        )

    def outcomes(self, trials: Sequence[Trial]) -> list[Outcome]:
        """What came of them; each is trained once, also after an interruption, and paid for
        once.
        """
        wanted = {trial.content: trial for trial in trials}
        outcomes: dict[str, Outcome] = {}
        # One that hands on weights or a trace leaves files which another run does not have, and one
        # that repeats another asks what happens now: what finished runs have trained is not taken
        # over for these.
        alone = {
            name
            for name, one in wanted.items()
            if not (one.weights or one.keep_trace or one.repeat)
        }
        for shared in (True, False):
            part = {name: trial for name, trial in wanted.items() if (name in alone) is shared}
            if part:
                outcomes |= self._trained(part, shared=shared and self.shared)
        for name, outcome in outcomes.items():
            if name not in self._paid:
                self._paid.add(name)
                self._cpu_seconds += outcome.cpu_seconds
                base = wanted[name].baseline
                if outcome.pruned and base is not None:
                    self._pruned.append(max(0.0, 1 - outcome.steps / base.steps))
        found = [as_trained(outcomes[trial.content], self.ending) for trial in trials]
        if self.prunes and self._baseline is None:
            # From the first trainings of the unchanged program; it stays the same from then on,
            # so that a training which is asked for again is the same one.
            pairs = zip(trials, found, strict=True)
            whole = [
                one
                for trial, one in pairs
                if not (trial.patch or trial.data < 1 or trial.limits.steps)
            ]
            if whole:
                self._baseline = baseline_from(whole, self.measure, bounded=self.bounded)
                self._epochs = whole[0].epochs or 0
        return found

    def _trained(
        self,
        wanted: Mapping[str, Trial],
        *,
        shared: bool,
    ) -> dict[str, Outcome]:
        """From the journal, or trained now."""

        def train(names: tuple[str, ...]) -> Iterator[Mapping[str, Outcome]]:
            left = [wanted[name] for name in names]
            ended = 0
            for again in reversed(range(RETRIES + 1)):
                trials, left = left, []
                for group in as_they_end(self.executor, trials, self.stop) if trials else ():
                    if self.stop.asked:
                        raise ended_by(
                            self.stop,
                            "Stopped while changed programs were being trained.",
                        )
                    # The machine ended it, perhaps for want of memory: it may be tried once more.
                    passing = (OutcomeKind.KILLED,) if again else ()
                    left += [trial for trial, one in group if one.kind in passing]
                    if real := {
                        trial.content: one for trial, one in group if one.kind not in passing
                    }:
                        _check_own(wanted, real)
                        ended += len(real)
                        if self.on_trained is not None:
                            self.on_trained(ended)
                        yield real

        how = {
            "around": self.around,
            "trained_as": type(self.executor).__name__,
        }
        patience = max((trial.limits.seconds or math.inf) for trial in wanted.values())

        def decides(outcome: Outcome) -> bool:
            """Not one that was ended from outside, nor one that took too long when it may take
            longer now.
            """
            late = (
                outcome.kind is OutcomeKind.TIMEOUT and patience > MORE_PATIENCE * outcome.seconds
            )
            return outcome.kind not in PASSING and not late

        inputs = {name: {"seed": trial.seed, **how} for name, trial in wanted.items()}
        return self.trials.many(
            inputs, train, version=2, returns=Outcome, shared=shared, still=decides
        )


def _check_own(
    wanted: Mapping[str, Trial],
    outcomes: Mapping[str, Outcome],
) -> None:
    """The unchanged program is what everything is compared with: without its outcome there
    is not one.
    """
    for name, outcome in outcomes.items():
        if outcome.kind is OutcomeKind.KILLED and not wanted[name].patch.changes:
            note = f" ({outcome.note})" if outcome.note else ""
            raise Inconclusive(
                f"Trainings of the unchanged program were killed from outside {RETRIES + 1} "
                f"times in a row{note}, so there is nothing to compare with.",
                next_step="Programs are ended so when memory does not suffice: try --workers 1.",
            )


def material(before: float, after: float, *, bounded: bool, share: float = MATERIAL) -> bool:
    """Whether an improvement is large enough to matter: such a share of what is left to gain.

    Both are oriented. For a metric between 0 and 1 that is the distance to 1, otherwise its own
    size.
    """
    if not math.isfinite(after):
        return False
    if not math.isfinite(before):
        return True
    return after - before >= least_gain(before, bounded=bounded, share=share)
