"""arXiv and Semantic Scholar, as they answer and as they fail, from a server on this machine; a
library.
"""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import InputError, Unreachable, UnreadablePaper
from reenact.intake.papers.clients import (
    SERVER,
    SITE,
    Arxiv,
    Clients,
    Library,
    Scholar,
    arxiv_id,
)
from reenact.intake.papers.paper import Reference
from reenact.intake.papers.read import read_paper
from reenact.intake.web import Polite
from reenact.sandbox.box import Sandbox

LATEX = (
    b"\\documentclass{article}\\title{Own}\\begin{document}\\section{A}Some words.\\end{document}"
)
PACKED = gzip.compress(LATEX, mtime=0)


class Pace:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def polite(self, **options: Any) -> Polite:
        return Polite(sleep=self.sleep, clock=lambda: self.now, **options)


@pytest.fixture
def pace() -> Pace:
    return Pace()


def arxiv_at(hub: Any, pace: Pace, **options: Any) -> Arxiv:
    return Arxiv(replace(SITE, api=hub.api, wall_s=20.0), pace.polite(**options))


def scholar_at(hub: Any, pace: Pace) -> Scholar:
    return Scholar(replace(SERVER, api=hub.api), pace.polite())


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ("1706.03762", "1706.03762"),
        ("arXiv:1706.03762v5", "1706.03762v5"),
        ("https://arxiv.org/abs/1706.03762", "1706.03762"),
        ("http://www.arxiv.org/pdf/1706.03762v2.pdf", "1706.03762v2"),
        ("https://ar5iv.labs.arxiv.org/html/1706.03762", "1706.03762"),
        ("math/0309136", "math/0309136"),
        ("https://evil.org/arxiv.org/abs/1706.03762", ""),
        ("paper.pdf", ""),
        ("1706.037", ""),
    ],
)
def test_references_to_arxiv(ref: str, name: str) -> None:
    assert arxiv_id(ref) == name


def test_a_paper_of_arxiv_is_asked_for_once(
    hub: Any, pace: Pace, box: Sandbox, tmp_path: Path
) -> None:
    hub.say("/e-print/2001.00001", PACKED)
    arxiv = arxiv_at(hub, pace, folder=tmp_path / "kept")
    paper = read_paper("arXiv:2001.00001", box=box, clients=Clients(arxiv=arxiv))
    assert (paper.title, paper.form, paper.source) == (
        "Own",
        "latex",
        "arXiv:2001.00001",
    )
    assert paper.lost == ()
    asked = len(hub.asked)
    offline = arxiv_at(hub, pace, folder=tmp_path / "kept", offline=True)
    assert offline.fetch("2001.00001").data == PACKED
    assert len(hub.asked) == asked
    with pytest.raises(Unreachable, match="network is switched off"):
        offline.fetch("2001.00002")


def test_html_when_there_is_no_source_and_pdf_when_there_is_no_html(hub: Any, pace: Pace) -> None:
    page = b"<!DOCTYPE html><html><body class='ltx_page'><math alttext='x'></math></body></html>"
    hub.say("/e-print/1", b"%PDF-1.5 only a PDF")
    hub.say("/html/1", page)
    found = arxiv_at(hub, pace).fetch("1")
    assert (found.data, found.name) == (page, "1.html")
    assert found.notes == ("arXiv gave no LaTeX source of 1: it sent pdf instead.",)
    hub.say("/html/1", b"<!DOCTYPE html><html><body>No HTML for this paper.</body></html>")
    hub.say("/pdf/1", b"%PDF-1.5 the paper")
    assert arxiv_at(hub, pace).fetch("1").name == "1.pdf"


def test_a_paper_that_arxiv_does_not_have(hub: Any, pace: Pace) -> None:
    with pytest.raises(UnreadablePaper, match=r"knows no paper 2001\.99999"):
        arxiv_at(hub, pace).fetch("2001.99999")


def test_a_busy_server_is_asked_again_and_then_believed(hub: Any, pace: Pace) -> None:
    web, polite = replace(SITE, api=hub.api), pace.polite()
    hub.say("/busy", b"slow down", 429, retry_after="7")
    assert polite.get(web, "/busy").status == 429
    assert len(hub.asked) == 4
    assert pace.slept == [7.0, 7.0, 7.0]
    hub.say("/busy", b"broken", 503)
    pace.slept.clear()
    assert polite.get(web, "/busy").status == 503
    assert pace.slept == [3.0, 2.0, 1.0, 4.0, 8.0]


def test_an_absurd_wait_is_cut(hub: Any, pace: Pace) -> None:
    hub.say("/busy", b"", 429, retry_after="999999")
    assert pace.polite(tries=2).get(replace(SITE, api=hub.api), "/busy").status == 429
    assert pace.slept == [60.0]


def test_a_server_that_refuses_is_named(hub: Any, pace: Pace) -> None:
    hub.say("/pdf/2001.00001", b"", 503)
    with pytest.raises(Unreachable, match="status 503"):
        arxiv_at(hub, pace).fetch("2001.00001")


def test_no_network_is_reported(pace: Pace) -> None:
    nobody = replace(SITE, api="http://127.0.0.1:9", wall_s=5.0)
    with pytest.raises(Unreachable, match="cannot be reached") as error:
        Arxiv(nobody, pace.polite()).fetch("2001.00001")
    assert "name the file" in error.value.next_step


def test_a_name_that_leads_nowhere_is_asked_for_once(
    pace: Pace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for proxy in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)
        monkeypatch.delenv(proxy.upper(), raising=False)
    nowhere = replace(SITE, api="https://nowhere.invalid")
    with pytest.raises(Unreachable, match=r"nowhere\.invalid cannot be reached"):
        Arxiv(nowhere, pace.polite()).fetch("2001.00001")
    assert pace.slept == []


def test_only_good_answers_are_kept(hub: Any, pace: Pace, tmp_path: Path) -> None:
    arxiv = arxiv_at(hub, pace, folder=tmp_path / "kept")
    with pytest.raises(UnreadablePaper):
        arxiv.fetch("2001.00001")
    assert not (tmp_path / "kept").exists()


FIELDS = "title,year,externalIds,url,authors"


def test_a_reference_is_completed_by_its_id(hub: Any, pace: Pace) -> None:
    hub.say(
        f"/graph/v1/paper/arXiv:1706.03762?fields={FIELDS}",
        {
            "title": "Attention",
            "year": 2017,
            "externalIds": {"ArXiv": "1706.03762", "DOI": "10.1/a"},
            "authors": [{"name": "A. V."}, 3],
            "url": None,
        },
    )
    done = scholar_at(hub, pace).complete(Reference("k", "text", arxiv="1706.03762v5"))
    assert (done.title, done.doi, done.authors, done.year) == (
        "Attention",
        "10.1/a",
        ("A. V.",),
        2017,
    )
    assert (done.text, done.arxiv) == ("text", "1706.03762v5")


def test_a_reference_is_completed_by_a_title_that_is_the_same(hub: Any, pace: Pace) -> None:
    found = {
        "data": [
            {
                "title": "ADAM: a Method!",
                "externalIds": {"ArXiv": "1412.6980"},
                "year": 2014,
            }
        ]
    }
    hub.say(
        f"/graph/v1/paper/search/match?query=Adam%3A%20A%20method&fields={FIELDS}",
        found,
    )
    hub.say(f"/graph/v1/paper/search/match?query=Another&fields={FIELDS}", found)
    scholar = scholar_at(hub, pace)
    done = scholar.complete(Reference("k", "text", title="Adam: A method", year=2015))
    assert (done.arxiv, done.year, done.text) == ("1412.6980", 2015, "text")
    other = Reference("k", "text", title="Another")
    assert scholar.complete(other) == other
    assert scholar.complete(Reference("k", "unknown", title="Nobody knows")).arxiv == ""


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"<html>Busy</html>", 200, "cannot be read"),
        (b"[1]", 200, "not an object"),
        (b"{}", 403, "status 403"),
    ],
)
def test_answers_of_scholar_that_are_none(
    hub: Any, pace: Pace, body: bytes, status: int, message: str
) -> None:
    hub.say(f"/graph/v1/paper/DOI:10.1%2Fa?fields={FIELDS}", body, status)
    with pytest.raises(Unreachable, match=message):
        scholar_at(hub, pace).complete(Reference("k", "text", doi="10.1/a"))


@pytest.fixture
def library(tmp_path: Path) -> Library:
    adam, deep = tmp_path / "adam", tmp_path / "deep"
    (adam / "repository").mkdir(parents=True)
    (adam / "about.toml").write_text(
        'title = "Adam: A Method"\narxiv = "1412.6980"\ndoi = "10.1/Adam"\nurl = '
        '"https://example.org/adam/"\n'
    )
    (adam / "paper.pdf").write_bytes(b"%PDF")
    (adam / "paper.md").write_text("# Adam")
    (deep / "source").mkdir(parents=True)
    (deep / "about.toml").write_text('keys = ["he2016"]\n')
    (deep / "repository.bundle").write_bytes(b"")
    (tmp_path / "notes").mkdir()
    return Library(tmp_path)


@pytest.mark.parametrize(
    "reference",
    [
        Reference("x", "", doi="https://doi.org/10.1/ADAM"),
        Reference("x", "", arxiv="arXiv:1412.6980v9"),
        Reference("x", "", url="http://www.example.org/adam"),
        Reference("x", "", title="ADAM — a method"),
    ],
)
def test_found_by_doi_arxiv_address_or_title(library: Library, reference: Reference) -> None:
    found = library.find(reference)
    assert found is not None
    assert found.name == "adam"
    assert found.paper == library.folder / "adam" / "paper.md"
    assert found.repository == library.folder / "adam" / "repository"


def test_found_by_key_only_where_no_title_speaks_against_it(library: Library) -> None:
    found = library.find(Reference("he2016", "", title="Deep residual learning"))
    assert found is not None
    assert (found.name, found.paper) == ("deep", library.folder / "deep" / "source")
    assert found.repository == library.folder / "deep" / "repository.bundle"
    assert library.find(Reference("he2015", "", title="Another work", doi="10.1/other")) is None
    assert library.find(Reference("", "")) is None


@pytest.mark.parametrize("about", ["title = ", "title = 3", 'keys = "a"', 'title = "\\ud800"'])
def test_entries_that_cannot_be_read_are_reported(tmp_path: Path, about: str) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "about.toml").write_text(about)
    with pytest.raises(InputError, match=r"about\.toml"):
        Library(tmp_path).find(Reference("x", "", title="Some title"))


def test_a_library_that_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a folder"):
        Library(tmp_path / "nowhere").entries  # noqa: B018
