"""The score card of `python -m benchmarks field`: recall by program, precision by finding, false alarms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from benchmarks.field.case import FieldCase, Half, frozen
from benchmarks.field.result import FieldResult, NamedFault
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.share import Share
from reenact.diagnosis.options import THRESHOLD, Depth
from reenact.program.fault import Fault

RECALL = {Depth.QUICK: 0.6, Depth.NORMAL: 0.75}
PRECISION = {Depth.QUICK: 0.6, Depth.NORMAL: 0.7}
ALARMS = 0.05
LEAST = 25
"""Programs of a kind in a half below which a goal is not judged."""
BROKEN = "broken"
"""A judgement against a training without naming a fault."""


@dataclass(frozen=True)
class Scored:
    """One half, scored."""

    half: Half
    faulty: tuple[tuple[FieldCase, FieldResult], ...]
    sound: tuple[tuple[FieldCase, FieldResult], ...]
    missing: tuple[tuple[FieldCase, FieldResult], ...]

    @property
    def recall(self) -> Share:
        """Faulty programs of which at least one true fault was named."""
        return Share(sum(bool(_true(*pair)) for pair in self.faulty), len(self.faulty))

    @property
    def precision(self) -> Share:
        """Findings about faulty programs that are true."""
        named = sum(len(counted(*pair)) for pair in self.faulty)
        return Share(sum(len(_true(*pair)) for pair in self.faulty), named)

    @property
    def alarms(self) -> Share:
        """Sound programs with a false alarm."""
        return Share(sum(is_alarm(*pair) for pair in self.sound), len(self.sound))

    @property
    def alarms_of_all_kinds(self) -> Share:
        """The same, where the word that a training which we cut is too short counts as well."""
        hit = sum(bool(result.named(THRESHOLD)) or is_alarm(case, result) for case, result in self.sound)
        return Share(hit, len(self.sound))

    @property
    def trainings(self) -> int:
        return sum(result.trainings for _, result in (*self.faulty, *self.sound))

    @property
    def seconds(self) -> float:
        return sum(result.seconds for _, result in (*self.faulty, *self.sound))


def counted(case: FieldCase, result: FieldResult) -> tuple[NamedFault, ...]:
    """What was named, but not that a training is too short which the manifest has cut."""
    cut = case.shortened and not any(fault is Fault.HNE for fault, _ in case.faults)
    return tuple(one for one in result.named(THRESHOLD) if not (cut and one.fault is Fault.HNE))


def is_alarm(case: FieldCase, result: FieldResult) -> bool:
    """Whether something is reported against a program."""
    return bool(counted(case, result)) or result.judgement == BROKEN


def scored(half: Half, cases: Sequence[FieldCase], results: Sequence[FieldResult]) -> Scored:
    """The results of one half by kind of program. A fault without a diagnosis is missed, not left out."""
    pairs = tuple(zip(cases, results, strict=True))
    faulty = tuple(pair for pair in pairs if not pair[0].sound and pair[1].started)
    sound = tuple(pair for pair in pairs if pair[0].sound and not pair[1].could_not_run)
    return Scored(half, faulty, sound, tuple(pair for pair in pairs if pair not in (*faulty, *sound)))


def scorecard(one: Scored, depth: Depth, *, whole: bool) -> Scorecard:
    """Everything that was measured; goals are judged where a whole half was."""
    return Scorecard(
        name=f"field-{one.half}-{depth}",
        figures=f"recall {one.recall}, precision {one.precision}, false alarms {one.alarms}",
        goals=tuple(_goals(one, depth, whole)),
        tables=tuple(_tables(one)),
        facts={one.half.value: [asdict(result) for _, result in _all(one)]},
        measured=_figures(one),
        cases=frozen([case for case, _ in _all(one)]),
    )


def _figures(one: Scored) -> dict[str, Figure]:
    cut = "the same, of being trained too briefly as well, where we cut it"
    return {
        "recall": one.recall.figure("recall, by program"),
        "precision": one.precision.figure("precision, by finding"),
        "alarms": one.alarms.figure("false alarms on sound programs"),
        "alarms_of_all_kinds": one.alarms_of_all_kinds.figure(cut),
        "trainings": Figure("trainings in changed copies", one.trainings, digits=0),
        "hours": Figure("hours", one.seconds / 3600, digits=1),
    }


def _all(one: Scored) -> tuple[tuple[FieldCase, FieldResult], ...]:
    return (*one.faulty, *one.sound, *one.missing)


def _goals(one: Scored, depth: Depth, whole: bool) -> Iterator[Goal]:
    many, sound = whole and len(one.faulty) >= LEAST, whole and len(one.sound) >= LEAST
    recall, precision, alarms = one.recall, one.precision, one.alarms
    yield Goal(
        f"{one.half}: recall by program",
        f">= {RECALL[depth]}",
        str(recall),
        recall.value >= RECALL[depth] if many else None,
    )
    yield Goal(
        f"{one.half}: precision by finding",
        f">= {PRECISION[depth]}",
        str(precision) if precision.whole else "nothing named",
        precision.whole > 0 and precision.value >= PRECISION[depth] if many else None,
    )
    yield Goal(
        f"{one.half}: false alarms on sound programs",
        f"<= {ALARMS:.0%}",
        str(alarms),
        alarms.value <= ALARMS if sound else None,
    )


def _true(case: FieldCase, result: FieldResult) -> list[NamedFault]:
    return [one for one in result.named(THRESHOLD) if one.is_true_of(case)]


def _tables(one: Scored) -> Iterator[Table]:
    named = [(case, result) for case, result in one.faulty if _true(case, result)]
    missed = [(case, result) for case, result in one.faulty if not _true(case, result)]
    yield Table(
        f"{one.half}: faulty programs of which a true fault was named",
        ("program", "truth", "named", "of them true", "s"),
        tuple(
            (
                case.id,
                truth_of(case),
                _words(result.named(THRESHOLD)),
                str(len(_true(case, result))),
                f"{result.seconds:.0f}",
            )
            for case, result in named
        ),
    )
    yield Table(
        f"{one.half}: missed",
        ("program", "truth", "what was reported instead", "seen and not named", "s"),
        tuple(
            (case.id, truth_of(case), _instead(result), _near(case, result), f"{result.seconds:.0f}")
            for case, result in missed
        ),
    )
    yield Table(
        f"{one.half}: sound programs with a false alarm",
        ("program", "what it does", "of what"),
        tuple((case.id, case.why, _instead(result)) for case, result in one.sound if is_alarm(case, result)),
    )
    yield Table(
        f"{one.half}: could not be run",
        ("program", "why"),
        tuple((case.id, result.could_not_run) for case, result in one.missing),
    )


def truth_of(case: FieldCase) -> str:
    """What is wrong, with its lines."""
    lines: dict[str, list[int]] = {}
    for code, line in (*case.faults, *case.rules):
        lines.setdefault(str(code), []).append(line)
    return ", ".join(f"{code}:{'/'.join(map(str, sorted(set(at))))}" for code, at in lines.items())


def _instead(result: FieldResult) -> str:
    named = _words(result.named(THRESHOLD))
    reported = result.sentence or result.could_not_run
    return f"{reported} {named}".strip() if named != "-" else reported


def _near(case: FieldCase, result: FieldResult) -> str:
    """Doubts and symptoms that would have been true."""
    return _words([one for one in (*result.doubts, *result.symptoms) if one.is_true_of(case)])


def _words(named: Sequence[NamedFault]) -> str:
    return "; ".join(map(str, named)) or "-"
