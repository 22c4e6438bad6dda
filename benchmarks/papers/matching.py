"""A fingerprint against the list made by hand, matched by sentence, parameter and value, without a
model.

A criterion covers what has its parameter and its value; where several have, those of the same
sentence. One that covers nothing so covers the one fact of its sentence that comes nearest: by
value, or for a rule by parameter. A rule alone in its sentence, and an equation, are one fact in
whatever words. A table or an algorithm holds many: being in the same one says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.papers.cases import HandMade
from reenact.intake.papers.paper import Algorithm, Equation, Paper, Table
from reenact.paper.criterion import Criterion
from reenact.paper.quantity import as_quantity, quantities

ENOUGH = 0.5
"""Share of words of the one that the other must have."""
_WORD = re.compile(r"[a-z]{2,}|\\[a-z]+")
_POWER = re.compile(r"\\times|\\cdot|\\%|[eE](?=[-+]?\d)")
_SILENT = frozenset(
    {
        "the",
        "and",
        "for",
        "with",
        "that",
        "this",
        "its",
        "are",
        "was",
        "all",
        "each",
        "every",
        "one",
        "per",
        "not",
        "into",
        "from",
        "than",
        "then",
        "when",
        "where",
        "which",
        "of",
        "in",
        "to",
        "is",
        "by",
        "at",
        "on",
        "or",
        "as",
        "an",
        "it",
        "be",
    }
)
"""Words that say nothing about a setting."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """How a fingerprint and the list made by hand fit."""

    must: int
    """Criteria that a fingerprint must have."""
    found: int
    """How many of them it has."""
    missed: tuple[str, ...]
    """Ids of the others."""
    taken: int
    """Criteria of the fingerprint."""
    right: int
    """How many of them are on the list."""
    extra: tuple[str, ...]
    """Ids of the others."""
    grounded: int
    """Criteria whose quote stands in the paper."""

    @property
    def recall(self) -> float | None:
        return self.found / self.must if self.must else None

    @property
    def precision(self) -> float | None:
        return self.right / self.taken if self.taken else None


def recalled(criteria: Sequence[Criterion], listed: Sequence[HandMade], paper: Paper) -> Recalled:
    """Recall over what must be there, precision over all that was taken."""
    covered = {one.id: covers(one, listed, paper) for one in criteria}
    known = {hand for hands in covered.values() for hand in hands}
    must = [hand for hand in listed if hand.must]
    return Recalled(
        must=len(must),
        found=sum(hand.id in known for hand in must),
        missed=tuple(hand.id for hand in must if hand.id not in known),
        taken=len(criteria),
        right=sum(bool(covered[one.id]) for one in criteria),
        extra=tuple(one.id for one in criteria if not covered[one.id]),
        grounded=sum(bool(paper.find(one.quote)) for one in criteria),
    )


def covers(one: Criterion, listed: Sequence[HandMade], paper: Paper) -> tuple[str, ...]:
    """Ids of what a criterion says of the list."""
    fits = [(hand, _fit(one, hand, paper)) for hand in listed]
    strong = [(hand, fit) for hand, fit in fits if fit.parameter >= ENOUGH and fit.value]
    beside = [hand for hand, fit in strong if fit.shared]
    if strong:
        return tuple(hand.id for hand in beside or [hand for hand, _ in strong])
    beside = [hand for hand, fit in fits if fit.shared]
    weak = [
        (fit.nearness, hand)
        for hand, fit in fits
        if fit.is_near or (fit.is_rule and beside == [hand])
    ]
    best = max((nearness for nearness, _ in weak), default=None)
    return tuple(hand.id for nearness, hand in weak if nearness == best)[:1]


@dataclass(frozen=True, slots=True)
class _Fit:
    """How a criterion and a fact of the list go together."""

    shared: bool
    """They stand in the same sentence or equation."""
    equation: bool
    parameter: float
    """Share of the parameter's words that the criterion has."""
    value: bool
    number: bool
    """The value is a plain number: another one is another fact."""

    @property
    def is_near(self) -> bool:
        named = self.value or (self.parameter >= ENOUGH and not self.number)
        return self.shared and (named or self.equation)

    @property
    def is_rule(self) -> bool:
        """A rule that stands alone in its sentence is what is stated in that sentence, in
        whatever words.
        """
        return self.shared and not self.number

    @property
    def nearness(self) -> tuple[bool, float]:
        return self.value, self.parameter


def _fit(one: Criterion, hand: HandMade, paper: Paper) -> _Fit:
    shared = [paper.by_id.get(place) for place in hand.places(paper) & set(one.places)]
    small = [block for block in shared if not isinstance(block, Table | Algorithm)]
    subject = f"{one.fact} {one.check.subject if one.check else ''} {one.scope}"
    value = f"{one.check.value if one.check else ''} {one.fact}"
    return _Fit(
        shared=bool(small),
        equation=any(isinstance(block, Equation) for block in small),
        parameter=_share(hand.parameter, subject),
        value=_states(value, hand.value),
        number=_is_number(hand.value),
    )


def _is_number(value: str) -> bool:
    return as_quantity(value) is not None and (
        value.isalpha() or not re.search(r"[A-Za-z]", _POWER.sub("", value))
    )


def _states(text: str, value: str) -> bool:
    """The same number however it is written, all the numbers of a rule, or enough of its words."""
    stated = quantities(text)
    wanted = as_quantity(value)
    if wanted is not None and _is_number(value):
        return any(wanted.equals(one) for one in stated)
    numbers = quantities(value)
    if numbers and not all(any(number.equals(one) for one in stated) for number in numbers):
        return False
    return _share(value, text) >= ENOUGH or (bool(numbers) and not _words(value))


def _share(wanted: str, text: str) -> float:
    """Share of the words that are there."""
    words = _words(wanted)
    return len(words & _words(text)) / len(words) if words else 0.0


def _words(text: str) -> frozenset[str]:
    found = _WORD.findall(text.casefold().replace("-", ""))
    return frozenset(_stem(word) for word in found if word not in _SILENT)


def _stem(word: str) -> str:
    """Without the endings that two variants to say a thing differ in."""
    for ending in (
        "isation",
        "ization",
        "ising",
        "izing",
        "ised",
        "ized",
        "ise",
        "ize",
        "ing",
        "ed",
        "es",
        "s",
    ):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending).rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word
