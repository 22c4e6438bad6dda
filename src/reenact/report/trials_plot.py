"""What a search tried: an axis a hyperparameter, a line a trial, its colour by what it came to; and
how much each hyperparameter mattered.
"""

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reenact.report import svg
from reenact.report.charts import Stops, blend
from reenact.report.document import Picture
from reenact.report.svg import ALARM, WIDTH

LEFT = 44.0
RIGHT = 60.0
TOP = 40.0
FLOOR = 224.0
BELOW = 250.0
"""Axes reach from `TOP` to `FLOOR`; what a trial left as it was, or what failed, passes at
`BELOW`.
"""
HEIGHT = 262.0
MOST_AXES = 8
MOST_LINES = 200
MOST_WORDS = 8
LETTERS = 22
PALE: Stops = (
    (0.0, (140, 144, 150)),
    (0.6, (120, 150, 190)),
    (1.0, (45, 125, 215)),
)
HALO = "stroke:var(--card,#fff);stroke-width:3px;stroke-linejoin:round;paint-order:stroke"
ENOUGH, GROUPS = 10, 4
"""Trials from which on importance is shown, and groups into which many different numbers are
put.
"""
BAR, SHARE_AT = 22.0, 200.0
"""Height of a row of the importances, and where its bar begins."""
Value = float | str | None
"""None: left as it was."""


@dataclass(frozen=True, slots=True)
class TrialLine:
    """One trial: the values that it set, by hyperparameter, and its score, larger is better."""

    values: Mapping[str, Value]
    score: float


def trials_plot(
    title: str,
    lines: Sequence[TrialLine],
    metric: str,
    sign: int = 1,
) -> Picture:
    """Parallel coordinates; `sign` turns a score back into the metric as it was logged."""
    shown = sorted(lines, key=lambda one: one.score)[-MOST_LINES:]
    sets = [name for one in shown for name in one.values]
    # The hyperparameters that were set most often; of the same number the first stays first.
    names = sorted(
        dict.fromkeys(sets),
        key=lambda name: -sets.count(name),
    )[:MOST_AXES]
    places = {
        name: LEFT + at * (WIDTH - LEFT - RIGHT) / len(names) for at, name in enumerate(names)
    }
    columns = {name: [one.values.get(name) for one in shown] for name in names}
    axes = {name: _scaled(values) for name, values in columns.items()}
    known = [one.score for one in shown if math.isfinite(one.score)]
    score = svg.scale_for(known, FLOOR, TOP)
    end = WIDTH - RIGHT
    rank = {value: at / max(1, len(set(known)) - 1) for at, value in enumerate(sorted(set(known)))}
    labels = []
    for nth, (name, x) in enumerate(places.items()):
        # By turns on two rows, so that neighbours do not touch.
        at = TOP - 8 - 14 * (nth % 2)
        anchor = "middle" if nth else "start"
        labels.append(
            svg.text(
                x,
                at,
                svg.shortened(name, LETTERS),
                anchor=anchor,
            )
        )
        height, marks = axes[name]
        labels += [
            svg.text(
                x + 5,
                height(mark) + 4,
                svg.shortened(_shown(mark), LETTERS),
            )
            for mark in marks
        ]
    parts = [svg.line(x, TOP, x, FLOOR) for x in (*places.values(), end)]
    parts += [
        svg.text(
            end + 6,
            TOP - 8,
            svg.shortened(metric, 12),
            anchor="middle",
        )
    ]
    parts += [
        svg.text(
            end + 6,
            score(tick) + 4,
            svg.number(sign * tick),
        )
        for tick in score.ticks()
    ]
    for one in shown:
        fine = math.isfinite(one.score)
        points = [
            (
                places[name],
                axes[name][0](one.values.get(name)),
            )
            for name in names
        ]
        points.append(
            (
                end,
                score(one.score) if fine else BELOW,
            )
        )
        colour = blend(PALE, rank[one.score]) if fine else ALARM
        best = fine and one.score == known[-1]
        parts.append(
            svg.named(
                svg.curve(points, colour, 3.0 if best else 1.3),
                _words(one, metric, sign),
            )
        )
    # Above the lines, with the colour of the page around each letter.
    parts += [f'<g style="{HALO}">', *labels, "</g>"]
    if any(None in values for values in columns.values()):
        parts.append(
            svg.text(
                LEFT - 6,
                BELOW + 4,
                "as is",
                anchor="end",
            )
        )
    if len(known) < len(shown):
        parts.append(
            svg.text(
                end + 6,
                BELOW + 4,
                "failed",
                colour=ALARM,
            )
        )
    alt = "\n".join(_words(one, metric, sign) for one in reversed(shown[-MOST_WORDS:]))
    return Picture(
        title,
        svg.drawing(
            parts,
            HEIGHT,
            f"{title}: {len(shown)} trials",
        ),
        alt,
    )


def importance_plot(title: str, lines: Sequence[TrialLine]) -> Picture | None:
    """A bar a hyperparameter, the most important first; none for trials that are too few to
    tell.
    """
    if len(lines) < ENOUGH:
        return None
    shares = sorted(
        importances(lines).items(),
        key=lambda item: -item[1],
    )[:MOST_AXES]
    if not shares or not shares[0][1]:
        return None
    parts = []
    for at, (name, share) in enumerate(shares):
        length = share * (WIDTH - SHARE_AT - RIGHT)
        top = 8 + at * BAR
        hint = f"{name}: {share:.2f}"
        blue = blend(PALE, 1.0)
        parts.append(
            svg.text(
                SHARE_AT - 8,
                top + 12,
                svg.shortened(name, LETTERS),
                anchor="end",
            )
        )
        parts.append(
            svg.box(
                SHARE_AT,
                y=top,
                width=max(1.0, length),
                height=BAR - 8,
                colour=blue,
                hint=hint,
            )
        )
        parts.append(
            svg.text(
                SHARE_AT + length + 6,
                top + 12,
                f"{share:.2f}",
            )
        )
    alt = "\n".join(f"{name:{LETTERS}} {share:.2f}" for name, share in shares)
    return Picture(
        title,
        svg.drawing(
            parts,
            len(shares) * BAR + 12,
            f"{title}: {alt}",
        ),
        alt,
    )


def importances(lines: Sequence[TrialLine]) -> dict[str, float]:
    """By hyperparameter the share of the variance of the ranks of all scores that its values
    explain. One-way analysis of variance of ranks, adjusted for the number of values (epsilon
    squared): each hyperparameter by itself, 0 for chance, 1 for all.
    """
    scores = sorted(one.score for one in lines)
    ranks = [
        (bisect_left(scores, one.score) + bisect_right(scores, one.score)) / 2 for one in lines
    ]
    whole = _spread(ranks)
    shares = {}
    for name in dict.fromkeys(name for one in lines for name in one.values):
        groups = defaultdict(list)
        for group, rank in zip(
            _grouped([one.values.get(name) for one in lines]), ranks, strict=True
        ):
            groups[group].append(rank)
        if whole and 1 < len(groups) < len(lines):
            within = sum(map(_spread, groups.values())) / (len(lines) - len(groups))
            shares[name] = max(0.0, 1 - within * (len(lines) - 1) / whole)
    return shares


def _spread(values: Sequence[float]) -> float:
    """Sum of the squares of the distances from the mean."""
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)


def _grouped(values: Sequence[Value]) -> list[Value]:
    """Numbers as they are, or, where they are many, by the quarter in which they lie; words as
    they are.
    """
    numbers = sorted(value for value in values if isinstance(value, int | float))
    if len(set(numbers)) <= GROUPS:
        return list(values)
    quarter = {value: bisect_left(numbers, value) * GROUPS // len(numbers) for value in numbers}
    return [quarter[value] if isinstance(value, int | float) else value for value in values]


def _words(one: TrialLine, metric: str, sign: int) -> str:
    got = "failed"
    if math.isfinite(one.score):
        got = svg.number(sign * one.score)
    changed = ", ".join(f"{name} {_shown(value)}" for name, value in one.values.items())
    return f"{metric} {got}: {changed or 'unchanged'}"


def _shown(value: Value) -> str:
    if isinstance(value, int | float):
        return svg.number(value)
    return str(value)


def _scaled(values: Sequence[Value]) -> tuple[Callable[[Value], float], list[Value]]:
    """From a value to its height on the axis: numbers by size, words in their order of appearance;
    and what is on the axis.
    """
    numbers = [value for value in values if isinstance(value, int | float)]
    words = [value for value in dict.fromkeys(values) if isinstance(value, str)]
    scale = svg.scale_for(numbers, FLOOR, TOP)
    step = (FLOOR - TOP) / max(1, len(words))

    def height(value: Value) -> float:
        if value is None:
            return BELOW
        if isinstance(value, str):
            return FLOOR - step * (words.index(value) + 0.5)
        return scale(value)

    return height, [
        *words,
        *(scale.ticks(4) if numbers else ()),
    ]
