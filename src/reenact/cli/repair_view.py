"""What a repair looks like on a page: the verdict, the diff, before and after, how it was found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from reenact.cli.watch_view import sparkline
from reenact.repairs.search_context import Evaluation
from reenact.repairs.verdict import Repair, Verdict, summary
from reenact.report.sheet import Block, Facts, Picture, Sheet, Text
from reenact.report.svg import number
from reenact.report.svg_lines import Curve as Drawn
from reenact.report.svg_lines import lines
from reenact.report.svg_strips import Strip, strips
from reenact.types import Table

MOST_CURVES = 3
SHOWN_LOOKS = 12
SAID = {True: "suffices", False: "too little"}


def repair_sheet(found: Repair, title: str, where: str = "") -> Sheet:
    """The whole answer."""
    blocks: list[Block] = []
    if found.diff:
        blocks.append(Text(found.diff.rstrip("\n"), "The change", is_diff=True))
    if where:
        blocks.append(Text(where))
    blocks += [*_judged(found), *_curves(found), _search(found)]
    if found.cuts:
        blocks.append(_cuts(found))
    if found.why:
        blocks.append(Text("\n".join(found.why), "What the diagnosis accused"))
    if found.notes:
        blocks.append(Text("\n".join(found.notes), "To know"))
    return Sheet(
        kind="repair",
        title=f"Repair of {title}",
        verdict=found.sentence,
        blocks=(_facts(found), *blocks),
        data=found.to_json(),
        reused=found.reused,
        exit_code=found.decision.exit_code,
    )


def _facts(found: Repair) -> Facts:
    cost, judging = found.cost, found.judging
    facts = {
        "strategy": found.strategy,
        "judged by": f"{judging.judge.name}; {judging.sentence}",
        "searched": f"{cost.trainings} trainings, {cost.spent:.1f} times one of the program as it stands",
        "verified": f"{cost.verifying} trainings, not counted in the budget",
        "time": f"{cost.seconds:.0f} s",
    }
    return Facts("", tuple(facts.items()))


def _judged(found: Repair) -> Iterator[Block]:
    for told in found.verdicts:
        rows = (
            ("as it stands", summary(told.before), _range(told.before)),
            ("changed", summary(told.after), _range(told.after)),
        )
        yield Table(_title(told), ("program", found.judging.judge.name, "from .. to"), rows)
    last = found.verdict
    if last is not None:
        samples = [Strip("as it stands", last.before), Strip("changed", last.after)]
        label = f"{found.judging.judge.name} over {len(last.seeds)} seeds"
        alt = f"{summary(last.before)} -> {summary(last.after)}"
        yield Picture("Before and after, a dot a seed", strips(samples, label, below=label), alt)


def _title(told: Verdict) -> str:
    effect = told.comparison
    size = "" if math.isinf(effect.cohen_d) else f", Cohen's d {effect.cohen_d:.2f}"
    return (
        f"{len(told.seeds)} fresh seeds: {told.decision.value}"
        f" (signed-rank p={told.p_value:.2g}, rank-biserial {effect.rank_biserial:.2f}{size})"
    )


def _range(values: Sequence[float]) -> str:
    known = [value for value in values if math.isfinite(value)]
    return f"{number(min(known))} .. {number(max(known))}" if known else "-"


def _curves(found: Repair) -> Iterator[Picture]:
    """The judging metric and the losses, before and after."""
    wanted = [found.judging.search.name, "val_loss", "loss", "step_loss"]
    names = [name for name in dict.fromkeys(wanted) if name in found.curves][:MOST_CURVES]
    for name in names:
        pairs = zip(("as it stands", "changed"), found.curves[name], strict=True)
        drawn = [
            Drawn(title, *map(list, zip(*curve, strict=True))) for title, curve in pairs if len(curve) > 1
        ]
        if drawn:
            told = "\n".join(
                f"{one.name:14} {sparkline(list(one.values))}  {number(one.values[-1])}" for one in drawn
            )
            yield Picture(f"{name}, one seed", lines(drawn, f"{name} before and after"), told)


def _search(found: Repair) -> Table:
    """The looks that counted: whole trainings, the best first."""
    whole = [look for look in found.looks if look.share == 1]
    best: dict[str, Evaluation] = {}
    for look in sorted(whole, key=lambda one: one.seeds):
        best[str(look.patch)] = look
    order = sorted(best.values(), key=lambda one: -one.score)
    rows = [
        (_score(look, found), str(look.seeds), f"{look.spent:.1f}", str(look.patch))
        for look in order[:SHOWN_LOOKS]
    ]
    short = len(found.looks) - len(whole)
    title = f"Search: {len(whole)} whole and {short} short looks; the best"
    return Table(title, (found.judging.search.name, "seeds", "spent", "change"), tuple(rows))


def _score(look: Evaluation, found: Repair) -> str:
    if not math.isfinite(look.score):
        return "failed"
    return number(look.score if found.judging.search.larger_is_better else -look.score)


def _cuts(found: Repair) -> Table:
    rows = [
        (
            f"{100 * cut.kept:.0f} %",
            str(cut.seeds),
            "suffices" if cut.suffices else "too little",
            str(cut.patch),
        )
        for cut in found.cuts
    ]
    return Table("Smaller changes that were tried", ("of the gain", "seeds", "", "change"), tuple(rows))
