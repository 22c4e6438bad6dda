"""A repair: the change, before and after over fresh seeds with the test, the search, the smaller changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from reenact.program.patch import Patch
from reenact.report.plots import LinePlot, StripPlot
from reenact.report.sheet import Facts, Text
from reenact.report.svg import number
from reenact.report.svg_lines import Curve
from reenact.report.svg_strips import Strip
from reenact.types import Table
from reenact.web.page import Block, Board, Chart, Row, Section
from reenact.web.stored import Stored

SHOWN_LOOKS = 15
MOST_CURVES = 4


class Judging(BaseModel):
    """What chooses and what judges."""

    search: str
    judge: str
    larger_is_better: bool = True
    sentence: str


class Judged(BaseModel):
    """One change over fresh seeds; a failed training is written as text."""

    decision: str
    patch: object
    seeds: list[int]
    before: list[float | str]
    after: list[float | str]
    p_value: float
    rank_biserial: float | str
    cohen_d: float | str


class Look(BaseModel):
    """One look at a changed program; the score is oriented."""

    patch: object
    score: float | None
    seeds: int
    share: float
    spent: float


class Cut(BaseModel):
    """One part of the change that was tried."""

    patch: object
    kept: float
    suffices: bool
    seeds: int


class BeforeAfter(BaseModel):
    """A metric of one seed: step and value."""

    before: list[tuple[int, float | str]]
    after: list[tuple[int, float | str]]


class Told(BaseModel):
    """What the story stored."""

    strategy: str
    decision: str
    sentence: str
    diff: str
    judging: Judging
    verdicts: list[Judged]
    looks: list[Look]
    cuts: list[Cut]
    curves: dict[str, BeforeAfter] = {}
    trainings: int
    spent: float
    one_training_s: float
    verifying_trainings: int
    seconds: float
    why: list[str]
    notes: list[str]


def sections(stored: Stored) -> Iterator[Section]:
    """The whole result."""
    told = Told.model_validate(stored.result())
    change: list[Block] = [_facts(told)]
    change.append(Text(told.diff.rstrip("\n"), is_diff=True) if told.diff else Text("Nothing is changed."))
    yield Section("The change", change, "change")
    if told.verdicts:
        yield Section("Before and after", list(_judged(told)), "judged")
    curves = list(_curves(told))
    if curves:
        yield Section("One training, before and after", curves, "curves")
    yield Section("Search", list(searched(told.looks, told.judging)), "search")
    if told.cuts:
        yield Section("The minimiser's steps", [_cuts(told.cuts)], "cuts")
    said: list[Block] = []
    if told.why:
        said.append(Text("\n".join(told.why), "What the diagnosis accused"))
    if told.notes:
        said.append(Text("\n".join(told.notes), "To know"))
    if said:
        yield Section("Reasons", said, "reasons")


def progress(stored: Stored) -> Iterator[Section]:
    """The best so far, while the search goes on."""
    looks = [Look.model_validate(one) for one in stored.below("best")]
    if looks:
        yield Section("The best so far", list(searched(looks, None)), "search")


def _facts(told: Told) -> Facts:
    facts = {
        "strategy": told.strategy,
        "judged by": f"{told.judging.judge}; {told.judging.sentence}",
        "searched": f"{told.trainings} trainings, worth {told.spent:.1f} of the program as it stands",
        "verified": f"{told.verifying_trainings} trainings, not counted in the budget",
        "one training": f"{told.one_training_s:.1f} s of CPU time",
        "time": f"{told.seconds:.0f} s",
    }
    return Facts("", tuple(facts.items()))


def _judged(told: Told) -> Iterator[Block]:
    rows = [
        Row(
            (
                one.decision,
                str(Patch.from_json(one.patch)),
                f"{one.p_value:.2g}",
                _short(one.rank_biserial),
                _short(one.cohen_d),
                str(len(one.seeds)),
            ),
            tone="good" if one.decision == "repaired" else "warning",
        )
        for one in told.verdicts
    ]
    columns = ("decision", "change", "p (signed rank)", "rank-biserial", "Cohen's d", "seeds")
    yield Board("The test", columns, rows)
    last = told.verdicts[-1]
    samples = [Strip("as it stands", _floats(last.before)), Strip("changed", _floats(last.after))]
    words = "; ".join(f"{one.name}: {', '.join(map(number, one.values))}" for one in samples)
    title = f"{told.judging.judge} over {len(last.seeds)} fresh seeds, a dot a seed"
    yield Chart(StripPlot(title, samples, told.judging.judge), words)


def _curves(told: Told) -> Iterator[Block]:
    wanted = [told.judging.search, "val_loss", "loss", "step_loss", *told.curves]
    for name in [one for one in dict.fromkeys(wanted) if one in told.curves][:MOST_CURVES]:
        both = told.curves[name]
        pairs = (("as it stands", both.before), ("changed", both.after))
        drawn = [
            Curve(title, [step for step, _ in points], _floats([value for _, value in points]))
            for title, points in pairs
            if len(points) > 1
        ]
        if drawn:
            words = "; ".join(
                f"{one.name}: {number(one.values[0])} -> {number(one.values[-1])}" for one in drawn
            )
            yield Chart(LinePlot(name, drawn), words)


def searched(looks: Sequence[Look], judging: Judging | None) -> Iterator[Block]:
    """The best so far against what was spent, and the best looks."""
    sign = -1 if judging is not None and not judging.larger_is_better else 1
    name = judging.search if judging is not None else "score, larger is better"
    whole = [look for look in looks if look.share == 1]
    spent, best = _best_so_far(whole, sign)
    if spent:
        words = f"{name} {number(best[0])} -> {number(best[-1])}, {number(spent[-1])} trainings' worth spent"
        plot = LinePlot(
            f"Best so far: {name}",
            [Curve("best so far", spent, best)],
            below="trainings' worth of CPU time spent",
        )
        yield Chart(plot, words)
    order = sorted(whole, key=lambda look: -(look.score if look.score is not None else -math.inf))
    rows = tuple(
        (
            "failed" if look.score is None else number(sign * look.score),
            str(look.seeds),
            f"{look.spent:.1f}",
            str(Patch.from_json(look.patch)),
        )
        for look in order[:SHOWN_LOOKS]
    )
    title = f"{len(whole)} whole and {len(looks) - len(whole)} short looks; the best"
    yield Table(title, (name, "seeds", "spent", "change"), rows)


def _best_so_far(looks: Sequence[Look], sign: int) -> tuple[list[float], list[float]]:
    """A staircase: each level holds until a better look."""
    spent: list[float] = []
    best: list[float] = []
    top = -math.inf
    for look in sorted(looks, key=lambda one: one.spent):
        if look.score is None:
            continue
        if best and look.score > top:
            spent.append(look.spent)
            best.append(best[-1])
        top = max(top, look.score)
        spent.append(look.spent)
        best.append(sign * top)
    return spent, best


def _cuts(cuts: Sequence[Cut]) -> Board:
    rows = [
        Row(
            (
                "suffices" if cut.suffices else "too little",
                f"{100 * cut.kept:.0f} %",
                str(cut.seeds),
                str(Patch.from_json(cut.patch)),
            ),
            tone="good" if cut.suffices else "",
        )
        for cut in cuts
    ]
    return Board("Smaller changes that were tried", ("", "of the gain", "seeds", "change"), rows)


def _floats(values: Sequence[float | str]) -> list[float]:
    return [float(value) for value in values]


def _short(value: float | str) -> str:
    return f"{float(value):.2f}"
