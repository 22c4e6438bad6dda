"""What is no criterion: results, claims, and orders to whoever reads.

RePro keeps what can be acted on, set up or verified; the last rule is against papers that speak to machines.
"""

from __future__ import annotations

import re

from reenact.paper.fingerprint.answers import Proposed, Sort
from reenact.paper.quantity import quantities

_OUTCOME = re.compile(
    r"\b(?:achiev|attain|obtain|reach|improv|gain|reduc)\w*\b.{0,80}"
    r"\b(?:accuracy|error|score|f1|auc|perplexity|bleu|rmse|mae|performance)\b",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"\b(?:stop\w*|until|when|once|if|unless|after|before)\b", re.IGNORECASE)
"""A rule of training may speak of an outcome without being one."""
_BETTER = re.compile(
    r"\b(?:outperform\w*|surpass\w*|state.of.the.art (?:results?|performance))\b", re.IGNORECASE
)
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,15}\b(?:all|any|previous|prior|above|your|these|other)\b"
    r".{0,30}\b(?:instructions?|prompts?|rules?|criteri\w+)\b"
    r"|\b(?:mark|judge|grade|score|rate|count|treat)\b.{0,40}\b(?:criteri\w+|checks?|requirements?|rubrics?)\b"
    r".{0,40}\b(?:pass\w*|correct|fulfilled|satisfied)\b"
    r"|\b(?:criteri\w+|checks?|requirements?|rubrics?)\b.{0,20}\b(?:is|are|be)\b.{0,10}"
    r"\b(?:marked|judged|graded|scored|rated|counted|treated)\b",
    re.IGNORECASE | re.DOTALL,
)


def refused(one: Proposed) -> str:
    """Why this is no criterion; empty when it may be one."""
    if one.sort is Sort.RESULT:
        return "it is a result"
    if one.sort is Sort.CLAIM:
        return "it is a claim, not something that code can show"
    outcome = _OUTCOME.search(one.fact) and quantities(one.fact) and not _CONDITION.search(one.fact)
    if outcome or _BETTER.search(one.fact):
        return "it states how well something did"
    if _ORDER.search(one.fact) or _ORDER.search(one.quote):
        return "it speaks to whoever reads or judges, not about the method"
    return ""
