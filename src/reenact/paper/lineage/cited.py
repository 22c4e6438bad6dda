"""What a paper cites: references ranked by its own citation contexts, before any model is asked;
and the text of a cited paper, from the library when it has it, else from the network, else a note
why not.

Baselines of the main experiment come first, then what the method builds on. What everybody cites
(an optimiser, a data set), or what is cited once in passing, comes last.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from reenact.errors import ReenactError, Stopped, UnreadablePaper
from reenact.files import packaged_table, read_bytes
from reenact.intake.papers.clients import Clients, Entry, Library
from reenact.intake.papers.paper import Paper, Paragraph, Reference, Sentence, Table
from reenact.intake.papers.read import read_paper
from reenact.journal import Kind, Scope
from reenact.llm.prompts import capped
from reenact.sandbox.box import Sandbox
from reenact.types import Stop

MOST = 12
"""Candidates that a model chooses among."""
SENTENCES = 5
"""Citing sentences that are shown of each."""
EACH_PLACE = 0.5
MOST_PLACES = 4
LONGEST_NAME = 60
_BRACKET = re.compile(r"\[[^\[\]]*\]")
_NAME = re.compile(r"[A-Z][\w-]*[A-Z0-9][\w-]*|[A-Z][a-z]+(?:[- ][A-Z][a-z]+)*")
T = TypeVar("T")
_HOST = r"(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)"
_ADDRESS = re.compile(
    rf"(?:https?://)?(?:www\.)?({_HOST}/[\w.-]+/[\w.-]+)",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"\b(?:code|implementation|source|repository|software|available|released?)\b", re.I
)
MOST_CHARACTERS = 80_000
"""Characters of a cited paper that are kept."""
MOST_HASHED = 1 << 24
"""Bytes beyond which a file is known by its name and size alone."""


@cache
def phrases(section: str) -> dict[str, re.Pattern[str]]:
    """Patterns of one section of phrases.toml by name; a list is any of its phrases as whole
    words.
    """
    given: dict[str, str | list[str]] = packaged_table("reenact.paper.lineage", "phrases.toml")[
        section
    ]
    whole = {
        name: rf"\b(?:{'|'.join(one)})\b" for name, one in given.items() if isinstance(one, list)
    }
    return {
        name: re.compile(
            whole.get(name, str(one)),
            re.IGNORECASE,
        )
        for name, one in given.items()
    }


@dataclass(frozen=True, slots=True)
class Context:
    """One sentence that cites."""

    sentence: Sentence
    kind: str
    """What its section is: introduction, method, experiment, ..."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reference, why it may matter, and how much."""

    reference: Reference
    contexts: tuple[Context, ...]
    tables: tuple[str, ...]
    """Ids of the tables that name it."""
    reasons: tuple[str, ...]
    score: float

    def text(self) -> str:
        """The candidate as a model sees it."""
        shown = sorted(
            self.contexts,
            key=lambda one: one.kind not in ("method", "experiment"),
        )[:SENTENCES]
        lines = [f"[{one.sentence.id}] ({one.kind}) {one.sentence.text}" for one in shown]
        head = (
            f"key: {self.reference.key}\ntitle: {self.reference.title or self.reference.text[:200]}"
        )
        tables = ""
        if self.tables:
            tables = f"\nnamed in tables: {', '.join(self.tables)}"
        return f"{head}{tables}\n" + "\n".join(lines)


def candidates(paper: Paper) -> tuple[Candidate, ...]:
    """The references that are cited, best first, at most so many."""
    kinds = section_kinds(paper)
    parts = [(kinds[each.id], part) for each in paper.sections for part in each.blocks]
    inner = [(kind, part.sentences) for kind, part in parts if isinstance(part, Paragraph)]
    said = [Context(one, kind) for kind, sentences in inner for one in sentences]
    found: list[Candidate] = []
    for reference in paper.references:
        contexts = tuple(one for one in said if reference.key in one.sentence.cites)
        tables = tuple(_tables(paper, reference, contexts))
        reasons = _reasons(reference, contexts, tables)
        score = sum(reasons.values()) + EACH_PLACE * min(len(contexts), MOST_PLACES)
        if contexts or tables:
            found.append(
                Candidate(
                    reference,
                    contexts=contexts,
                    tables=tables,
                    reasons=tuple(reasons),
                    score=score,
                )
            )
    return tuple(
        sorted(
            found,
            key=lambda one: -one.score,
        )[:MOST]
    )


def section_kinds(paper: Paper) -> dict[str, str]:
    """Section id -> what it is; a subsection whose title says nothing is what its section is."""
    kinds: dict[str, str] = {}
    for section in paper.sections:
        known = (
            name for name, pattern in phrases("sections").items() if pattern.search(section.title)
        )
        above = kinds.get(
            section.id.rpartition(".")[0],
            "other",
        )
        kinds[section.id] = "abstract" if section.id == "0" else next(known, above)
    return kinds


def _tables(
    paper: Paper,
    reference: Reference,
    contexts: tuple[Context, ...],
) -> Iterator[str]:
    """Tables that cite it, or have a cell with the name by which the paper calls it, in a row of
    numbers: one that only names a setting is not that of the cited method.
    """
    names = {name.casefold() for name in _names(reference, contexts)}
    marks = re.compile(rf"@{re.escape(reference.key)}(?![\w:-])")
    for table in (block for block in paper.blocks() if isinstance(block, Table)):
        for row in table.rows:
            bare = {cell: _BRACKET.sub("", cell) for cell in row}
            plain = {cell: text.strip(" *_()~").casefold() for cell, text in bare.items()}
            named = [cell for cell in row if marks.search(cell) or plain[cell] in names]
            if named and any(re.search(r"\d", bare[cell]) for cell in row if cell not in named):
                yield table.id
                break


def _names(
    reference: Reference,
    contexts: tuple[Context, ...],
) -> Iterator[str]:
    """What the method is called: before the colon of its title, or right before a citation of
    it alone.
    """
    head, colon, _ = reference.title.partition(":")
    if colon and len(head) <= 40:
        yield head.strip()
    for context in contexts:
        text = context.sentence.text
        marks = (one for one in _BRACKET.finditer(text) if f"@{reference.key}" in one[0])
        for mark in (one for one in marks if one[0].count("@") == 1):
            before = text[max(0, mark.start() - LONGEST_NAME) : mark.start()].rstrip(" ~(")
            if found := re.search(
                rf"(?:{_NAME.pattern})$",
                before,
            ):
                yield found[0]


def _reasons(
    cited: Reference, contexts: tuple[Context, ...], tables: tuple[str, ...]
) -> dict[str, float]:
    """Why it matters, and what each reason is worth."""
    kinds = {one.kind for one in contexts}
    beside = kinds <= {"introduction", "related", "abstract", "conclusion"}
    theirs = [one for one in contexts if one.kind in ("method", "experiment")]
    pattern = phrases("sentences")
    compared = [one for one in contexts if pattern["baseline"].search(one.sentence.text)]
    holds = (
        ("named in a table", 4.0, tables),
        (
            "a baseline",
            3.0,
            any(one.kind != "related" for one in compared),
        ),
        (
            "built upon",
            3.0,
            any(pattern["extends"].search(one.sentence.text) for one in contexts),
        ),
        ("cited in the method", 2.0, "method" in kinds),
        ("cited in the experiments", 2.0, "experiment" in kinds),
        (
            "cited alone",
            1.0,
            any(len(one.sentence.cites) == 1 for one in theirs),
        ),
        (
            "generic",
            -6.0,
            pattern["generic"].search(cited.title or cited.text),
        ),
        (
            "in passing",
            -2.0,
            len(contexts) == 1 and beside and not tables,
        ),
    )
    return {reason: worth for reason, worth, true in holds if true}


def repository_links(text: str) -> tuple[str, ...]:
    """Addresses of repositories in a text, in order, each once."""
    found = (
        f"https://{match[1]}".rstrip(".,;:)").removesuffix(".git")
        for match in _ADDRESS.finditer(text)
    )
    return tuple(dict.fromkeys(found))


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
        if self.library is not None:
            return self.library.find(reference)
        return None


def attempted(
    read: Callable[[], T],
    failing: str,
    notes: list[str],
) -> T | None:
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
    entry = shelves.entry(reference)
    clients = shelves.clients

    def step(
        name: str,
        read: Callable[[], Paper],
        inputs: object,
        failing: str,
    ) -> CitedText | None:
        once = partial(
            run.step,
            name,
            lambda: _shown(read()),
            kind=Kind.BOX,
            returns=CitedText,
        )
        return attempted(partial(once, inputs=inputs), failing, notes)

    found = None
    if entry is not None and (path := entry.paper) is not None:
        inputs = {
            "of": entry.name,
            "content": content_mark(path),
        }
        read = partial(read_paper, str(path), box=shelves.box)
        found = step("text", read, inputs, "Its text in the library cannot be read")
    elif entry is not None:
        notes.append("The library knows it but has no text of it.")
    if found is None and clients is not None:
        named = {
            "of": reference.arxiv,
            "doi": reference.doi,
            "title": reference.title,
        }
        read = partial(_fetched, reference, clients, shelves.box)
        found = step("fetched", read, named, "Its text could not be fetched")
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
            digest.update(
                f"{file.relative_to(path.parent).as_posix()}\0{size}\0".encode(
                    "utf-8",
                    "replace",
                )
            )
            digest.update(read_bytes(file, MOST_HASHED) if size <= MOST_HASHED else b"")
    return digest.hexdigest()[:16]


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
    # Addresses in a sentence that speaks of code come first.
    telling = " ".join(one.text for one in paper.sentences() if _CODE.search(one.text))
    links = (
        *repository_links(telling),
        *repository_links(paper.text(ids=False)),
    )
    return CitedText(
        text,
        shown,
        tuple(dict.fromkeys(links)),
        notes,
    )
