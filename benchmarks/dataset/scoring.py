"""What was named of the trainings of a split, counted: true faults, at their line, false alarms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.dataset.result import NamedFault, TrainingDiagnosis
from benchmarks.dataset.splits import Split
from benchmarks.dataset.training import Training
from benchmarks.dataset.truth import Judge, judge_of
from benchmarks.share import Share
from reenact.diagnosis.options import THRESHOLD, Depth
from reenact.errors import InputError

BROKEN = "broken"
"""A judgement against a training without naming a fault."""


@dataclass(frozen=True)
class Pair:
    """A training with what was reported of it."""

    training: Training
    result: TrainingDiagnosis

    @property
    def judge(self) -> Judge:
        return judge_of(self.training)

    @property
    def reported(self) -> tuple[NamedFault, ...]:
        """What a user reads above the threshold, first things first; crashes that were
        explained among it.
        """
        crashes = (
            one
            for one in self.result.symptoms
            if one.confidence >= THRESHOLD and not self.judge.crashes.isdisjoint(one.codes)
        )
        return (*self.result.findings, *crashes)

    @property
    def true(self) -> tuple[NamedFault, ...]:
        """What of it is true."""
        return tuple(one for one in self.reported if self.judge.is_true(one, self.training))

    @property
    def counted(self) -> tuple[NamedFault, ...]:
        """What of it counts against the program."""
        return tuple(one for one in self.reported if self.judge.counts(one, self.training))

    @property
    def first_at_its_line(self) -> bool:
        """Whether the first finding is true and at a line where a reader accepts it."""
        return bool(self.reported) and self.judge.is_at_its_line(self.reported[0], self.training)

    @property
    def alarm(self) -> bool:
        """Whether something is reported against the program."""
        return bool(self.counted) or self.result.judgement == BROKEN

    @property
    def shown(self) -> str:
        """What was reported, in a table."""
        return self.show(self.reported)

    def show(self, named: Sequence[NamedFault]) -> str:
        return "; ".join(self.judge.shown(one) for one in named)


@dataclass(frozen=True)
class Scored:
    """One split, scored."""

    split: Split
    depth: Depth
    whole: bool
    """Whether goals are judged: not where some trainings were left out by name."""
    pairs: tuple[Pair, ...]

    @property
    def faulty(self) -> tuple[Pair, ...]:
        """A fault without a diagnosis is missed; only what the machine lacks is left out."""
        return tuple(pair for pair in self.pairs if not pair.training.sound and pair.result.started)

    @property
    def sound(self) -> tuple[Pair, ...]:
        return tuple(
            pair for pair in self.pairs if pair.training.sound and not pair.result.could_not_run
        )

    @property
    def missing(self) -> tuple[Pair, ...]:
        measured = {pair.training.id for pair in (*self.faulty, *self.sound)}
        return tuple(pair for pair in self.pairs if pair.training.id not in measured)

    @property
    def named(self) -> Share:
        """Faulty programs of which at least one true fault was named."""
        return Share(sum(bool(pair.true) for pair in self.faulty), len(self.faulty))

    @property
    def first(self) -> Share:
        """Faulty programs whose first finding is true and at its line."""
        return Share(sum(pair.first_at_its_line for pair in self.faulty), len(self.faulty))

    @property
    def precision(self) -> Share:
        """Findings about faulty programs that are true."""
        counted = sum(len(pair.counted) for pair in self.faulty)
        return Share(sum(len(pair.true) for pair in self.faulty), counted)

    @property
    def alarms(self) -> Share:
        """Sound programs with a false alarm."""
        return Share(sum(pair.alarm for pair in self.sound), len(self.sound))

    @property
    def alarms_of_all_kinds(self) -> Share:
        """The same, where the finding that a training which we cut is too short counts as well."""
        hit = sum(bool(pair.reported) or pair.alarm for pair in self.sound)
        return Share(hit, len(self.sound))


def scored(
    split: Split,
    trainings: Sequence[Training],
    results: Sequence[TrainingDiagnosis],
    *,
    depth: str,
    whole: bool,
) -> Scored:
    """The results of a split. Raises InputError where faults have no kinds yet."""
    unread = [
        training.id for training in trainings if any(not truth.kind for truth in training.fault)
    ]
    if unread:
        raise InputError(
            (
                f"The results are kept, but these trainings have no kinds yet. Received: "
                f"{', '.join(unread)}."
            ),
            next_step=(
                "Two readers choose them in kinds.toml; `--lock` locks them; the same command "
                "scores."
            ),
        )
    pairs = tuple(
        Pair(training, result) for training, result in zip(trainings, results, strict=True)
    )
    return Scored(split, Depth(depth), whole, pairs)
