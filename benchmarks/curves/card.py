"""What the rule loses and saves on the kept curves; its constants are chosen on one half of the
programs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import product

from benchmarks.curves.kept import KeptStart
from benchmarks.curves.replay import Replayed, Rule, replay
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.share import Share

MOST_LOST = 0.02
LEAST_WINNERS = 200
ALLOWED = 0.01
"""Share of the winners of the tune half that chosen constants may lose."""
GRID = {
    "earliest": (0.2, 0.3, 0.4, 0.5),
    "behind": (0.1, 0.25, 0.5, 1.0),
    "late": (0.5, 0.6, 0.7, 0.8, 2.0),
    "faster": (2.0, 3.0, 5.0),
}
"""Values that were tried for the constants of the rule."""
SHOWN = 12
"""Rows of the table of constants."""


def scorecard(kept: Sequence[KeptStart], *, tune: bool = False) -> Scorecard:
    """The rule as it stands on both halves; `tune`: other constants beside it."""
    halves = {half: [one for one in kept if one.half == half] for half in ("tune", "confirm")}
    found = {half: replay(starts, Rule()) for half, starts in halves.items()}
    three = {half: replay(starts, Rule(seeds=3)) for half, starts in halves.items()}
    both = [one for half in found.values() for one in half]
    lost, saved = lost_share(both), saved_share(both)
    confirm = lost_share(found["confirm"])
    enough = (lost.whole or 0) >= LEAST_WINNERS
    return Scorecard(
        name="curves",
        cases=hashlib.sha256(repr(kept).encode()).hexdigest(),
        figures=f"{lost.part} of {lost.whole} winners lost, {saved:.0%} of the training time saved",
        goals=(
            Goal("winners", f">= {LEAST_WINNERS}", str(lost.whole), enough),
            Goal("winners lost", f"<= {MOST_LOST:.0%}", _shown(lost), _met(lost)),
            Goal(
                "winners lost, confirm half",
                f"<= {MOST_LOST:.0%}",
                _shown(confirm),
                _met(confirm),
            ),
        ),
        tables=(
            _halves(found, three),
            _lost(both),
            *([_constants(halves["tune"], halves["confirm"])] if tune else []),
        ),
        measured={
            "lost": lost,
            "lost_confirm": confirm,
            "saved": Figure("share of the training time of changes that is saved", saved, digits=3),
        },
        facts={
            "programs": len({one.group for one in kept}),
            "faulty": len(kept),
            "changes": len(both),
        },
    )


def lost_share(found: Sequence[Replayed]) -> Figure:
    """Of the winners, those that the rule would have ended with at least one seed."""
    winners = [one for one in found if one.winner]
    share = Share(sum(one.lost for one in winners), len(winners))
    low, high = share.interval
    value = share.value if winners else None
    return Figure("share of winners lost", value, low, high, share.part, share.whole, digits=3)


def saved_share(found: Sequence[Replayed]) -> float:
    whole = sum(one.cpu_seconds for one in found)
    return sum(one.saved for one in found) / whole if whole else 0.0


def _shown(lost: Figure) -> str:
    return f"{lost:count} ({lost:interval})"


def _met(lost: Figure) -> bool | None:
    return None if lost.value is None else lost.value <= MOST_LOST


def _halves(one: dict[str, list[Replayed]], three: dict[str, list[Replayed]]) -> Table:
    rows = []
    for seeds, found in (("1", one), ("3", three)):
        for half, replayed in found.items():
            lost = lost_share(replayed)
            ended = sum(share is not None for each in replayed for share in each.ended)
            count = sum(len(each.ended) for each in replayed)
            rows.append(
                (
                    half,
                    seeds,
                    f"{lost:count}",
                    f"{lost:interval}",
                    f"{ended} of {count}",
                    f"{saved_share(replayed):.1%}",
                )
            )
    heads = (
        "half",
        "seeds of the program as it stands",
        "winners lost",
        "95 % interval",
        "trainings ended",
        "time saved",
    )
    return Table("The rule on both halves of the programs", heads, tuple(rows))


def _lost(found: Sequence[Replayed]) -> Table:
    """Every winner that was lost, by name."""
    rows = [
        (
            one.start.name,
            one.change.patch[:80],
            one.start.watched or "step loss",
            ", ".join("-" if share is None else f"{share:.0%}" for share in one.ended),
        )
        for one in found
        if one.lost
    ]
    return Table("Winners lost", ("program", "change", "watched", "ended at"), tuple(rows[:40]))


def _constants(tune: Sequence[KeptStart], confirm: Sequence[KeptStart]) -> Table:
    """The constants that save most on the tune half and lose at most one winner of a hundred there;
    what they do on the other half.
    """
    tried = []
    for values in product(*GRID.values()):
        constants = dict(zip(GRID, values, strict=True))
        replayed = replay(tune, Rule(constants=constants))
        if (lost_share(replayed).value or 0.0) <= ALLOWED:
            tried.append((saved_share(replayed), constants, lost_share(replayed)))
    tried.sort(key=lambda one: -one[0])
    rows = []
    for saved, constants, lost in tried[:SHOWN]:
        other = replay(confirm, Rule(constants=constants))
        rows.append(
            (
                *(f"{value:g}" for value in constants.values()),
                f"{lost:count}",
                f"{saved:.1%}",
                f"{lost_share(other):count}",
                f"{saved_share(other):.1%}",
            )
        )
    heads = (*GRID, "lost, tune", "saved, tune", "lost, confirm", "saved, confirm")
    return Table(
        "Constants that do best on the tune half, where a metric is watched",
        heads,
        tuple(rows),
    )
