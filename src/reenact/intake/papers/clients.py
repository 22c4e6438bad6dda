"""Who knows papers: arXiv for the paper itself, Semantic Scholar for ids of what it cites, and a
folder of cited papers and their repositories, for work without a network.

A paper of arXiv comes as LaTeX source, HTML or PDF, in that order. Semantic Scholar completes a
reference, it never replaces one. The folder has

DIR/<name>/about.toml     title, arxiv, doi, url, keys
DIR/<name>/paper.*        the paper in any form that is read; or source/ with its LaTeX
DIR/<name>/repository/    its code; or repository.bundle
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Self
from urllib.parse import quote

from reenact.errors import (
    InputError,
    ReenactError,
    ResultRefused,
    Unreachable,
    UnreadablePaper,
    UnreadableToml,
)
from reenact.files import read_toml
from reenact.intake.papers.paper import Reference, plain
from reenact.intake.papers.source import MOST_BYTES, Form, form_of, unpacked
from reenact.intake.web import Answer, Polite, Web
from reenact.plain import plain as cleaned
from reenact.sandbox.files.results import read_json
from reenact.types import JsonValue

_ID = r"(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?P<version>v\d{1,3})?"
_SHORT = re.compile(rf"(?:arxiv:)?{_ID}", re.IGNORECASE)
_ADDRESS = re.compile(
    rf"(?i)(?:https?://)?(?:(?:www|export|browse)\.)?(?:ar5iv(?:\.labs)?\.)?(?:arxiv|ar5iv)\.org/"
    rf"(?:abs|pdf|html|e-print|src|format|ps)/{_ID}(?:\.pdf)?/?(?:[?#].*)?"
)
_INSTEAD = "Check the network, or download the paper and name the file."
SITE = Web(
    "https://arxiv.org",
    180.0,
    MOST_BYTES,
    headers=(("Accept", "*/*"),),
    instead=_INSTEAD,
)
_FIELDS = "title,year,externalIds,url,authors"
_WITHOUT = "Check the network; everything but completing references works without."
SERVER = Web(
    "https://api.semanticscholar.org",
    headers=(("Accept", "application/json"),),
    instead=_WITHOUT,
)
MOST_ENTRIES = 10_000
MOST_ABOUT = 64 * 1024
SHORTEST_TITLE = 8
"""Letters; a shorter title says too little to find a paper by."""
_FORMS = (
    ".tex",
    ".tar.gz",
    ".tgz",
    ".zip",
    ".html",
    ".md",
    ".txt",
    ".pdf",
    ".gz",
)
"""Endings of `paper.*`, the best first."""


def arxiv_id(ref: str) -> str:
    """The id that a reference to arXiv names, with its version where it has one; empty for
    anything else.
    """
    found = _SHORT.fullmatch(ref.strip()) or _ADDRESS.fullmatch(ref.strip())
    if found:
        return found["id"] + (found["version"] or "")
    return ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A paper as it came."""

    data: bytes
    name: str
    notes: tuple[str, ...]
    """Better forms that could not be had, and why."""


@dataclass(frozen=True)
class Arxiv:
    """The server; its address may be a mirror's."""

    site: Web = SITE
    polite: Polite = field(default_factory=Polite)

    def fetch(self, name: str) -> Fetched:
        """The paper in the best form that arXiv has. UnreadablePaper when it has none."""
        notes: list[str] = []
        asked = (
            ("LaTeX source", "e-print", ""),
            ("HTML", "html", ".html"),
            ("PDF", "pdf", ".pdf"),
        )
        refusal: ReenactError = UnreadablePaper(f"arXiv has no paper {name}.")
        for form, folder, ending in asked:
            answer = self.polite.get(
                self.site,
                f"/{folder}/{quote(name)}",
            )
            why = _unfit(form, answer)
            if not why:
                return Fetched(
                    answer.body,
                    f"{name.replace('/', '-')}{ending}",
                    tuple(notes),
                )
            notes.append(f"arXiv gave no {form} of {name}: {why}.")
            if answer.status != 200:
                refusal = _refusal(name, answer)
        raise refusal


def _unfit(form: str, answer: Answer) -> str:
    """Why an answer is not the paper in the form that was asked for; empty when it is."""
    if answer.status != 200:
        return f"status {answer.status}"
    found = form_of(answer.body, "")
    if found is Form.PACKED:
        with suppress(UnreadablePaper):
            found = form_of(unpacked(answer.body, "source"), "")
    wanted = {
        "LaTeX source": (Form.ARCHIVE, Form.LATEX),
        "HTML": (Form.HTML,),
        "PDF": (Form.PDF,),
    }[form]
    # A page of HTML without any sign of LaTeXML is a notice, not the paper.
    notice = form == "HTML" and b"<math" not in answer.body and b"ltx_" not in answer.body
    if found in wanted and not notice:
        return ""
    return f"it sent {found} instead"


def _refusal(name: str, answer: Answer) -> ReenactError:
    if answer.status in (400, 404, 410):
        return UnreadablePaper(f"arXiv knows no paper {name}.", next_step="Check the id.")
    if answer.status == 429 or answer.status >= 500:
        return _busy("arXiv", answer)
    why = f"arXiv refused to give {name} (status {answer.status})."
    return UnreadablePaper(why, next_step="Download the paper with a browser and name the file.")


def _busy(server: str, answer: Answer) -> Unreachable:
    why = f"{server} answers no questions from here for now (status {answer.status})."
    return Unreachable(why, next_step="Run the same command again in a while.")


@dataclass(frozen=True)
class Scholar:
    """The server."""

    web: Web = SERVER
    polite: Polite = field(default_factory=Polite)

    def complete(self, reference: Reference) -> Reference:
        """The reference with the ids that it lacks, where the server knows the paper."""
        known = self._find(reference)
        if known is None:
            return reference
        ids = known.get("externalIds")
        if not isinstance(ids, Mapping):
            ids = {}
        year = known.get("year")
        if not isinstance(year, int) or not 1500 < year < 2200:
            year = None
        authors = tuple(_word(author.get("name")) for author in _mappings(known.get("authors")))
        return replace(
            reference,
            title=reference.title or _word(known.get("title")),
            url=reference.url or _word(known.get("url")),
            arxiv=reference.arxiv or _word(ids.get("ArXiv")),
            doi=reference.doi or _word(ids.get("DOI")),
            authors=reference.authors or authors,
            year=reference.year or year,
        )

    def _find(self, reference: Reference) -> Mapping[str, JsonValue] | None:
        """A paper by its id, or by a title that is the same but for typography; none when it is
        not known.
        """
        if reference.arxiv or reference.doi:
            arxiv = reference.arxiv.partition("v")[0]
            name = f"arXiv:{arxiv}" if arxiv else f"DOI:{reference.doi}"
            return self._ask(f"/graph/v1/paper/{quote(name, safe=':')}?fields={_FIELDS}")
        title = reference.title
        asked = f"/graph/v1/paper/search/match?query={quote(title[:300])}&fields={_FIELDS}"
        found = self._ask(asked) if title else None
        for entry in _mappings(found.get("data")) if found is not None else ():
            if plain(_word(entry.get("title"))) == plain(title):
                return entry
        return None

    def _ask(self, path: str) -> Mapping[str, JsonValue] | None:
        answer = self.polite.get(self.web, path)
        if answer.status in (400, 404):
            return None
        if answer.status != 200:
            raise _busy("Semantic Scholar", answer)
        unread = "Semantic Scholar's answer cannot be read:"
        try:
            found = read_json(answer.body)
        except ResultRefused as error:
            raise Unreachable(f"{unread} {error.sentence}") from error
        if not isinstance(found, Mapping):
            raise Unreachable(f"{unread} it is not an object.")
        return found


def _mappings(value: JsonValue) -> list[Mapping[str, JsonValue]]:
    """The objects of a list; nothing where it is not one."""
    if not isinstance(value, list):
        return []
    return [entry for entry in value if isinstance(entry, Mapping)]


def _word(value: JsonValue) -> str:
    if isinstance(value, str):
        return " ".join(cleaned(value).split())
    return ""


@dataclass(frozen=True)
class Clients:
    """Both servers, with one folder for their answers."""

    arxiv: Arxiv = field(default_factory=Arxiv)
    scholar: Scholar = field(default_factory=Scholar)

    @classmethod
    def cached(cls, folder: Path, *, offline: bool = False) -> Self:
        """The public servers; a kept answer is not asked for again. Offline, only kept ones are
        known.
        """
        arxiv, scholar = (Polite(folder / name, offline=offline) for name in ("arxiv", "scholar"))
        return cls(Arxiv(polite=arxiv), Scholar(polite=scholar))


@dataclass(frozen=True, slots=True)
class Entry:
    """One cited paper."""

    name: str
    title: str
    arxiv: str
    doi: str
    url: str
    keys: tuple[str, ...]
    """Keys under which papers cite it."""
    paper: Path | None
    """What `read_paper` reads."""
    repository: Path | None
    """What `open_repository` opens."""


@dataclass(frozen=True)
class Library:
    """All entries of a folder."""

    folder: Path

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Entries by name. InputError for a folder that is not one, or an about.toml that cannot
        be read.
        """
        if not self.folder.is_dir():
            instead = "Name a folder with one folder a cited paper, each with an about.toml."
            raise InputError(
                f"The library is not a folder. Received: {self.folder}", next_step=instead
            )
        places = sorted(
            place for place in self.folder.iterdir() if (place / "about.toml").is_file()
        )
        if len(places) > MOST_ENTRIES:
            raise InputError(
                f"The library has more than {MOST_ENTRIES} entries. Received: {self.folder}"
            )
        return tuple(map(_entry, places))

    def find(self, reference: Reference) -> Entry | None:
        """The entry of a reference: by DOI, arXiv id, address, then by its title without
        typography.
        """
        for name in ("doi", "arxiv", "url"):
            wanted = _same(getattr(reference, name))
            for one in self.entries if wanted else ():
                if _same(getattr(one, name)) == wanted:
                    return one
        title = plain(reference.title)
        for one in self.entries if len(title) >= SHORTEST_TITLE else ():
            if plain(one.title) == title:
                return one
        # A key is the citing author's own word: it decides only where the entry names no title
        # against it.
        keyed = (one for one in self.entries if reference.key in one.keys)
        return next(
            (one for one in keyed if not (title and one.title)),
            None,
        )


def _same(value: str) -> str:
    """Two ways of writing one id or address."""
    value = value.strip().casefold()
    value = re.sub(r"^(?:https?://)?(?:www\.|dx\.)?(?:doi\.org/)?", "", value).rstrip("/")
    value = re.sub(r"^(?:doi:|arxiv:)", "", value)
    return re.sub(r"(?<=\d)v\d{1,3}$", "", value).removesuffix(".git")


def _entry(place: Path) -> Entry:
    about = place / "about.toml"
    try:
        entry = read_toml(about, MOST_ABOUT)
    except UnreadableToml as error:
        raise InputError(
            f"An entry of the library cannot be read: {error}. Received: {about}"
        ) from error
    words = {name: entry.get(name, "") for name in ("title", "arxiv", "doi", "url")}
    keys = entry.get("keys", [])
    if not all(isinstance(value, str) for value in words.values()) or not isinstance(keys, list):
        why = (
            f"An about.toml has title, arxiv, doi and url as text and keys as a list. Received: "
            f"{about}"
        )
        raise InputError(why)

    def rank(path: Path) -> int:
        for at, ending in enumerate(_FORMS):
            if path.name.endswith(ending):
                return at
        return len(_FORMS)

    paper = min(sorted(filter(Path.is_file, place.glob("paper.*"))), key=rank, default=None)
    if (place / "source").is_dir():
        paper = place / "source"
    repository = next(
        filter(Path.exists, map(place.joinpath, ("repository", "repository.bundle"))),
        None,
    )
    return Entry(
        place.name,
        **words,
        keys=tuple(map(str, keys)),
        paper=paper,
        repository=repository,
    )
