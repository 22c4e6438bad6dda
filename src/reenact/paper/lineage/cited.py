"""The text of a cited paper: from the library when it has it, else from the network, else a note why not."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

from reenact.errors import ReenactError, ResultRefused, Stopped, Unreachable, UnreadablePaper
from reenact.files import read_bytes
from reenact.intake.papers.clients import Clients
from reenact.intake.papers.library import Entry, Library
from reenact.intake.papers.paper import Paper, Reference, plain
from reenact.intake.papers.read import read_paper
from reenact.intake.web import Polite, Web
from reenact.journal import Kind, Scope
from reenact.llm.prompts import capped
from reenact.sandbox.box import Sandbox
from reenact.sandbox.files.strict_json import read_json
from reenact.types import JsonValue

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


FOUND_BY_SEARCH = "Its repository was found by searching GitHub for its title; it may not be the authors'."
SHORTEST_TITLE = 12
"""Letters of a title below which a search finds anything."""
MOST_FOUND = 10


@dataclass(frozen=True)
class CodeSearch:
    """The server. Its address may be a mirror's."""

    web: Web = field(default_factory=lambda: Web(instead="Check the network; code is then not searched for."))
    polite: Polite = field(default_factory=Polite)

    def addresses(self, reference: Reference) -> tuple[str, ...]:
        """Repositories that speak of the paper, the most starred first. Unreachable when GitHub is silent."""
        if len(plain(reference.title)) < SHORTEST_TITLE:
            return ()
        words = quote(f'"{reference.title[:200]}" in:name,description,readme')
        answer = self.polite.get(self.web, f"/search/repositories?q={words}&sort=stars&per_page={MOST_FOUND}")
        if answer.status != 200:
            raise Unreachable(f"GitHub did not search for its code (status {answer.status}).")
        try:
            found = read_json(answer.body)
        except ResultRefused as error:
            raise Unreachable(f"GitHub's answer cannot be read: {error.sentence}") from error
        items = found.get("items") if isinstance(found, Mapping) else None
        listed = [one for one in items if isinstance(one, Mapping)] if isinstance(items, list) else []
        return tuple(address for one in listed if (address := _fitting(one, reference)))


def _fitting(item: Mapping[str, JsonValue], reference: Reference) -> str:
    """The address of a repository that is about the paper; empty for another."""
    words = f"{item.get('name') or ''} {item.get('description') or ''}"
    about = plain(reference.title) in plain(words) or (reference.arxiv and reference.arxiv in words)
    links = repository_links(str(item.get("html_url") or ""))
    return links[0] if about and links and not item.get("fork") else ""


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
