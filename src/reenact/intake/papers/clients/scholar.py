"""Semantic Scholar: ids of a paper, and what it cites. It completes a reference, it never replaces one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from reenact.errors import ResultRefused, Unreachable
from reenact.intake.papers.clients.polite import Polite
from reenact.intake.papers.paper import Reference, plain
from reenact.intake.web import Web
from reenact.plain import plain as cleaned
from reenact.sandbox.files.strict_json import read_json
from reenact.types import JsonValue

_FIELDS = "title,year,externalIds,url,authors"
_INSTEAD = "Check the network; everything but completing references works without."

SERVER = Web(
    api="https://api.semanticscholar.org", headers=(("Accept", "application/json"),), instead=_INSTEAD
)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known about a paper."""

    itself: Reference
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True)
class Scholar:
    """The server."""

    web: Web = SERVER
    polite: Polite = field(default_factory=Polite)

    def paper(self, *, arxiv: str = "", doi: str = "", title: str = "") -> Known | None:
        """A paper by its id, or by a title that is the same but for typography; none when it is not known."""
        if arxiv or doi:
            name = f"arXiv:{arxiv.partition('v')[0]}" if arxiv else f"DOI:{doi}"
            asked = f"{_FIELDS},references.title,references.year,references.externalIds,references.authors"
            found = self._ask(f"/graph/v1/paper/{quote(name, safe=':')}?fields={asked}")
            return _known(found) if found is not None else None
        if not title:
            return None
        found = self._ask(f"/graph/v1/paper/search/match?query={quote(title[:300])}&fields={_FIELDS}")
        listed = found.get("data") if found is not None else None
        for entry in listed if isinstance(listed, list) else ():
            known = _known(entry) if isinstance(entry, Mapping) else None
            if known is not None and plain(known.itself.title) == plain(title):
                return known
        return None

    def complete(self, reference: Reference) -> Reference:
        """The reference with the ids that it lacks."""
        known = self.paper(arxiv=reference.arxiv, doi=reference.doi, title=reference.title)
        if known is None:
            return reference
        return replace(
            reference,
            title=reference.title or known.itself.title,
            authors=reference.authors or known.itself.authors,
            year=reference.year or known.itself.year,
            arxiv=reference.arxiv or known.itself.arxiv,
            doi=reference.doi or known.itself.doi,
            url=reference.url or known.itself.url,
        )

    def _ask(self, path: str) -> Mapping[str, JsonValue] | None:
        answer = self.polite.get(self.web, path)
        if answer.status in (400, 404):
            return None
        if answer.status != 200:
            raise Unreachable(
                f"Semantic Scholar answers no questions from here for now (status {answer.status}).",
                next_step="Run the same command again in a while.",
            )
        try:
            told = read_json(answer.body)
        except ResultRefused as error:
            raise Unreachable(f"Semantic Scholar's answer cannot be read: {error.sentence}") from error
        if not isinstance(told, Mapping):
            raise Unreachable("Semantic Scholar's answer cannot be read: it is no object.")
        return told


def _known(entry: Mapping[str, JsonValue]) -> Known:
    cited = entry.get("references")
    listed = [one for one in cited if isinstance(one, Mapping)] if isinstance(cited, list) else []
    references = tuple(_reference(one, str(number)) for number, one in enumerate(listed, start=1))
    return Known(_reference(entry, "itself"), tuple(one for one in references if one.title))


def _reference(entry: Mapping[str, JsonValue], key: str) -> Reference:
    ids = entry.get("externalIds")
    named = ids if isinstance(ids, Mapping) else {}
    people = entry.get("authors")
    authors = tuple(
        _word(one.get("name"))
        for one in (people if isinstance(people, list) else ())
        if isinstance(one, Mapping)
    )
    year = entry.get("year")
    title = _word(entry.get("title"))
    return Reference(
        key,
        f"{', '.join(authors)}. {title}. {year or ''}".strip(" ."),
        title=title,
        authors=authors,
        year=year if isinstance(year, int) and 1500 < year < 2200 else None,
        arxiv=_word(named.get("ArXiv")),
        doi=_word(named.get("DOI")),
        url=_word(entry.get("url")),
    )


def _word(value: JsonValue) -> str:
    return " ".join(cleaned(value).split()) if isinstance(value, str) else ""
