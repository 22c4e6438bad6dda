"""The block of YAML that may stand before a Markdown text: title, authors, abstract, no more."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 20_000
_BLOCK = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)


@dataclass(frozen=True, slots=True)
class Facts:
    """What the block says."""

    title: str = ""
    authors: tuple[str, ...] = ()
    abstract: str = ""


def front_matter(text: str) -> tuple[Facts, str]:
    """What the block says, and the text with its lines made empty, so that places stay the same."""
    block = _BLOCK.match(text[:LONGEST])
    if not block:
        return Facts(), text
    rest = "\n" * block[0].count("\n") + text[block.end() :]
    return _facts(block[1]), rest


def _facts(block: str) -> Facts:
    import yaml

    try:
        told = yaml.safe_load(block)
    except (yaml.YAMLError, RecursionError, ValueError):
        return Facts()
    if not isinstance(told, dict):
        return Facts()
    authors = told.get("authors") or told.get("author") or ()
    listed = authors if isinstance(authors, list) else [authors]
    return Facts(
        _word(told.get("title")), tuple(filter(None, map(_name, listed))), _word(told.get("abstract"))
    )


def _name(value: object) -> str:
    return _word(value.get("name")) if isinstance(value, dict) else _word(value)


def _word(value: object) -> str:
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
