"""Servers that know papers: arXiv for the paper itself, Semantic Scholar for ids of what it cites.

A paper of arXiv comes as LaTeX source, HTML or PDF, in that order. Semantic Scholar completes a reference, it
never replaces one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

from reenact.errors import ReenactError, ResultRefused, Unreachable, UnreadablePaper
from reenact.intake.papers.paper import Reference, plain
from reenact.intake.papers.source import MOST_BYTES, Form, form_of, unpacked
from reenact.intake.web import Answer, Polite, Web
from reenact.plain import plain as cleaned
from reenact.sandbox.files.results import read_json
from reenact.types import JsonValue

_ID = r"(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?P<version>v\d{1,3})?"
_SHORT = re.compile(rf"(?:arxiv:)?{_ID}", re.IGNORECASE)
_ADDRESS = re.compile(
    rf"(?:https?://)?(?:(?:www|export|browse)\.)?(?:ar5iv(?:\.labs)?\.)?(?:arxiv|ar5iv)\.org/"
    rf"(?:abs|pdf|html|e-print|src|format|ps)/{_ID}(?:\.pdf)?/?(?:[?#].*)?",
    re.IGNORECASE,
)
_INSTEAD = "Check the network, or download the paper and name the file."

SITE = Web(
    api="https://arxiv.org",
    headers=(("Accept", "*/*"),),
    most_bytes=MOST_BYTES,
    wall_s=180.0,
    instead=_INSTEAD,
)


def arxiv_id(ref: str) -> str:
    """The id that a reference to arXiv names, with its version where it has one; empty for anything else."""
    found = _SHORT.fullmatch(ref.strip()) or _ADDRESS.fullmatch(ref.strip())
    return found["id"] + (found["version"] or "") if found else ""


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
        asked = (("LaTeX source", "e-print", ""), ("HTML", "html", ".html"), ("PDF", "pdf", ".pdf"))
        refusal: ReenactError = UnreadablePaper(f"arXiv has no paper {name}.")
        for form, folder, ending in asked:
            answer = self.polite.get(self.site, f"/{folder}/{quote(name)}")
            why = _unfit(form, answer)
            if not why:
                return Fetched(answer.body, f"{name.replace('/', '-')}{ending}", tuple(notes))
            notes.append(f"arXiv gave no {form} of {name}: {why}.")
            if answer.status != 200:
                refusal = _refusal(name, answer)
        raise refusal


def _unfit(form: str, answer: Answer) -> str:
    """Why an answer is not the paper in the form that was asked for; empty when it is."""
    if answer.status != 200:
        return f"status {answer.status}"
    found = _content(answer.body)
    wanted = {"LaTeX source": (Form.ARCHIVE, Form.LATEX), "HTML": (Form.HTML,), "PDF": (Form.PDF,)}[form]
    # A page of HTML without any sign of LaTeXML is a notice, not the paper.
    notice = form == "HTML" and b"<math" not in answer.body and b"ltx_" not in answer.body
    return "" if found in wanted and not notice else f"it sent {found} instead"


def _content(body: bytes) -> Form:
    """The form of what came; a single file is looked into."""
    form = form_of(body, "")
    if form is not Form.PACKED:
        return form
    try:
        return form_of(unpacked(body, "source"), "")
    except UnreadablePaper:
        return Form.PACKED


def _refusal(name: str, answer: Answer) -> ReenactError:
    if answer.status in (400, 404, 410):
        return UnreadablePaper(f"arXiv knows no paper {name}.", next_step="Check the id.")
    if answer.status == 429 or answer.status >= 500:
        return Unreachable(
            f"arXiv answers no questions from here for now (status {answer.status}).",
            next_step="Run the same command again in a while.",
        )
    return UnreadablePaper(
        f"arXiv refused to give {name} (status {answer.status}).",
        next_step="Download the paper with a browser and name the file.",
    )


_FIELDS = "title,year,externalIds,url,authors"

SERVER = Web(
    api="https://api.semanticscholar.org",
    headers=(("Accept", "application/json"),),
    instead="Check the network; everything but completing references works without.",
)


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
        named = known.get("externalIds")
        ids = named if isinstance(named, Mapping) else {}
        people = known.get("authors")
        listed = people if isinstance(people, list) else []
        year = known.get("year")
        return replace(
            reference,
            title=reference.title or _word(known.get("title")),
            authors=reference.authors
            or tuple(_word(one.get("name")) for one in listed if isinstance(one, Mapping)),
            year=reference.year or (year if isinstance(year, int) and 1500 < year < 2200 else None),
            arxiv=reference.arxiv or _word(ids.get("ArXiv")),
            doi=reference.doi or _word(ids.get("DOI")),
            url=reference.url or _word(known.get("url")),
        )

    def _find(self, reference: Reference) -> Mapping[str, JsonValue] | None:
        """A paper by its id, or by a title that is the same but for typography; none when it is not known."""
        if reference.arxiv or reference.doi:
            arxiv = reference.arxiv.partition("v")[0]
            name = f"arXiv:{arxiv}" if arxiv else f"DOI:{reference.doi}"
            return self._ask(f"/graph/v1/paper/{quote(name, safe=':')}?fields={_FIELDS}")
        title = reference.title
        asked = f"/graph/v1/paper/search/match?query={quote(title[:300])}&fields={_FIELDS}"
        found = self._ask(asked) if title else None
        listed = found.get("data") if found is not None else None
        entries = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
        return next((one for one in entries if plain(_word(one.get("title"))) == plain(title)), None)

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
            found = read_json(answer.body)
        except ResultRefused as error:
            raise Unreachable(f"Semantic Scholar's answer cannot be read: {error.sentence}") from error
        if not isinstance(found, Mapping):
            raise Unreachable("Semantic Scholar's answer cannot be read: it is no object.")
        return found


def _word(value: JsonValue) -> str:
    return " ".join(cleaned(value).split()) if isinstance(value, str) else ""


@dataclass(frozen=True)
class Clients:
    """Both servers, with one folder for their answers."""

    arxiv: Arxiv = field(default_factory=Arxiv)
    scholar: Scholar = field(default_factory=Scholar)

    @classmethod
    def cached(cls, folder: Path, *, offline: bool = False) -> Clients:
        """The public servers; a kept answer is not asked for again. Offline, only kept ones are known."""
        arxiv, scholar = (Polite(folder / name, offline=offline) for name in ("arxiv", "scholar"))
        return cls(Arxiv(polite=arxiv), Scholar(polite=scholar))
