"""Where the code of a cited paper may lie: addresses in a text, those that are called code first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reenact.intake.papers.paper import Paper

_ADDRESS = re.compile(
    r"(?:https?://)?(?:www\.)?((?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)/[\w.-]+/[\w.-]+)",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"\b(?:code|implementation|source|repository|software|available|released?)\b", re.IGNORECASE
)


def repository_links(text: str) -> tuple[str, ...]:
    """Addresses of repositories in a text, in order, each once."""
    found = (f"https://{match[1]}".rstrip(".,;:)").removesuffix(".git") for match in _ADDRESS.finditer(text))
    return tuple(dict.fromkeys(found))


def code_links(paper: Paper) -> tuple[str, ...]:
    """Addresses in a paper; those in a sentence that speaks of code come first."""
    said = [
        one for sentence in _sentences(paper) if _CODE.search(sentence) for one in repository_links(sentence)
    ]
    return tuple(dict.fromkeys((*said, *repository_links(paper.text(ids=False)))))


def _sentences(paper: Paper) -> Iterator[str]:
    for sentence in paper.sentences():
        yield sentence.text
