"""A proposed check is taken only where the paper's words bear it; without a check, a judge reads the code."""

from __future__ import annotations

import re

from reenact.paper.criterion import Check, Kind
from reenact.paper.fingerprint.answers import ProposedCheck
from reenact.paper.fingerprint.expression import Misfit, parsed
from reenact.paper.fingerprint.vocabulary import SECTIONS, named
from reenact.paper.quantity import states

_NUMBERS = re.compile(r"\d+")
LONGEST_VALUE = 60
"""Characters; a longer value is a description, which no program finds."""


def checked(proposed: ProposedCheck | None, quote: str, *, whole: bool) -> Check | None:
    """The check, when its value stands in the quote; none when it does not."""
    if proposed is None:
        return None
    subject, value = " ".join(proposed.subject.split()), " ".join(proposed.value.split()).strip("$ ")
    if proposed.kind is Kind.FORMULA:
        return _formula(proposed, subject, value, quote, whole=whole)
    if not subject or not value or len(value) > LONGEST_VALUE or not _borne(proposed.kind, value, quote):
        return None
    return Check(proposed.kind, subject, value)


def _borne(kind: Kind, value: str, quote: str) -> bool:
    if kind is Kind.SHAPE:
        sizes, there = _NUMBERS.findall(value), _NUMBERS.findall(quote)
        return bool(sizes) and all(size in there for size in sizes)
    if states(quote, value):
        return True
    if kind not in SECTIONS:
        return False
    ours = named(kind, value)
    return bool(ours) and ours == named(kind, quote)


def _formula(proposed: ProposedCheck, subject: str, value: str, quote: str, *, whole: bool) -> Check | None:
    """A formula needs one in the paper, and an expression that can be computed."""
    if not whole and "$" not in quote and "=" not in quote:
        return None
    try:
        parsed(proposed.expression)
    except Misfit:
        return None
    return Check(Kind.FORMULA, subject or "formula", value, proposed.expression.strip())
