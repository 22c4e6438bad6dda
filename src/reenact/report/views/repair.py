"""A repair: the change, before and after over fresh seeds with the test, the search, the
smaller changes.
"""

import math
from collections.abc import Iterator, Sequence

from reenact.program.edit.change import Change, Insert, Remove, Replace, Rewrite
from reenact.program.hyperparameter import HyperparameterId
from reenact.program.patch import readable_diff
from reenact.repairs.minimise import ReductionStep
from reenact.repairs.search_context import Evaluation
from reenact.repairs.verdict import Judging, Repair, deciding, summary
from reenact.report.charts import before_after_plot
from reenact.report.document import (
    Block,
    Board,
    Document,
    Facts,
    Picture,
    Row,
    Section,
    Text,
    listed,
)
from reenact.report.line_plot import Curve, line_plot
from reenact.report.recorded import Stored
from reenact.report.svg import number
from reenact.report.trials_plot import TrialLine, importance_plot, trials_plot
from reenact.types import Table

RESULT = Repair
MOST_CURVES = 4
SHOWN_LOOKS = 12


def repair_document(found: Repair, title: str) -> Document:
    """The whole answer."""
    change = []
    if found.diff:
        change = [
            Text(
                readable_diff(found.diff).rstrip("\n"),
                is_diff=True,
            )
        ]
    if found.applied:
        change.append(Text(found.applied))
    sections = (
        Section("The change", change, "change"),
        Section(
            "Before and after",
            list(_judged(found)) if found.verdicts else [],
            "judged",
        ),
        Section("How it was found", [_facts(found)], "facts"),
        Section("One training, before and after", list(_curves(found)), "curves"),
        Section(
            "Search",
            list(_searched(found.looks, found.judging)),
            "search",
        ),
        Section(
            "Smaller changes that were tried",
            [_cuts(found.cuts)] if found.cuts else [],
            "cuts",
        ),
        Section("What the diagnosis found", listed(found.why), "reasons"),
        Section("To know", listed(found.notes), "notes"),
    )
    title = f"Repair of {title}"
    data = found.to_dict()
    code = found.decision.exit_code
    return Document(
        "repair",
        title=title,
        verdict=found.sentence,
        blocks=sections,
        diagnostics=(),
        data=data,
        reused=found.reused,
        exit_code=code,
    )


def progress(stored: Stored) -> Iterator[Section]:
    """The best so far, while the search goes on."""
    if looks := stored.below("best", Evaluation):
        yield Section(
            "The best so far",
            list(_searched(looks, None)),
            "search",
        )


def _facts(found: Repair) -> Facts:
    cost = found.cost
    judging = found.judging
    searched = f"{cost.trainings} trainings, {cost.spent:.1f} times one of the unchanged program"
    facts = [
        ("strategy", found.strategy),
        ("judged by", f"{judging.judge.name}; {judging.sentence}"),
        ("searched", searched),
        ("verified", f"{cost.verifying} trainings, not counted in the budget"),
        ("one training", f"{cost.one_training:.1f} s of CPU time"),
        ("time", f"{cost.seconds:.0f} s"),
    ]
    if found.stand_in_data:
        facts.insert(
            0,
            ("data", f"made up in place of {', '.join(found.stand_in_data)}"),
        )
    return Facts("", tuple(facts))


def _judged(found: Repair) -> Iterator[Block]:
    name = found.judging.judge.name
    columns = (
        "decision",
        f"{name} before",
        "after",
        "p (signed rank)",
        "rank-biserial",
        "Cohen's d",
        "seeds",
        "change",
    )
    rows = []
    for one in found.verdicts:
        effect = one.comparison
        before = summary(one.before)
        after = summary(one.after)
        sizes = (
            f"{one.p_value:.2g}",
            f"{effect.rank_biserial:.2f}",
            f"{effect.cohen_d:.2f}",
        )
        cells = (
            one.decision.value,
            before,
            after,
            *sizes,
            str(len(one.seeds)),
            str(one.patch),
        )
        rows.append(
            Row(
                cells,
                tone="good" if one.decision.helps else "warning",
            )
        )
    yield Board("The test", columns, rows)
    unseen = [
        f"{one.patch}: not significant; {one.not_seen}." for one in found.verdicts if one.not_seen
    ]
    fallen = [f"{one.patch}: {one.shortfall}." for one in found.verdicts if one.shortfall]
    yield from listed([*unseen, *fallen])
    last = deciding(found.verdicts) or found.verdicts[-1]
    title = f"{name} over {len(last.seeds)} fresh seeds, a dot a seed"
    yield before_after_plot(title, last.before, last.after, name)


def _curves(found: Repair) -> Iterator[Picture]:
    """The judging metric and the losses, before and after."""
    wanted = [
        found.judging.search.name,
        "val_loss",
        "loss",
        "step_loss",
        *found.curves,
    ]
    for name in [one for one in dict.fromkeys(wanted) if one in found.curves][:MOST_CURVES]:
        pairs = zip(("unchanged", "changed"), found.curves[name], strict=True)
        drawn = [
            Curve(
                title,
                *zip(*points, strict=True),
            )
            for title, points in pairs
            if len(points) > 1
        ]
        if drawn:
            yield line_plot(name, drawn)


def _searched(
    looks: Sequence[Evaluation],
    judging: Judging | None,
) -> Iterator[Block]:
    """The best so far against what was spent, and the best looks: whole trainings, the best
    first.
    """
    sign = 1
    if judging is not None and not judging.search.larger_is_better:
        sign = -1
    name = judging.search.name if judging is not None else "score, larger is better"
    whole = [look for look in looks if look.share == 1]
    spent, best = best_so_far(whole, sign)
    if spent:
        known = (look for look in whole if math.isfinite(look.score))
        dots = [
            Curve(
                str(one.patch),
                [one.spent],
                [sign * one.score],
                group="a trial",
            )
            for one in known
        ]
        staircase = [Curve("best so far", spent, best), *dots]
        yield line_plot(
            f"Best so far: {name}",
            staircase,
            below="trainings' worth of CPU time spent",
        )
    surest = {str(look.patch): look for look in sorted(whole, key=lambda one: one.seeds)}
    rows = []
    for look in sorted(
        surest.values(),
        key=lambda one: -one.score,
    )[:SHOWN_LOOKS]:
        score = "failed"
        if math.isfinite(look.score):
            score = number(sign * look.score)
        rows.append(
            (
                score,
                str(look.seeds),
                f"{look.spent:.1f}",
                str(look.patch),
            )
        )
    sets = [
        (
            dict(map(_named_value, look.patch.changes)),
            look.score,
        )
        for look in whole
        if look.patch
    ]
    lines = [TrialLine(*one) for one in sets]
    if len(lines) > 1:
        yield trials_plot("Trials", lines, name, sign)
    if mattered := importance_plot(
        "Importance: share of the differences between trials (ranks)", lines
    ):
        yield mattered
    title = f"Best of {len(whole)} trials ({len(looks) - len(whole)} more ended early)"
    if rows:
        yield Table(
            title,
            (name, "seeds", "spent", "change"),
            tuple(rows),
        )


def _named_value(change: Change) -> tuple[str, float | str]:
    """What a change sets, and to what; what is put in or taken out has the word for it."""
    if isinstance(change, Insert):
        return (
            f"{change.layer} {'before' if change.before else 'after'} {_name(change.anchor)}",
            "put in",
        )
    if isinstance(change, Rewrite):
        return str(change), "rewritten"
    name = _name(change.hyperparameter)
    if isinstance(change, Remove):
        return name, "taken out"
    value = change.by if isinstance(change, Replace) else change.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return name, float(value)
    return name, str(value)


def _name(param: HyperparameterId) -> str:
    """In short: layer and kind."""
    return f"{param.layer} {param.kind.value}".strip()


def best_so_far(
    looks: Sequence[Evaluation],
    sign: int,
) -> tuple[list[float], list[float]]:
    """A staircase: each level holds until a better look."""
    spent = list[float]()
    best = list[float]()
    top = -math.inf
    known = [look for look in looks if math.isfinite(look.score)]
    for look in sorted(known, key=lambda one: one.spent):
        if best and look.score > top:
            spent.append(look.spent)
            best.append(best[-1])
        top = max(top, look.score)
        spent.append(look.spent)
        best.append(sign * top)
    return spent, best


def _cuts(cuts: Sequence[ReductionStep]) -> Board:
    rows = []
    for cut in cuts:
        verdict, tone = ("suffices", "good") if cut.suffices else ("too little", "")
        kept = "failed"
        if math.isfinite(cut.kept):
            kept = f"{100 * cut.kept:.0f} %".replace(
                "-0 %",
                "0 %",
            )
        rows.append(
            Row(
                (verdict, kept, str(cut.seeds), str(cut.patch)),
                tone,
            )
        )
    return Board("", ("", "of the gain", "seeds", "change"), rows)
