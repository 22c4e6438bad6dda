"""The score card of `python -m benchmarks modern`: named, named first at its line, false alarms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from benchmarks.modern.case import HERE, Half, ModernCase, Truth, accepted, categories, identity
from benchmarks.modern.measure import ModernResult, Named
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.share import Share
from reenact.diagnosis.options import THRESHOLD
from reenact.rules.registry import all_rules

NAMED, FIRST, ALARMS = 0.85, 0.75, 0.05
LEAST = 20
"""Programs of a kind in a half below which a goal is not judged."""
MOST_LINES = 40
"""A place that is longer shows nobody a line."""
BROKEN = "broken"
"""A judgement against a training without naming a fault."""
EXPLAINED = ("RE901", "RE902", "RE903", "RE904", "RE905", "RE907")
"""Rules that explain a crash: above the threshold that is a finding, though it has no fault type."""


@dataclass(frozen=True)
class Pair:
    """A program with what was reported of it."""

    half: Half
    case: ModernCase
    result: ModernResult

    @property
    def reported(self) -> tuple[Named, ...]:
        """What a user reads above the threshold, first things first."""
        crashes = (
            one
            for one in self.result.symptoms
            if one.confidence >= THRESHOLD and not set(EXPLAINED).isdisjoint(one.codes)
        )
        return (*self.result.findings, *crashes)

    @property
    def named(self) -> bool:
        """Whether a true fault is among what was reported."""
        return any(self.is_true(one) for one in self.reported)

    @property
    def first_at_its_line(self) -> bool:
        """Whether the first finding is a true fault, at a line where a reader accepts it."""
        return bool(self.reported) and any(
            _says(self.reported[0], truth) and self._is_at(self.reported[0], truth)
            for truth in self.case.fault
        )

    @property
    def alarm(self) -> bool:
        """Whether something is reported against the program."""
        return bool(self.reported) or self.result.judgement == BROKEN

    def is_true(self, one: Named) -> bool:
        """Whether a finding says what is true of the program."""
        return any(_says(one, truth) for truth in self.case.fault)

    def _is_at(self, one: Named, truth: Truth) -> bool:
        name, lines = accepted(self.case, truth, HERE / self.half)
        return any(
            file == name and last - first < MOST_LINES and any(first <= line <= last for line in lines)
            for file, first, last in one.places
        )


def _says(one: Named, truth: Truth) -> bool:
    meant = categories()[truth.category]
    return any(rule.name in meant for rule in all_rules() if rule.code in one.codes)


def scorecard(
    half: Half,
    cases: Sequence[ModernCase],
    results: Sequence[ModernResult],
    *,
    depth: str,
    whole: bool,
) -> Scorecard:
    """Everything that was measured; goals are judged where a whole half was."""
    pairs = [Pair(half, case, result) for case, result in zip(cases, results, strict=True)]
    # A fault without a diagnosis is missed; only what the machine lacks is left out.
    faulty = [pair for pair in pairs if not pair.case.sound and pair.result.started]
    sound = [pair for pair in pairs if pair.case.sound and not pair.result.could_not_run]
    named = Share(sum(pair.named for pair in faulty), len(faulty))
    first = Share(sum(pair.first_at_its_line for pair in faulty), len(faulty))
    alarm = Share(sum(pair.alarm for pair in sound), len(sound))
    said = sum(len(pair.reported) for pair in faulty)
    precision = Share(sum(pair.is_true(one) for pair in faulty for one in pair.reported), said)
    many = {kind: whole and len(group) >= LEAST for kind, group in ((False, faulty), (True, sound))}
    return Scorecard(
        name=f"modern-{half}" + ("" if depth == "quick" else f"-{depth}"),
        figures=f"named {named}, first at its line {first}, false alarms {alarm}",
        measured={
            "named": named.figure("a true fault named"),
            "first": first.figure("named first, at its line"),
            "precision": precision.figure("findings on faulty programs that are true"),
            "alarms": alarm.figure("false alarms on sound programs"),
            "hours": Figure("hours", sum(pair.result.seconds for pair in pairs) / 3600, digits=1),
        },
        cases=identity(half),
        goals=(
            Goal(
                "a true fault named", f">= {NAMED}", str(named), named.value >= NAMED if many[False] else None
            ),
            Goal(
                "named first, at its line",
                f">= {FIRST}",
                str(first),
                first.value >= FIRST if many[False] else None,
            ),
            Goal(
                "false alarms on sound programs",
                f"<= {ALARMS:.0%}",
                str(alarm),
                alarm.value <= ALARMS if many[True] else None,
            ),
        ),
        tables=tuple(_tables(faulty, sound, [pair for pair in pairs if pair not in (*faulty, *sound)])),
        facts={half.value: [asdict(pair.result) for pair in pairs]},
    )


def _tables(faulty: Sequence[Pair], sound: Sequence[Pair], missing: Sequence[Pair]) -> Iterator[Table]:
    styles = sorted({pair.case.style for pair in (*faulty, *sound)})
    yield Table(
        "By style",
        ("style", "named", "first at its line", "false alarms"),
        tuple(
            (
                style,
                _of(pair.named for pair in faulty if pair.case.style == style),
                _of(pair.first_at_its_line for pair in faulty if pair.case.style == style),
                _of(pair.alarm for pair in sound if pair.case.style == style),
            )
            for style in styles
        ),
    )
    yield Table(
        "Faulty programs",
        ("program", "truth", "outcome", "reported", "s"),
        tuple(
            (pair.case.id, _truth(pair), _outcome(pair), _reported(pair), f"{pair.result.seconds:.0f}")
            for pair in sorted(faulty, key=_outcome)
        ),
    )
    yield Table(
        "False alarms on sound programs",
        ("program", "what it does", "of what"),
        tuple((pair.case.id, pair.case.what, _reported(pair)) for pair in sound if pair.alarm),
    )
    yield Table(
        "Could not be run",
        ("program", "why"),
        tuple((pair.case.id, pair.result.could_not_run) for pair in missing),
    )


def _of(each: Iterator[bool]) -> str:
    found = list(each)
    return f"{sum(found)} of {len(found)}" if found else "-"


def _outcome(pair: Pair) -> str:
    if pair.first_at_its_line:
        return "named first, at its line"
    return "named" if pair.named else "MISSED"


def _truth(pair: Pair) -> str:
    return "; ".join(f"{one.category}:{'/'.join(map(str, one.lines))}" for one in pair.case.fault)


def _reported(pair: Pair) -> str:
    return "; ".join(map(str, pair.reported)) or pair.result.sentence or pair.result.could_not_run
