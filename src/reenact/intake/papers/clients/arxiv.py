"""arXiv: what a paper is called, and the paper itself as LaTeX source, HTML or PDF, in that order."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote
from xml.etree import ElementTree

from reenact.errors import ReenactError, Unreachable, UnreadablePaper
from reenact.intake.papers.clients.polite import Polite
from reenact.intake.papers.source import MOST_BYTES, Form, form_of, unpacked
from reenact.intake.web import Answer, Web
from reenact.plain import plain

_ID = r"(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?P<version>v\d{1,3})?"
_SHORT = re.compile(rf"(?:arxiv:)?{_ID}", re.IGNORECASE)
_ADDRESS = re.compile(
    rf"(?:https?://)?(?:(?:www|export|browse)\.)?(?:ar5iv(?:\.labs)?\.)?(?:arxiv|ar5iv)\.org/"
    rf"(?:abs|pdf|html|e-print|src|format|ps)/{_ID}(?:\.pdf)?/?(?:[?#].*)?",
    re.IGNORECASE,
)
_ATOM = "{http://www.w3.org/2005/Atom}"
_INSTEAD = "Check the network, or download the paper and name the file."

API = Web(api="https://export.arxiv.org", headers=(("Accept", "application/atom+xml"),), instead=_INSTEAD)
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
class Entry:
    """What arXiv says about a paper."""

    id: str
    title: str
    authors: tuple[str, ...]
    abstract: str
    year: int | None
    doi: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """A paper as it came."""

    data: bytes
    name: str
    notes: tuple[str, ...]
    """Better forms that could not be had, and why."""


@dataclass(frozen=True)
class Arxiv:
    """The server. Both addresses may be a mirror's."""

    api: Web = API
    site: Web = SITE
    polite: Polite = field(default_factory=Polite)

    def entry(self, name: str) -> Entry:
        """The metadata of one paper."""
        answer = self.polite.get(self.api, f"/api/query?id_list={quote(name)}&max_results=1")
        if answer.status != 200:
            raise _refusal(name, "arXiv's catalogue", answer)
        return _entry(name, answer.body)

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
                refusal = _refusal(name, "arXiv", answer)
        raise refusal


def _unfit(form: str, answer: Answer) -> str:
    """Why an answer is not the paper in the form that was asked for; empty when it is."""
    if answer.status != 200:
        return f"status {answer.status}"
    found = _content(answer.body)
    wanted = {
        "LaTeX source": (Form.ARCHIVE, Form.LATEX),
        "HTML": (Form.HTML,),
        "PDF": (Form.PDF,),
    }[form]
    if found in wanted and not (
        form == "HTML" and b"<math" not in answer.body and b"ltx_" not in answer.body
    ):
        return ""
    return f"it sent {found} instead"


def _content(body: bytes) -> Form:
    """The form of what came; a single file is looked into."""
    form = form_of(body, "")
    if form is not Form.PACKED:
        return form
    try:
        return form_of(unpacked(body, "source"), "")
    except UnreadablePaper:
        return Form.PACKED


def _refusal(name: str, who: str, answer: Answer) -> ReenactError:
    if answer.status in (400, 404, 410):
        return UnreadablePaper(f"{who} knows no paper {name}.", next_step="Check the id.")
    if answer.status == 429 or answer.status >= 500:
        return Unreachable(
            f"{who} answers no questions from here for now (status {answer.status}).",
            next_step="Run the same command again in a while.",
        )
    return UnreadablePaper(
        f"{who} refused to give {name} (status {answer.status}).",
        next_step="Download the paper with a browser and name the file.",
    )


def _entry(name: str, body: bytes) -> Entry:
    if b"<!DOCTYPE" in body[:4096] or b"<!ENTITY" in body:
        raise Unreachable(f"arXiv's answer about {name} is no catalogue entry.")
    try:
        feed = ElementTree.fromstring(body)  # noqa: S314 - size is bounded, and entities were refused above
    except ElementTree.ParseError as error:
        raise Unreachable(f"arXiv's answer about {name} cannot be read: {error}.") from error
    found = feed.find(f"{_ATOM}entry")
    title = _said(found, "title")
    if found is None or not title or title == "Error":
        raise UnreadablePaper(f"arXiv knows no paper {name}.", next_step="Check the id.")
    authors = tuple(_said(author, "name") for author in found.findall(f"{_ATOM}author"))
    year = _said(found, "published")[:4]
    doi = found.find("{http://arxiv.org/schemas/atom}doi")
    return Entry(
        name,
        title,
        tuple(filter(None, authors)),
        _said(found, "summary"),
        int(year) if year.isdigit() else None,
        (doi.text or "").strip() if doi is not None else "",
    )


def _said(element: ElementTree.Element | None, name: str) -> str:
    inner = element.find(f"{_ATOM}{name}") if element is not None else None
    return " ".join(plain(inner.text or "").split()) if inner is not None else ""
