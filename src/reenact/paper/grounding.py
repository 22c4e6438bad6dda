"""Grounding: ids of a paper, and the quote of a fact found in it, mechanically, or the fact is
dropped.

A quote that differs from the named sentence in little (how a formula is spelt, a word left out) is
replaced by the sentence itself: what stands in the fingerprint is always the paper's own text.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import chain
from typing import TypeAlias

from reenact.intake.papers.paper import (
    Algorithm,
    Equation,
    Paper,
    Paragraph,
    Section,
    Table,
    plain,
)
from reenact.paper.quantity import has_numbers

LEAST = 8
"""Letters and digits of a quote below which it may be anywhere by chance."""
ALIKE = 0.85
"""Share of a quote that must be in the named place for it to be the same sentence."""
Grounds: TypeAlias = tuple[str, tuple[str, ...]]
"""What a fact rests on: the quote, and the places that it stands in."""
_ELLIPSIS = re.compile(r"\s*(?:\[\s*\.\.\.\s*\]|\.\.\.|…|\\dots|\\ldots)\s*")


def in_order(paper: Paper) -> dict[str, int]:
    """Every block and sentence by its id, with its rank in the paper."""
    inner = (
        (
            block,
            block.sentences if isinstance(block, Paragraph) else (),
        )
        for block in paper.blocks()
    )
    ids = (name for block, parts in inner for name in (block.id, *(one.id for one in parts)))
    return {name: rank for rank, name in enumerate(ids)}


def known(
    paper: Paper,
    ids: Iterable[str],
) -> tuple[str, ...]:
    """Those of the ids that exist, each once; a model may have kept the brackets around them."""
    return tuple(
        one for one in dict.fromkeys(one.strip().strip("[]") for one in ids) if one in paper.by_id
    )


def text_at(paper: Paper, place: str) -> str:
    """The words of a place; empty for a section, which has none of its own, and for what is not
    there.
    """
    found = paper.by_id.get(place)
    if found is None or isinstance(found, Section):
        return ""
    return found.text


def ground(
    paper: Paper,
    quote: str,
    places: Sequence[str],
) -> Grounds | str:
    """Where the quote is, or why it does not: a sentence part after the fact."""
    named = tuple(place for place in known(paper, places) if text_at(paper, place))
    quote = " ".join(quote.split()).strip("\"'“”")
    whole = _within(paper, quote, named) or _found(paper, quote) or _cells(paper, quote, named)
    if whole:
        return quote, whole
    parts = [part for part in _ELLIPSIS.split(quote) if plain(part)]
    found = [_within(paper, part, named) or _found(paper, part) for part in parts]
    if len(parts) > 1 and all(found):
        return quote, tuple(
            sorted(
                {*chain(*found)},
                key=in_order(paper).__getitem__,
            )
        )
    # Cells that are nearly those of a table may be those of two rows.
    texts = [place for place in named if not isinstance(paper.by_id[place], Table)]
    near = next(
        (place for place in texts if _alike(quote, text_at(paper, place))),
        "",
    )
    if near:
        return text_at(paper, near), (near,)
    if len(plain(quote)) < LEAST:
        return "its quote is too short to be found"
    if named:
        return "its quote is not in the paper"
    return "its quote and its places are not in the paper"


def rests_on_formula(paper: Paper, places: Sequence[str]) -> bool:
    """Whether an equation or algorithm is among them."""
    return any(isinstance(paper.by_id[place], Equation | Algorithm) for place in places)


def _within(
    paper: Paper,
    quote: str,
    named: Sequence[str],
) -> tuple[str, ...]:
    """Those of the named places in which the quote really is: one sentence of theirs, or
    all in a row.
    """
    wanted = plain(quote)
    if len(wanted) < 2:
        return ()
    for place in named:
        if _has(text_at(paper, place), quote):
            block = paper.by_id[place]
            inner = block.sentences if isinstance(block, Paragraph) else ()
            return (
                next(
                    (one.id for one in inner if wanted in plain(one.text)),
                    place,
                ),
            )
    ranked = sorted(named, key=in_order(paper).__getitem__)
    joined = " ".join(text_at(paper, place) for place in ranked)
    if len(wanted) >= LEAST and _has(joined, quote):
        return tuple(ranked)
    return ()


def _has(text: str, quote: str) -> bool:
    """The quote is in the text, and its numbers are: `1.5` and `15` read alike without
    punctuation.
    """
    return plain(quote) in plain(text) and has_numbers(text, quote)


def _cells(
    paper: Paper,
    quote: str,
    named: Sequence[str],
) -> tuple[str, ...]:
    """The table of which the quote names cells of one row, and headings, though not side by
    side.
    """
    parts = [part for part in quote.split("|") if plain(part)]
    tables = []
    if len(parts) > 1:
        tables = [block for block in paper.blocks() if isinstance(block, Table)]
    for table in sorted(
        tables,
        key=lambda one: one.id not in named,
    ):
        heads = [cell for row in table.rows[: table.heads] for cell in row]
        for cells in ((*row, *heads) for row in table.rows):
            same = (
                [plain(part) == plain(cell) and _has(cell, part) for cell in cells]
                for part in parts
            )
            if all(map(any, same)):
                return (table.id,)
    return ()


def _found(paper: Paper, quote: str) -> tuple[str, ...]:
    """Where the paper has it, when the named places do not."""
    if len(plain(quote)) < LEAST:
        return ()
    found = paper.find(quote)
    if found and _has(
        " ".join(text_at(paper, place) for place in found),
        quote,
    ):
        return found
    return ()


def _alike(quote: str, text: str) -> bool:
    """Nearly all of the quote is in the text in that order, and every number of it."""
    wanted = plain(quote)
    there = plain(text)
    if len(wanted) < LEAST or not there:
        return False
    blocks = SequenceMatcher(None, wanted, there, autojunk=False).get_matching_blocks()
    share = sum(block.size for block in blocks if block.size > 2) / len(wanted)
    return share >= ALIKE and has_numbers(text, quote)
