"""What every strategy does, and which there are; and a board of changes with what was seen of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from reenact.errors import InputError

if TYPE_CHECKING:
    from reenact.program.patch import Patch
    from reenact.repairs.search_context import SearchContext

_SHARED = ("__init__", "strategy", "ideas")
"""Files of this folder that are not a strategy."""


def _of_files() -> dict[str, str]:
    """A strategy is a file of its name here, whose `STRATEGY` is its class; nothing is imported."""
    files = sorted(file.stem for file in Path(__file__).parent.glob("*.py"))
    return {
        stem.replace("_", "-"): f"{__package__}.{stem}:STRATEGY"
        for stem in files
        if stem not in _SHARED
    }


BUILT_IN = _of_files()
GROUP = "reenact.strategies"


class Strategy(Protocol):
    """Looks for changes that help."""

    name: str

    def search(self, context: SearchContext) -> list[Patch]:
        """Changes worth verifying, the best first; empty when nothing helped.

        Stays within `context.within_budget`; leaves `context.reserve` untouched.
        """


def strategy(name: str) -> Strategy:
    """The strategy of this name, ours or one that an installed package brings."""
    plugins = {found.name: found for found in entry_points(group=GROUP)}
    known = plugins | {one: EntryPoint(one, value, GROUP) for one, value in BUILT_IN.items()}
    if name not in known:
        there = ", ".join(sorted(known))
        raise InputError(f"There is no strategy of this name; there are {there}. Received: {name}.")
    made: Strategy = known[name].load()()
    return made


@dataclass
class Scoreboard:
    """Scores of changes, larger is better."""

    ideas: Sequence[Patch] = ()
    """The most promising first: the order of equal ones."""
    _known: dict[str, tuple[Patch, float]] = field(default_factory=dict)

    def add(self, patches: Sequence[Patch], scores: Sequence[float]) -> None:
        self._known |= {_key(one): (one, score) for one, score in zip(patches, scores, strict=True)}

    def clear(self) -> None:
        """Forget all scores, which were of another seed."""
        self._known.clear()

    def __contains__(self, patch: Patch) -> bool:
        return _key(patch) in self._known

    def __iter__(self) -> Iterator[tuple[Patch, float]]:
        """The best first, of equal ones the smallest, of these the more promising."""

        def order(pair: tuple[Patch, float]) -> tuple[float, int, int]:
            return (
                -pair[1],
                pair[0].complexity,
                self.rank(pair[0]),
            )

        return iter(sorted(self._known.values(), key=order))

    def rank(self, patch: Patch) -> int:
        """How promising it was before it was tried: 0 the most."""
        key = _key(patch)
        for at, one in enumerate(self.ideas):
            if _key(one) == key:
                return at
        return len(self.ideas)

    def score(self, patch: Patch, otherwise: float) -> float:
        return self._known.get(
            _key(patch),
            (patch, otherwise),
        )[1]

    def best(self, base: float) -> Patch | None:
        """The best, when it is better than the unchanged program."""
        patch, score = next(iter(self), (None, base))
        return patch if score > base else None

    def worth_verifying(
        self,
        base: float,
        better: Callable[[float, float], bool],
    ) -> list[Patch]:
        """The best, when it is better than the unchanged program by enough to matter."""
        best = self.best(base)
        if best is not None and better(base, self.score(best, base)):
            return [best]
        return []


def once(patches: Sequence[Patch]) -> list[Patch]:
    """Each change once, in order."""
    return list({_key(one): one for one in reversed(patches)}.values())[::-1]


def _key(patch: Patch) -> str:
    return "\n".join(sorted(map(str, patch.changes)))
