"""The text of a cited paper: from the library when it has it, else from the network, else a note why not."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from reenact.errors import ReenactError, Stopped, UnreadablePaper
from reenact.files import read_bytes
from reenact.intake.papers.clients import Clients
from reenact.intake.papers.library import Entry, Library
from reenact.intake.papers.paper import Paper, Reference
from reenact.intake.papers.read import read_paper
from reenact.journal import Kind, Scope
from reenact.llm.quoting import capped
from reenact.paper.lineage.links import code_links
from reenact.paper.lineage.search import CodeSearch
from reenact.sandbox.box import Sandbox

MOST = 80_000
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
    """Where its text says that code lies, the likeliest first."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Shelves:
    """Where cited papers and their code come from."""

    box: Sandbox
    """Parsers run in it."""
    library: Library | None = None
    clients: Clients | None = None
    """None: nothing is asked of the network."""
    search: CodeSearch | None = None
    """Looks for code that no text names."""

    def entry(self, reference: Reference) -> Entry | None:
        return self.library.find(reference) if self.library is not None else None


def cited_text(reference: Reference, shelves: Shelves, run: Scope) -> CitedText:
    """The text, read once; what failed is tried again when the run is continued."""
    notes: list[str] = []
    entry = shelves.entry(reference)
    if entry is not None and (path := entry.paper) is not None:
        try:
            inputs = {"of": entry.name, "content": content_mark(path)}
            return _step("text", lambda: read_paper(str(path), box=shelves.box), inputs, run)
        except Stopped:
            raise
        except ReenactError as error:
            notes.append(f"Its text in the library cannot be read: {error.sentence}")
    elif entry is not None:
        notes.append("The library knows it but has no text of it.")
    if (clients := shelves.clients) is None:
        notes.append("Its text was not fetched: the network is not used.")
    else:
        try:
            named = {"of": reference.arxiv, "doi": reference.doi, "title": reference.title}
            fetched = _step("fetched", lambda: _fetched(reference, clients, shelves.box), named, run)
            return replace(fetched, notes=(*notes, *fetched.notes))
        except Stopped:
            raise
        except ReenactError as error:
            notes.append(f"Its text could not be fetched: {error.sentence}")
    return CitedText("", (), (), tuple(notes))


def content_mark(path: Path) -> str:
    """The same for the same files: what the journal knows a folder or file of the library by."""
    told = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file() and "__pycache__" not in file.parts:
            size = file.stat().st_size
            told.update(f"{file.relative_to(path.parent).as_posix()}\0{size}\0".encode("utf-8", "replace"))
            told.update(read_bytes(file, MOST_HASHED) if size <= MOST_HASHED else b"")
    return told.hexdigest()[:16]


def _step(name: str, read: Callable[[], Paper], inputs: object, run: Scope) -> CitedText:
    return run.step(name, lambda: _told(read()), kind=Kind.BOX, inputs=inputs, returns=CitedText)


def _fetched(reference: Reference, clients: Clients, box: Sandbox) -> Paper:
    """The paper from arXiv; a reference that does not name it there is completed first."""
    name = reference.arxiv or clients.scholar.complete(reference).arxiv
    if not name:
        raise UnreadablePaper("neither the reference nor Semantic Scholar names it on arXiv.")
    return read_paper(name, box=box, clients=clients)


def _told(paper: Paper) -> CitedText:
    text = paper.text()
    notes: tuple[str, ...] = ()
    if len(text) > MOST:
        notes = (f"Only {MOST} of {len(text)} characters of its text were read.",)
        text = capped(text, MOST)
    shown = tuple(name for name in paper.by_id if f"[{name}]" in text)
    return CitedText(text, shown, code_links(paper), notes)
