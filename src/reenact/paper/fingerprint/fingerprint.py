"""A fingerprint: criteria in the order of the paper, and what was dropped with its reason.

A model proposes facts; kept are grounded ones, not results, with checks that hold.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, fields
from enum import StrEnum

from pydantic import BaseModel, Field

from reenact.intake.papers.paper import Paper
from reenact.llm.ask import bounded
from reenact.paper.criterion import Category, Criterion, CriterionCheck, Kind, Level
from reenact.paper.fingerprint.expression import Misfit, parsed
from reenact.paper.fingerprint.vocabulary import SECTIONS, named
from reenact.paper.grounding import ground, rests_on_formula
from reenact.paper.quantity import quantities, states
from reenact.result import Result

MOST_ITEMS = 200
_NUMBERS = re.compile(r"\d+")
LONGEST_VALUE = 60
"""Characters; a longer value is a description, which no program finds."""
_OUTCOME = re.compile(
    r"(?is)\b(?:achiev|attain|obtain|reach|improv|gain|reduc)\w*\b.{0,80}"
    r"\b(?:accuracy|error|score|f1|auc|perplexity|bleu|rmse|mae|performance)\b"
)
_CONDITION = re.compile(r"\b(?:stop\w*|until|when|once|if|unless|after|before)\b", re.IGNORECASE)
"""A rule of training may speak of an outcome without being one."""
_BETTER = re.compile(
    r"\b(?:outperform\w*|surpass\w*|state.of.the.art (?:results?|performance))\b", re.I
)
_ORDER = re.compile(
    r"(?is)\b(?:ignore|disregard|forget)\b.{0,15}\b(?:all|any|previous|prior|above|your|these|other)\b"
    r".{0,30}\b(?:instructions?|prompts?|rules?|criteri\w+)\b"
    r"|\b(?:mark|judge|grade|score|rate|count|treat)\b.{0,40}\b(?:criteri\w+|checks?|requirements?|rubrics?)\b"
    r".{0,40}\b(?:pass\w*|correct|fulfilled|satisfied)\b"
    r"|\b(?:criteri\w+|checks?|requirements?|rubrics?)\b.{0,20}\b(?:is|are|be)\b.{0,10}"
    r"\b(?:marked|judged|graded|scored|rated|counted|treated)\b"
)
EVERYWHERE = "the whole method"
"""The scope of a fact that names none."""


@dataclass(frozen=True, slots=True)
class Item(Criterion):
    """A fact on its way to become a criterion: grounded already, not yet compared or numbered."""

    whole: bool = False
    """Rests on an equation or algorithm, and is not taken apart."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something proposed that is not a criterion."""

    fact: str
    level: Level
    reason: str
    quote: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Fingerprint(Result):
    """The criteria of one paper."""

    criteria: tuple[Criterion, ...]
    dropped: tuple[Dropped, ...]

    def in_a_line(self) -> str:
        return f"{len(self.criteria)} criteria, {len(self.dropped)} dropped"


def shortened(text: str, most: int = 160) -> str:
    """A text on one line, cut in the middle of nothing."""
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat
    return f"{flat[: most - 3]}..."


def numbered(
    items: Iterable[Item],
    order: dict[str, int],
) -> tuple[Criterion, ...]:
    """Criteria F1, F2, ... in the order of the paper."""
    ordered = sorted(
        items,
        key=lambda one: min(order[place] for place in one.places),
    )
    names = [field.name for field in fields(Criterion)][1:]
    values = ([getattr(one, name) for name in names] for one in ordered)
    return tuple(Criterion(f"F{number}", *each) for number, each in enumerate(values, start=1))


class Sort(StrEnum):
    """What a proposed fact is; the last two are no criteria."""

    ACTION = "action"
    """Something the code must do."""
    SETUP = "setup"
    """Something the data, the model or the experiment must be set to."""
    VERIFICATION = "verification"
    """How the outcome must be measured."""
    RESULT = "result"
    """What came out."""
    CLAIM = "claim"
    """A judgement, motivation, comparison or promise."""


class ProposedCheck(BaseModel):
    """What a program could look for."""

    kind: Kind
    subject: str = Field(max_length=120, description="Name of the parameter, layer or thing.")
    value: str = Field(max_length=200, description="Its value as the paper writes it.")
    expression: str = bounded(
        400,
        "For a formula: Python over numpy as np, free names are the inputs. Else empty.",
        default="",
    )


class Proposed(BaseModel):
    """One fact."""

    fact: str = Field(min_length=1, max_length=1500, description="What must hold, as one sentence.")
    scope: str = Field(default="", max_length=300, description="Where it holds.")
    quote: str = bounded(
        3000, "Words of the paper it rests on, exactly as they stand.", min_length=1
    )
    places: list[str] = Field(
        max_length=20, description="Ids of the sentences or blocks that are quoted."
    )
    sort: Sort
    weight: int = Field(default=1, ge=1, le=3)
    check: ProposedCheck | None = None


class Guide(BaseModel):
    """Facts of a paper."""

    items: list[Proposed] = Field(max_length=MOST_ITEMS)


class Atom(BaseModel):
    """One part of a compound fact."""

    fact: str = Field(
        min_length=1,
        max_length=800,
        description="One thing, as a sentence that stands alone.",
    )
    scope: str = Field(default="", max_length=300)
    check: ProposedCheck | None = None


class Split(BaseModel):
    """One fact taken apart."""

    number: int = Field(description="Number of the fact.")
    atoms: list[Atom] = Field(max_length=20)


class Splits(BaseModel):
    """All facts taken apart."""

    facts: list[Split] = Field(max_length=MOST_ITEMS)


def checked(
    proposed: ProposedCheck | None,
    quote: str,
    *,
    whole: bool,
) -> CriterionCheck | None:
    """The check, when its value stands in the quote; none when it does not."""
    if proposed is None:
        return None
    subject = " ".join(proposed.subject.split())
    value = " ".join(proposed.value.split()).strip("$ ")
    if proposed.kind is Kind.FORMULA:
        # It needs a formula in the paper, and an expression that can be computed.
        if whole or "$" in quote or "=" in quote:
            with suppress(Misfit):
                parsed(proposed.expression)
                return CriterionCheck(
                    Kind.FORMULA,
                    subject or "formula",
                    value,
                    proposed.expression.strip(),
                )
        return None
    if (
        not subject
        or not value
        or len(value) > LONGEST_VALUE
        or not _borne(proposed.kind, value, quote)
    ):
        return None
    return CriterionCheck(proposed.kind, subject, value)


def _borne(kind: Kind, value: str, quote: str) -> bool:
    if kind is Kind.SHAPE:
        sizes = _NUMBERS.findall(value)
        there = _NUMBERS.findall(quote)
        return bool(sizes) and all(size in there for size in sizes)
    ours = ""
    if kind in SECTIONS:
        ours = named(kind, value)
    return states(quote, value) or (bool(ours) and ours == named(kind, quote))


def refused(one: Proposed) -> str:
    """Why this is not a criterion; empty when it may be one."""
    if one.sort is Sort.RESULT:
        return "it is a result"
    if one.sort is Sort.CLAIM:
        return "it is a claim, not something that code can show"
    outcome = _OUTCOME.search(one.fact) and quantities(one.fact) and not _CONDITION.search(one.fact)
    if outcome or _BETTER.search(one.fact):
        return "it states how well something did"
    if _ORDER.search(one.fact) or _ORDER.search(one.quote):
        return "it speaks to anyone who reads or judges, not about the method"
    return ""


def sifted(
    proposed: Iterable[Proposed], level: Level, paper: Paper
) -> tuple[list[Item], list[Dropped]]:
    """Items whose quote is in the paper and that can be criteria; the others with their reason."""
    items = []
    dropped = []
    for one in proposed:
        found = refused(one) or ground(paper, one.quote, one.places)
        if isinstance(found, str):
            dropped.append(
                Dropped(
                    shortened(one.fact),
                    level,
                    found,
                    shortened(one.quote),
                )
            )
            continue
        quote, places = found
        whole = rests_on_formula(paper, places)
        category = Category(one.sort.value)
        fact = " ".join(one.fact.split())
        scope = " ".join(one.scope.split()) or EVERYWHERE
        check = checked(one.check, quote, whole=whole)
        items.append(
            Item(
                "",
                fact,
                scope,
                quote,
                places,
                level,
                category,
                one.weight,
                check,
                whole,
            )
        )
    return items, dropped


def objections(guide: Guide, paper: Paper) -> list[str]:
    """Facts that are not grounded, in words for the model."""
    bad = [
        (one, why)
        for one in guide.items
        if isinstance(why := ground(paper, one.quote, one.places), str)
    ]
    return [
        f"{shortened(one.fact, 100)!r}: {why} (quote {shortened(one.quote, 100)!r})"
        for one, why in bad
    ]
