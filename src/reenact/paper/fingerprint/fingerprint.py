"""What a fingerprint is: criteria in the order of the paper, and what was dropped with its reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reenact.paper.criterion import Category, Check, Criterion, Level
from reenact.result import Result


@dataclass(frozen=True, slots=True)
class Item:
    """A fact on its way to become a criterion: grounded already, not yet told apart from the others."""

    fact: str
    scope: str
    quote: str
    places: tuple[str, ...]
    level: Level
    category: Category
    weight: int
    check: Check | None = None
    whole: bool = False
    """Rests on an equation or algorithm, and is not taken apart."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something proposed that is no criterion."""

    fact: str
    level: Level
    reason: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Fingerprint(Result):
    """The criteria of one paper."""

    criteria: tuple[Criterion, ...]
    dropped: tuple[Dropped, ...]

    def text(self) -> str:
        """The criteria as a model sees them."""
        return "\n".join(told(one) for one in self.criteria)


def told(one: Criterion) -> str:
    """One criterion as a line."""
    return f"{one.id} (weight {one.weight}) {one.fact} | scope: {one.scope} | the paper: {one.quote!r}"


def shortened(text: str, most: int = 160) -> str:
    """A text on one line, cut in the middle of nothing."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 3]}..."


def numbered(items: Iterable[Item], order: dict[str, int]) -> tuple[Criterion, ...]:
    """Criteria F1, F2, ... in the order of the paper."""
    ordered = sorted(items, key=lambda one: min(order[place] for place in one.places))
    return tuple(
        Criterion(
            id=f"F{number}",
            fact=one.fact,
            scope=one.scope,
            quote=one.quote,
            places=one.places,
            level=one.level,
            category=one.category,
            weight=one.weight,
            check=one.check,
        )
        for number, one in enumerate(ordered, start=1)
    )
