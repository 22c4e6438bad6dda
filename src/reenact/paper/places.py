"""Ids of a paper: which exist, in which order they stand, what stands there."""

from __future__ import annotations

from collections.abc import Iterable

from reenact.intake.papers.paper import Paper, Paragraph, Section


def in_order(paper: Paper) -> dict[str, int]:
    """Every id with its rank in the paper."""
    ids: list[str] = []
    for section in paper.sections:
        ids.append(section.id)
        for block in section.blocks:
            ids.append(block.id)
            if isinstance(block, Paragraph):
                ids += [sentence.id for sentence in block.sentences]
    return {name: rank for rank, name in enumerate(ids)}


def known(paper: Paper, ids: Iterable[str]) -> tuple[str, ...]:
    """Those of the ids that exist, each once; a model may have kept the brackets around them."""
    bare = dict.fromkeys(one.strip().strip("[]") for one in ids)
    return tuple(one for one in bare if one in paper.by_id)


def said_at(paper: Paper, place: str) -> str:
    """The words of a place; empty for a section, which is no words, and for what is not there."""
    found = paper.by_id.get(place)
    return "" if found is None or isinstance(found, Section) else found.text
