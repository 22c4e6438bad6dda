"""A part of the cases that were drawn together: free faults, fixes of strangers, sound programs.

`python -m benchmarks trainings --split A` runs its three splits. Whether a fault was named is asked of no
taxonomy: two readers say of each of the first two findings whether it states the cause (`readings.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchmarks.dataset.readings import Reading, Sheet, shown_findings
from benchmarks.dataset.result import TrainingDiagnosis
from benchmarks.dataset.splits import Split, splits
from benchmarks.dataset.training import Training
from benchmarks.share import Share
from reenact.errors import InputError
from reenact.faults.detector import Needs
from reenact.faults.registry import all_detectors

PARTS = ("A", "B", "C")
FREE, FIXES, SOUND = "free", "fixes", "sound"
"""The splits of a part: `drawn-free-a` and its like."""
NOTHING_FOUND = "sound"
"""What a diagnosis comes to that says no fault was found."""
CRASHES = frozenset(
    one.code for one in all_detectors() if Needs.CRASH in one.needs and one.family == "reenact"
)
"""What says how a program ended by an error."""


def part_of(name: str) -> tuple[Split, ...] | None:
    """The splits of a part, none where nothing is called so. Raises InputError."""
    if name not in PARTS:
        return None
    known = splits()
    wanted = [f"drawn-{sort}-{name.lower()}" for sort in (FREE, FIXES, SOUND)]
    missing = [one for one in wanted if one not in known]
    if missing:
        raise InputError(f"The part {name} lacks splits. Received: {', '.join(missing)}.")
    return tuple(known[one] for one in wanted)


@dataclass(frozen=True)
class Case:
    """A training of a part, what was reported of it, and what its readers say."""

    training: Training
    sort: str
    result: TrainingDiagnosis
    reading: Reading | None
    """None where nobody has read exactly these findings."""

    @property
    def measured(self) -> bool:
        """Whether there is a diagnosis, or it failed for no want of this machine."""
        return self.result.started

    @property
    def crashed(self) -> bool:
        """Whether the program itself ended by an error."""
        said = (*self.result.findings, *self.result.symptoms)
        return any(code in CRASHES for one in said for code in one.codes)

    @property
    def says_nothing(self) -> bool:
        return self.result.judgement == NOTHING_FOUND

    @property
    def is_alarm(self) -> bool:
        """Whether anything is printed in place of "no fault found"."""
        return not self.says_nothing

    @property
    def unread(self) -> bool:
        return bool(shown_findings(self.result)) and self.reading is None

    @property
    def true_findings(self) -> int:
        """Of the first two: those of which both readers say that they state the cause."""
        return self.reading.true_findings if self.reading is not None else 0

    @property
    def sheet(self) -> Sheet:
        """What a reader is given."""
        return Sheet(self.training, shown_findings(self.result))


@dataclass(frozen=True)
class MeasuredPart:
    """Everything of a part."""

    name: str
    cases: tuple[Case, ...]

    def of(self, sort: str, *, sound: bool) -> tuple[Case, ...]:
        return tuple(
            case
            for case in self.cases
            if case.sort == sort and case.training.sound is sound and case.measured
        )

    @cached_property
    def faulty(self) -> tuple[Case, ...]:
        return (*self.of(FREE, sound=False), *self.of(FIXES, sound=False))

    @cached_property
    def sound(self) -> tuple[Case, ...]:
        """Programs of strangers that are sound; the sound twins of free faults are counted apart."""
        return self.of(SOUND, sound=True)

    @property
    def unread(self) -> tuple[Case, ...]:
        return tuple(case for case in self.faulty if case.unread)

    @property
    def missing(self) -> tuple[Case, ...]:
        return tuple(case for case in self.cases if not case.measured)

    def named(self, sort: str) -> Share:
        cases = self.of(sort, sound=False)
        return Share(sum(case.true_findings > 0 for case in cases), len(cases))

    @cached_property
    def trained(self) -> tuple[Case, ...]:
        """The faulty ones that did not crash: the message of a crash often names its cause by itself."""
        return tuple(case for case in self.faulty if not case.crashed)

    @property
    def named_in_trained(self) -> Share:
        return Share(sum(case.true_findings > 0 for case in self.trained), len(self.trained))

    @property
    def called_sound(self) -> Share:
        return Share(sum(case.says_nothing for case in self.trained), len(self.trained))

    def alarms(self, cases: Sequence[Case]) -> Share:
        return Share(sum(case.is_alarm for case in cases), len(cases))

    @property
    def true_findings(self) -> Share:
        """Of the first two findings of each faulty program."""
        shown = sum(len(shown_findings(case.result)) for case in self.faulty)
        return Share(sum(case.true_findings for case in self.faulty), shown)

    @property
    def findings_each(self) -> float:
        said = sum(len(case.result.findings) for case in self.faulty)
        return said / len(self.faulty) if self.faulty else 0.0


def measured_part(
    name: str,
    members: Sequence[tuple[Split, Training]],
    results: Sequence[TrainingDiagnosis],
    readings: Sequence[Reading],
) -> MeasuredPart:
    """Results with the readings that belong to exactly these findings."""
    known = {(one.training, one.findings): one for one in readings}
    return MeasuredPart(name, tuple(_cases(members, results, known)))


def _cases(
    members: Sequence[tuple[Split, Training]],
    results: Sequence[TrainingDiagnosis],
    known: dict[tuple[str, str], Reading],
) -> Iterator[Case]:
    for (split, training), result in zip(members, results, strict=True):
        digest = Sheet(training, shown_findings(result)).digest
        yield Case(training, split.name.split("-")[1], result, known.get((training.id, digest)))
