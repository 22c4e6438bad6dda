"""The text of a cited paper: from the library when it has it, else from the network, else a note why not."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from reenact.errors import ReenactError, Stopped, UnreadablePaper
from reenact.files import read_bytes
from reenact.intake.papers.clients import Clients
from reenact.intake.papers.library import Entry, Library
from reenact.intake.papers.paper import Paper, Reference
from reenact.intake.papers.read import read_paper
from reenact.journal import Kind, Scope
from reenact.llm.prompts import capped
from reenact.sandbox.box import Sandbox
from reenact.types import Stop

T = TypeVar("T")
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
    sentences = (one.text for one in paper.sentences() if _CODE.search(one.text))
    first = [link for sentence in sentences for link in repository_links(sentence)]
    return tuple(dict.fromkeys((*first, *repository_links(paper.text(ids=False)))))


MOST_CHARACTERS = 80_000
"""Characters of a cited paper that are kept."""
MOST_HASHED = 1 << 24
"""Bytes beyond which a file is known by its name and size alone."""


@dataclass(frozen=True)
class CitedText:
    """What could be had of a cited paper."""

    text: str
    """With ids; empty when it could not be had."""
    ids: tuple[str, ...]
    """Ids that may be named as places."""
    links: tuple[str, ...]
    """Where code lies according to its text, the likeliest first."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Shelves:
    """Where cited papers and their code come from."""

    box: Sandbox
    """Parsers run in it."""
    checkouts: Path
    """Where repositories are kept."""
    library: Library | None = None
    clients: Clients | None = None
    """None: nothing is asked of the network."""
    stop: Stop = field(default_factory=Stop)

    def entry(self, reference: Reference) -> Entry | None:
        return self.library.find(reference) if self.library is not None else None


def attempted(read: Callable[[], T], failing: str, notes: list[str]) -> T | None:
    """What reading gives; none, and a note that begins with these words, where it fails."""
    try:
        return read()
    except Stopped:
        raise
    except ReenactError as error:
        notes.append(f"{failing}: {error.sentence}")
        return None


def cited_text(reference: Reference, shelves: Shelves, run: Scope) -> CitedText:
    """The text, read once; what failed is tried again when the run is continued."""
    notes: list[str] = []
    entry, clients = shelves.entry(reference), shelves.clients
    found = None
    if entry is not None and (path := entry.paper) is not None:
        inputs = {"of": entry.name, "content": content_mark(path)}
        read = partial(_step, "text", lambda: read_paper(str(path), box=shelves.box), inputs, run)
        found = attempted(read, "Its text in the library cannot be read", notes)
    elif entry is not None:
        notes.append("The library knows it but has no text of it.")
    if found is None and clients is not None:
        named = {"of": reference.arxiv, "doi": reference.doi, "title": reference.title}
        read = partial(_step, "fetched", lambda: _fetched(reference, clients, shelves.box), named, run)
        found = attempted(read, "Its text could not be fetched", notes)
    elif found is None:
        notes.append("Its text was not fetched: the network is not used.")
    found = found or CitedText("", (), (), ())
    return replace(found, notes=(*notes, *found.notes))


def content_mark(path: Path) -> str:
    """The same for the same files: what the journal knows a folder or file of the library by."""
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file() and "__pycache__" not in file.parts:
            size = file.stat().st_size
            digest.update(f"{file.relative_to(path.parent).as_posix()}\0{size}\0".encode("utf-8", "replace"))
            digest.update(read_bytes(file, MOST_HASHED) if size <= MOST_HASHED else b"")
    return digest.hexdigest()[:16]


def _step(name: str, read: Callable[[], Paper], inputs: object, run: Scope) -> CitedText:
    return run.step(name, lambda: _shown(read()), kind=Kind.BOX, inputs=inputs, returns=CitedText)


def _fetched(reference: Reference, clients: Clients, box: Sandbox) -> Paper:
    """The paper from arXiv; a reference that does not name it there is completed first."""
    name = reference.arxiv or clients.scholar.complete(reference).arxiv
    if not name:
        raise UnreadablePaper("neither the reference nor Semantic Scholar names it on arXiv.")
    return read_paper(name, box=box, clients=clients)


def _shown(paper: Paper) -> CitedText:
    text = paper.text()
    notes: tuple[str, ...] = ()
    if len(text) > MOST_CHARACTERS:
        notes = (f"Only {MOST_CHARACTERS} of {len(text)} characters of its text were read.",)
        text = capped(text, MOST_CHARACTERS)
    shown = tuple(name for name in paper.by_id if f"[{name}]" in text)
    return CitedText(text, shown, code_links(paper), notes)
