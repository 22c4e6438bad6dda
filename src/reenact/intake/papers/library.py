"""A folder of cited papers and their repositories, for work without a network.

DIR/<name>/about.toml     title, arxiv, doi, url, keys
DIR/<name>/paper.*        the paper in any form that is read; or source/ with its LaTeX
DIR/<name>/repository/    its code; or repository.bundle
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from reenact.errors import InputError
from reenact.files import read_text
from reenact.intake.papers.paper import Reference, plain

MOST_ENTRIES = 10_000
MOST_BYTES = 64 * 1024
SHORTEST_TITLE = 8
"""Letters; a shorter title says too little to find a paper by."""
_REPOSITORIES = ("repository", "repository.bundle")
_FORMS = (".tex", ".tar.gz", ".tgz", ".zip", ".html", ".md", ".txt", ".pdf", ".gz")
"""Endings of `paper.*`, the best first."""


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
        """Entries by name. InputError for a folder that is none, or an about.toml that cannot be read."""
        if not self.folder.is_dir():
            raise InputError(
                f"The library is no folder. Received: {self.folder}",
                next_step="Name a folder with one folder a cited paper, each with an about.toml.",
            )
        places = sorted(place for place in self.folder.iterdir() if (place / "about.toml").is_file())
        if len(places) > MOST_ENTRIES:
            raise InputError(f"The library has more than {MOST_ENTRIES} entries. Received: {self.folder}")
        return tuple(map(_entry, places))

    def find(self, reference: Reference) -> Entry | None:
        """The entry of a reference: by DOI, arXiv id, address, then by its title without typography."""
        for name in ("doi", "arxiv", "url"):
            wanted = _same(getattr(reference, name))
            for one in self.entries if wanted else ():
                if _same(getattr(one, name)) == wanted:
                    return one
        return self._by_title(reference)

    def _by_title(self, reference: Reference) -> Entry | None:
        title = plain(reference.title)
        for one in self.entries:
            if len(title) >= SHORTEST_TITLE and plain(one.title) == title:
                return one
        # A key is the citing author's own word: it decides only where the entry names no title against it.
        keyed = (one for one in self.entries if reference.key in one.keys)
        return next((one for one in keyed if not (title and one.title)), None)


def _same(value: str) -> str:
    """Two ways of writing one id or address."""
    value = value.strip().casefold()
    value = re.sub(r"^(?:https?://)?(?:www\.|dx\.)?(?:doi\.org/)?", "", value).rstrip("/")
    value = re.sub(r"^(?:doi:|arxiv:)", "", value)
    return re.sub(r"(?<=\d)v\d{1,3}$", "", value).removesuffix(".git")


def _entry(place: Path) -> Entry:
    about = place / "about.toml"
    try:
        entry = tomllib.loads(read_text(about, MOST_BYTES))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"An entry of the library cannot be read: {error}. Received: {about}") from error
    words = {name: entry.get(name, "") for name in ("title", "arxiv", "doi", "url")}
    keys = entry.get("keys", [])
    if not all(isinstance(value, str) for value in words.values()) or not isinstance(keys, list):
        raise InputError(
            f"An about.toml has title, arxiv, doi and url as text and keys as a list. Received: {about}"
        )
    repository = next((one for one in map(place.joinpath, _REPOSITORIES) if one.exists()), None)
    return Entry(place.name, **words, keys=tuple(map(str, keys)), paper=_paper(place), repository=repository)


def _paper(place: Path) -> Path | None:
    if (place / "source").is_dir():
        return place / "source"

    def rank(path: Path) -> int:
        return next((at for at, ending in enumerate(_FORMS) if path.name.endswith(ending)), len(_FORMS))

    return min(sorted(filter(Path.is_file, place.glob("paper.*"))), key=rank, default=None)
