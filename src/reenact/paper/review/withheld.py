"""Where results stand: what is hidden from whoever writes the code, so that no number can be copied.

Beside the place of each claim: tables that hold claimed values, and sentences and captions that state one. A
setting may happen to be the same number as a result: a number alone hides nothing unless it is unmistakable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from reenact.intake.papers.paper import Figure, Paper, Table, plain
from reenact.paper.claim import Claim
from reenact.paper.criterion import Criterion
from reenact.paper.quantity import Quantity, quantities

UNMISTAKABLE = 3
"""Digits that count, with a point among them, from which a number is taken for the claim itself."""
SEVERAL = 2
"""Different claimed values in one table."""
WITHHELD = "(withheld: it stands among the results of the paper)"
"""In place of a quote."""
_COMPARED = re.compile(
    r"\b(?:points?|better|worse|outperform\w*|improv\w*|gains?|gap|higher|lower|margin|above|below)\b",
    re.IGNORECASE,
)


def withheld(paper: Paper, claims: Sequence[Claim]) -> frozenset[str]:
    """Ids of tables, sentences and figures that state what the paper claims."""
    blocks = list(paper.blocks())
    hidden = {claim.place for claim in claims}
    hidden |= {block.id for block in blocks if isinstance(block, Table) and _holds(block, claims)}
    hidden |= {
        block.id for block in blocks if isinstance(block, Table | Figure) and _tells(block.caption, claims)
    }
    differences = _differences(claims)
    hidden |= {
        one.id for one in paper.sentences() if _tells(one.text, claims) or _compares(one.text, differences)
    }
    return frozenset(hidden)


def without_results(
    criteria: Sequence[Criterion], claims: Sequence[Claim], hidden: frozenset[str]
) -> tuple[Criterion, ...]:
    """Criteria for whoever writes code: none that states a claim, and no quote from a hidden place."""
    return tuple(
        replace(one, quote=WITHHELD) if hidden.intersection(one.places) or _tells(one.quote, claims) else one
        for one in criteria
        if not _tells(one.fact, claims)
    )


def _holds(table: Table, claims: Sequence[Claim]) -> bool:
    cells = [one for row in table.rows for cell in row for one in quantities(cell)]
    met = [claim for claim in claims if any(_same(claim, one) for one in cells)]
    heads = " ".join([table.caption, *(cell for row in table.rows[: max(table.heads, 1)] for cell in row)])
    return len({claim.value for claim in met}) >= SEVERAL or any(_named(claim, heads) for claim in met)


def _tells(text: str, claims: Sequence[Claim]) -> bool:
    numbers = quantities(text)
    return any(
        _same(claim, one) and (_unmistakable(one) or _named(claim, text))
        for claim in claims
        for one in numbers
    )


def _compares(text: str, differences: Sequence[Quantity]) -> bool:
    """Whether a sentence says by how much one was better: with that the hidden numbers could be guessed."""
    numbers = quantities(text) if _COMPARED.search(text) else []
    return any(one.equals(other) for one in numbers for other in differences)


def _differences(claims: Sequence[Claim]) -> list[Quantity]:
    """Between any two claims of one metric, as far as they are printed."""
    pairs = combinations(claims, 2)
    found = {
        round(abs(left.value - right.value), 6)
        for left, right in pairs
        if plain(left.metric) == plain(right.metric)
    }
    return [Quantity(value, False, 0, "") for value in sorted(found) if value]


def _same(claim: Claim, one: Quantity) -> bool:
    return one.equals(Quantity(claim.value, bool(claim.unit), 0, ""))


def _unmistakable(one: Quantity) -> bool:
    digits = re.sub(r"[eE].*|\D", "", one.written).lstrip("0")
    return "." in one.written and len(digits) >= UNMISTAKABLE


def _named(claim: Claim, text: str) -> bool:
    """Whether the metric is spoken of: all its words, so that `test accuracy` is not met by `test`."""
    said = plain(text)
    words = [plain(word) for word in re.split(r"[^\w@]+", claim.metric) if len(plain(word)) > 1]
    return bool(words) and all(word in said for word in words)
