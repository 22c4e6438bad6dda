"""How well a lineage was chosen, against a list that an expert made, the most relevant first.

Top-1 Recall@k and Hits@N as in AutoReproduce, 5.5.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from reenact.errors import InputError, ResultRefused
from reenact.files import read_bytes
from reenact.intake.papers.paper import Paper, plain
from reenact.sandbox.files.strict_json import read_json

MOST_BYTES = 1 << 20
_ARXIV = re.compile(r"(?:arxiv[.:/\s]*(?:org/\w+/)?)?(\d{4}\.\d{4,5})(?:v\d+)?", re.IGNORECASE)


Cited: TypeAlias = frozenset[str]
"""A cited paper by whatever names it has, in plain letters: two that share one are the same."""


def cited_as(*names: str) -> Cited:
    """The paper of these names: key, title, arXiv id."""
    ids = (found[1] for name in names if (found := _ARXIV.search(name)))
    return frozenset(mark for mark in (*map(plain, names), *ids) if mark)


@dataclass(frozen=True, slots=True)
class LineageScore:
    """One paper's lineage against the expert's."""

    k: int
    """How many were chosen."""
    n: int
    """How many the expert lists."""
    top1: bool
    """Whether the expert's first is among the chosen."""
    hits: int
    """How many of the chosen the expert lists too."""


def lineage_score(chosen: Sequence[Cited], expert: Sequence[Cited]) -> LineageScore:
    """Top-1 Recall@k and Hits@N."""
    if not expert:
        raise InputError("The expert's list is empty, so nothing can be compared with it.")
    return LineageScore(
        k=len(chosen),
        n=len(expert),
        top1=any(expert[0] & one for one in chosen),
        hits=sum(any(one & listed for listed in expert) for one in chosen),
    )


def cited_of(paper: Paper, keys: Sequence[str]) -> tuple[Cited, ...]:
    """The references of these keys, with all their names."""
    known = {one.key: cited_as(one.key, one.title, one.arxiv or "") for one in paper.references}
    return tuple(known[key] for key in keys if key in known)


def read_cited(file: Path) -> tuple[Cited, ...]:
    """A list of papers: text with a title, key or arXiv id a line, or JSON (a list, or a result of ours)."""
    try:
        data = read_bytes(file, MOST_BYTES)
        if file.suffix == ".json":
            return _from_json(read_json(data, most_bytes=MOST_BYTES), file)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError, ResultRefused) as error:
        raise InputError(f"The list of papers cannot be read: {error}. Received: {file}") from error
    lines = [line.strip().removeprefix("- ").strip() for line in text.splitlines()]
    found = tuple(cited_as(line) for line in lines if line and not line.startswith("#"))
    if not found:
        raise InputError(f"The list of papers is empty. Received: {file}")
    return found


def _from_json(value: object, file: Path) -> tuple[Cited, ...]:
    entries = value
    while isinstance(entries, dict):
        entries = next(
            (entries[name] for name in ("exemplars", "lineage", "papers", "data") if name in entries), None
        )
    if not isinstance(entries, list) or not entries:
        raise InputError(
            f"The JSON holds no list of papers. Received: {file}",
            next_step='Write ["title", ...] or {"papers": [...]}, or name the JSON of `reenact paper`.',
        )
    return tuple(_cited(entry) for entry in entries)


def _cited(entry: object) -> Cited:
    named = {"title": entry} if isinstance(entry, str) else entry if isinstance(entry, dict) else {}
    found = cited_as(*(str(named[name]) for name in ("key", "title", "arxiv") if named.get(name)))
    if not found:
        raise InputError(f"A paper of the list has no name. Received: {json.dumps(entry)[:200]}")
    return found
