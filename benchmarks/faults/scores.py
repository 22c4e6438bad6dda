"""How right is an answer? Recall, precision and F3 against one ground truth or the best of several.

After section 5.3.4 of "Fault Localisation and Repair for DL Systems": a ground truth is a set of faults, each
a type with the layers it may be seen at; an answer is a set of (type, layer). Missing, wrong and redundant
activations are one family, as in the study. Two things are stricter here: an answer that names right and
wrong layers for one type is charged for the wrong ones, and of several ground truths one, the best by F3,
gives all three scores (the study takes the best recall and averages the rest).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import TypeAlias

from reenact.errors import InputError
from reenact.faults.fault_type import FaultType

BETA = 3
FAMILY = {FaultType.ARM: FaultType.ACH, FaultType.AAL: FaultType.ACH}
"""Types that the study scores as one."""
NO_ANSWER = ("", "-", "N/A")
_ENTRY = re.compile(r"([A-Z]{3}(?:\|[A-Z]{3})*)(?:\(([\d, ]+)\))?")

Answer: TypeAlias = frozenset[tuple[FaultType, int | None]]
"""What a detector says of one program: fault types, each with a layer index or none."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One fault of a ground truth: any of these types, at any of these layers."""

    faults: frozenset[FaultType]
    layers: frozenset[int] = frozenset()
    """Empty where the fault belongs to no layer."""

    def __str__(self) -> str:
        types = "|".join(sorted(self.faults))
        return f"{types}({','.join(map(str, sorted(self.layers)))})" if self.layers else types


Truth: TypeAlias = tuple[Spot, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Recall, precision and F3 of one answer, or their means."""

    recall: float
    precision: float
    f3: float


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer against the known ground truth, and against the best of all."""

    before: Score
    after: Score
    truth: Truth
    """The ground truth that `after` was taken against."""


@cache
def score(answer: Answer, truth: Truth, *, layers: bool = True) -> Score:
    """Equations 1-3; `layers` is false for tools that name none, whose types alone are compared."""
    if not truth:
        raise InputError("A ground truth without a fault cannot be scored against.")
    pairs = frozenset((FAMILY.get(fault, fault), layer) for fault, layer in answer)
    found = sum(any(_agrees(pair, spot, layers) for pair in pairs) for spot in truth)
    agreeing: dict[FaultType, set[bool]] = {}
    for pair in pairs:
        agreeing.setdefault(pair[0], set()).add(any(_agrees(pair, spot, layers) for spot in truth))
    right = sum(True in answers for answers in agreeing.values())
    entries = sum(map(len, agreeing.values()))
    return _made(found / len(truth), right / entries if entries else 0.0)


def judge(
    answer: Answer,
    known: Truth,
    alternatives: Sequence[Truth] = (),
    *,
    layers: bool = True,
) -> Judged:
    """Scores before and after alternatives: the best truth by F3, the known one when none is
    better.
    """
    before = score(answer, known, layers=layers)
    candidates = [(score(answer, truth, layers=layers), truth) for truth in alternatives]
    after, truth = max(
        [(before, known), *candidates], key=lambda pair: (pair[0].f3, pair[0].recall)
    )
    return Judged(before, after, truth)


def judge_as_published(
    answer: Answer, known: Truth, alternatives: Sequence[Truth], *, layers: bool = True
) -> Score:
    """The study's own way: the highest recall, precision and F3 averaged over the truths that
    reach it.
    """
    scores = [score(answer, truth, layers=layers) for truth in (known, *alternatives)]
    most = max(one.recall for one in scores)
    return mean_score(one for one in scores if one.recall == most)


def mean_score(scores: Iterable[Score]) -> Score:
    """The mean of each of the three."""
    listed = list(scores)
    if not listed:
        raise InputError("The mean of no scores was asked for.")
    return Score(
        fmean(one.recall for one in listed),
        fmean(one.precision for one in listed),
        fmean(one.f3 for one in listed),
    )


def parse_truth(text: str) -> Truth:
    """`OCH, ACH(0,1), LRM|LAD(5)` as a ground truth: one fault an entry."""
    return tuple(
        Spot(frozenset(FAMILY.get(fault, fault) for fault in faults), frozenset(layers))
        for faults, layers in _entries(text)
    )


def parse_answer(text: str) -> Answer:
    """`ACH(0,1), HLR` as an answer; `-` and `N/A` are the empty one."""
    if text.strip() in NO_ANSWER:
        return frozenset()
    return frozenset(
        (fault, layer)
        for faults, layers in _entries(text)
        for fault in faults
        for layer in layers or (None,)
    )


def _entries(text: str) -> list[tuple[list[FaultType], list[int]]]:
    compact = re.sub(r"\s*\|\s*", "|", text)
    rest = _ENTRY.sub("", compact).replace(",", "").replace("|", "").strip()
    if rest:
        raise InputError(f"Faults are written like `OCH, ACH(0,1)`. Received: {text!r}.")
    return [
        (
            [FaultType(code) for code in found[1].split("|")],
            [int(part) for part in (found[2] or "").split(",") if part.strip()],
        )
        for found in _ENTRY.finditer(compact)
    ]


def _agrees(pair: tuple[FaultType, int | None], spot: Spot, layers: bool) -> bool:
    fault, layer = pair
    return fault in spot.faults and (not layers or not spot.layers or layer in spot.layers)


def _made(recall: float, precision: float) -> Score:
    weight = BETA**2
    below = weight * precision + recall
    return Score(recall, precision, (1 + weight) * precision * recall / below if below else 0.0)
