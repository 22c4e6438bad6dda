"""Every paragraph is read once more, a few at a time, for what the guides missed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reenact.intake.papers.paper import Block, Figure, Paper, Paragraph
from reenact.journal import Scope
from reenact.llm.ask import Model, Prompt
from reenact.llm.prompts import load_prompt
from reenact.paper.criterion import Kind, Level
from reenact.paper.fingerprint.answers import Proposed, Sort
from reenact.paper.fingerprint.fingerprint import Dropped, Item
from reenact.paper.fingerprint.guides import grain, listing, proposed
from reenact.paper.options import Goal

PORTION = 12000
"""Characters of the paper that one question holds; a single longer block is asked about alone."""
SILENT = re.compile(
    r"^\W*(?:references|bibliography|acknowledge?ments?|author contributions?|funding|ethics statement"
    r"|broader impacts?|impact statement)\b",
    re.IGNORECASE,
)
"""Sections that say nothing about the method."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Some blocks in a row."""

    text: str
    ids: frozenset[str]


def scan(
    paper: Paper, goal: Goal, items: Sequence[Item], model: Model, run: Scope, *, atomic: bool
) -> tuple[list[Proposed], list[Dropped]]:
    """Facts that no item holds yet."""
    template = load_prompt("reenact.paper.fingerprint", "prompts/scan.md")
    found: list[Proposed] = []
    dropped: list[Dropped] = []
    for number, portion in enumerate(portions(paper)):

        def fill(objections: str, portion: Portion = portion) -> Prompt:
            return template.fill(
                title=paper.title,
                goal=goal.text(),
                portion=portion.text,
                known=_known(portion, items),
                grain=grain(atomic=atomic),
                sorts=listing(Sort),
                kinds=listing(Kind),
                objections=objections,
            )

        here = run.under("scan", attempt=number)
        more, lost = proposed(here, model, "paragraphs", fill, Level.PARAGRAPH, paper)
        found += more
        dropped += lost
    return found, dropped


def portions(paper: Paper) -> Iterator[Portion]:
    """The paper in portions, whole blocks each, never without the heading that they stand under."""
    lines: list[str] = []
    ids: set[str] = set()
    for heading, block in _blocks(paper):
        words = _said(block)
        if ids and sum(map(len, lines)) + len(words) > PORTION:
            yield Portion("\n\n".join(lines), frozenset(ids))
            lines, ids = [], set()
        lines += [words] if heading in lines else [heading, words]
        ids |= _ids(block)
    if ids:
        yield Portion("\n\n".join(lines), frozenset(ids))


def _blocks(paper: Paper) -> Iterator[tuple[str, Block]]:
    for section in paper.sections:
        if SILENT.match(section.title):
            continue
        heading = f"{'#' * (section.level + 1)} {section.id} {section.title}"
        for block in section.blocks:
            if not isinstance(block, Figure) or block.caption:
                yield heading, block


def _said(block: Block) -> str:
    if isinstance(block, Paragraph):
        return " ".join(f"[{one.id}] {one.text}" for one in block.sentences)
    return f"[{block.id}] {block.text}"


def _ids(block: Block) -> set[str]:
    inner: Iterable[str] = (one.id for one in block.sentences) if isinstance(block, Paragraph) else ()
    return {block.id, *inner}


def _known(portion: Portion, items: Sequence[Item]) -> str:
    """What was found in this portion already."""
    here = [item for item in items if portion.ids.intersection(item.places)]
    return "\n".join(f"- {one.fact} | {one.scope} [{', '.join(one.places)}]" for one in here) or "nothing yet"
