"""The score card over programs that are kept here: its figures, goals and tables, as they are
published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmarks.dataset.scoring import Pair, Scored
from benchmarks.scorecard import Figure, Goal, Table
from reenact.diagnosis.options import Depth

NAMED, FIRST, ALARMS = 0.85, 0.75, 0.05
LEAST = 20
"""Programs of a sort in a split below which a goal is not judged."""


def name(measured: Scored) -> str:
    """Of the results file."""
    depth = "" if measured.depth is Depth.QUICK else f"-{measured.depth}"
    return f"{measured.split.title}{depth}"


def closing(measured: Scored) -> str:
    """The figures of the closing line."""
    return (
        f"named {measured.named}, first at its line {measured.first}, false alarms "
        f"{measured.alarms}"
    )


def figures(measured: Scored) -> dict[str, Figure]:
    """By the names that sentences of README use."""
    return {
        "named": measured.named.figure("a true fault named"),
        "first": measured.first.figure("named first, at its line"),
        "precision": measured.precision.figure("findings on faulty programs that are true"),
        "alarms": measured.alarms.figure("false alarms on sound programs"),
        "hours": Figure(
            "hours",
            sum(pair.result.seconds for pair in measured.pairs) / 3600,
            digits=1,
        ),
    }


def goals(measured: Scored) -> Iterator[Goal]:
    """Judged where there are enough programs."""
    many_faulty = measured.whole and len(measured.faulty) >= LEAST
    many_sound = measured.whole and len(measured.sound) >= LEAST
    yield Goal(
        "a true fault named",
        f">= {NAMED}",
        str(measured.named),
        measured.named.value >= NAMED if many_faulty else None,
    )
    yield Goal(
        "named first, at its line",
        f">= {FIRST}",
        str(measured.first),
        measured.first.value >= FIRST if many_faulty else None,
    )
    yield Goal(
        "false alarms on sound programs",
        f"<= {ALARMS:.0%}",
        str(measured.alarms),
        measured.alarms.value <= ALARMS if many_sound else None,
    )


def tables(measured: Scored) -> Iterator[Table]:
    """By style, then program by program."""
    yield _by_style(measured)
    yield Table(
        "Faulty programs",
        ("program", "truth", "outcome", "reported", "s"),
        tuple(
            (
                pair.training.shown,
                pair.judge.truth(pair.training),
                _outcome(pair),
                _reported(pair),
                f"{pair.result.seconds:.0f}",
            )
            for pair in sorted(measured.faulty, key=_outcome)
        ),
    )
    yield Table(
        "False alarms on sound programs",
        ("program", "what it does", "of what"),
        tuple(
            (pair.training.shown, pair.training.what, _reported(pair))
            for pair in measured.sound
            if pair.alarm
        ),
    )
    yield Table(
        "Could not be run",
        ("program", "why"),
        tuple((pair.training.shown, pair.result.could_not_run) for pair in measured.missing),
    )


def _by_style(measured: Scored) -> Table:
    styles = sorted({pair.training.style for pair in (*measured.faulty, *measured.sound)})
    rows = []
    for style in styles:
        faulty = [pair for pair in measured.faulty if pair.training.style == style]
        sound = [pair for pair in measured.sound if pair.training.style == style]
        rows.append(
            (
                style,
                _of(bool(pair.true) for pair in faulty),
                _of(pair.first_at_its_line for pair in faulty),
                _of(pair.alarm for pair in sound),
            )
        )
    return Table("By style", ("style", "named", "first at its line", "false alarms"), tuple(rows))


def _of(hits: Iterable[bool]) -> str:
    counted = list(hits)
    return f"{sum(counted)} of {len(counted)}" if counted else "-"


def _outcome(pair: Pair) -> str:
    if pair.first_at_its_line:
        return "named first, at its line"
    return "named" if pair.true else "MISSED"


def _reported(pair: Pair) -> str:
    return pair.shown or pair.result.sentence or pair.result.could_not_run
