"""The score card over foreign programs, as published: recall by program, precision by finding,
alarms.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.dataset.scoring import Pair, Scored
from benchmarks.scorecard import Figure, Goal, Table
from reenact.diagnosis.options import Depth

RECALL = {Depth.QUICK: 0.6, Depth.NORMAL: 0.75}
PRECISION = {Depth.QUICK: 0.6, Depth.NORMAL: 0.7}
ALARMS = 0.05
LEAST = 25
"""Programs of a sort in a split below which a goal is not judged."""


def name(measured: Scored) -> str:
    """Of the results file."""
    return f"{measured.split.title}-{measured.depth}"


def closing(measured: Scored) -> str:
    """The figures of the closing line."""
    return (
        f"recall {measured.named}, precision {measured.precision}, false alarms {measured.alarms}"
    )


def figures(measured: Scored) -> dict[str, Figure]:
    """By the names that sentences of README use."""
    cut = "the same, of being trained too briefly as well, where we cut it"
    results = [pair.result for pair in (*measured.faulty, *measured.sound)]
    return {
        "recall": measured.named.figure("recall, by program"),
        "precision": measured.precision.figure("precision, by finding"),
        "alarms": measured.alarms.figure("false alarms on sound programs"),
        "alarms_of_all_kinds": measured.alarms_of_all_kinds.figure(cut),
        "trainings": Figure(
            "trainings in changed copies",
            sum(result.trainings for result in results),
            digits=0,
        ),
        "hours": Figure("hours", sum(result.seconds for result in results) / 3600, digits=1),
    }


def goals(measured: Scored) -> Iterator[Goal]:
    """Judged where there are enough programs."""
    label, depth = measured.split.label, measured.depth
    many_faulty = measured.whole and len(measured.faulty) >= LEAST
    many_sound = measured.whole and len(measured.sound) >= LEAST
    precision = measured.precision
    yield Goal(
        f"{label}: recall by program",
        f">= {RECALL[depth]}",
        str(measured.named),
        measured.named.value >= RECALL[depth] if many_faulty else None,
    )
    yield Goal(
        f"{label}: precision by finding",
        f">= {PRECISION[depth]}",
        str(precision) if precision.whole else "nothing named",
        precision.whole > 0 and precision.value >= PRECISION[depth] if many_faulty else None,
    )
    yield Goal(
        f"{label}: false alarms on sound programs",
        f"<= {ALARMS:.0%}",
        str(measured.alarms),
        measured.alarms.value <= ALARMS if many_sound else None,
    )


def tables(measured: Scored) -> Iterator[Table]:
    """Program by program."""
    label = measured.split.label
    yield Table(
        f"{label}: faulty programs of which a true fault was named",
        ("program", "truth", "named", "of them true", "s"),
        tuple(
            (
                pair.training.shown,
                pair.judge.truth(pair.training),
                pair.shown or "-",
                str(len(pair.true)),
                f"{pair.result.seconds:.0f}",
            )
            for pair in measured.faulty
            if pair.true
        ),
    )
    yield Table(
        f"{label}: missed",
        ("program", "truth", "what was reported instead", "seen and not named", "s"),
        tuple(_missed(pair) for pair in measured.faulty if not pair.true),
    )
    yield Table(
        f"{label}: sound programs with a false alarm",
        ("program", "what it does", "of what"),
        tuple(
            (pair.training.shown, pair.training.what, _instead(pair))
            for pair in measured.sound
            if pair.alarm
        ),
    )
    yield Table(
        f"{label}: could not be run",
        ("program", "why"),
        tuple((pair.training.shown, pair.result.could_not_run) for pair in measured.missing),
    )


def _missed(pair: Pair) -> tuple[str, ...]:
    """With doubts and symptoms that would have been true."""
    result = pair.result
    near = [
        one for one in (*result.doubts, *result.symptoms) if pair.judge.is_true(one, pair.training)
    ]
    return (
        pair.training.shown,
        pair.judge.truth(pair.training),
        _instead(pair),
        pair.show(near) or "-",
        f"{result.seconds:.0f}",
    )


def _instead(pair: Pair) -> str:
    reported = pair.result.sentence or pair.result.could_not_run
    return f"{reported} {pair.shown}".strip()
