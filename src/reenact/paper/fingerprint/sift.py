"""Proposed facts -> grounded items, and what was dropped on the way."""

from __future__ import annotations

from collections.abc import Iterable

from reenact.intake.papers.paper import Paper
from reenact.paper.criterion import Category, Level
from reenact.paper.fingerprint.answers import Guide, Proposed
from reenact.paper.fingerprint.checks import checked
from reenact.paper.fingerprint.fingerprint import Dropped, Item, shortened
from reenact.paper.fingerprint.ground import ground, rests_on_formula
from reenact.paper.fingerprint.keep import refused

EVERYWHERE = "the whole method"
"""The scope of a fact that names none."""


def sifted(proposed: Iterable[Proposed], level: Level, paper: Paper) -> tuple[list[Item], list[Dropped]]:
    """Items whose quote is in the paper and that can be criteria; the others with their reason."""
    items, dropped = [], []
    for one in proposed:
        found = _item(one, level, paper)
        if isinstance(found, Item):
            items.append(found)
        else:
            dropped.append(Dropped(shortened(one.fact), level, found, shortened(one.quote)))
    return items, dropped


def objections(guide: Guide, paper: Paper) -> list[str]:
    """Facts that are not grounded, in words for the model."""
    found = ((one, ground(paper, one.quote, one.places)) for one in guide.items)
    return [
        f"{shortened(one.fact, 100)!r}: {why} (quote {shortened(one.quote, 100)!r})"
        for one, why in found
        if isinstance(why, str)
    ]


def _item(one: Proposed, level: Level, paper: Paper) -> Item | str:
    if why := refused(one):
        return why
    grounds = ground(paper, one.quote, one.places)
    if isinstance(grounds, str):
        return grounds
    whole = rests_on_formula(paper, grounds.places)
    return Item(
        fact=" ".join(one.fact.split()),
        scope=" ".join(one.scope.split()) or EVERYWHERE,
        quote=grounds.quote,
        places=grounds.places,
        level=level,
        category=Category(one.sort.value),
        weight=one.weight,
        check=checked(one.check, grounds.quote, whole=whole),
        whole=whole,
    )
