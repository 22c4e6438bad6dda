"""Code that no text names: what GitHub answers, what of it counts, and its refusals, from a local server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import Unreachable
from reenact.intake.papers.clients import Arxiv, Clients, Scholar
from reenact.intake.papers.paper import Paper, Reference
from reenact.intake.web import Polite, Web
from reenact.journal import Journal
from reenact.llm.scripted import Scripted
from reenact.paper.lineage.cited import CodeSearch
from reenact.paper.lineage.trace import trace_lineage
from reenact.paper.options import Goal
from reenact.sandbox.box import Sandbox

STEADY = Reference("moor2021", "", title="Steady Steps: Waiting between Updates", arxiv="2101.00002")


@contextmanager
def github(status: int, body: bytes) -> Iterator[tuple[CodeSearch, list[str]]]:
    asked: list[str] = []

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    web = Web(api=f"http://127.0.0.1:{server.server_port}")
    try:
        yield CodeSearch(web, Polite(every_s=0.0, tries=1)), asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def item(name: str, description: str | None, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": description, "html_url": f"https://github.com/x/{name}", **more}


def test_only_what_speaks_of_the_paper_counts() -> None:
    items = [
        item("awesome-list", "many papers"),
        item("steady", 'Code of "Steady Steps - waiting between updates" (2021)'),
        item("copy", "Steady Steps: Waiting between Updates", fork=True),
        item("other", "implements arXiv 2101.00002"),
        item("none", None),
        "nonsense",
    ]
    with github(200, json.dumps({"items": items}).encode()) as (search, asked):
        found = search.addresses(STEADY)
    assert found == ("https://github.com/x/steady", "https://github.com/x/other")
    assert "Steady%20Steps" in asked[0]


def test_a_short_title_is_not_searched_for() -> None:
    with github(200, b"{}") as (search, asked):
        assert search.addresses(Reference("a", "", title="Adam")) == ()
    assert asked == []


@pytest.mark.parametrize(("status", "body"), [(403, b"{}"), (422, b"{}"), (200, b"<html>"), (200, b"\xff")])
def test_refusals_are_sentences(status: int, body: bytes) -> None:
    with github(status, body) as (search, _), pytest.raises(Unreachable):
        search.addresses(STEADY)


@pytest.mark.parametrize("body", [b"[]", b'{"items": 3}', b'{"items": []}'])
def test_answers_without_repositories_find_none(body: bytes) -> None:
    with github(200, body) as (search, _):
        assert search.addresses(STEADY) == ()


def test_a_network_that_is_not_there_becomes_notes(paper: Paper, box: Sandbox, tmp_path: Path) -> None:
    closed = Web(api="http://127.0.0.1:9")
    polite = Polite(every_s=0.0, tries=1)
    clients = Clients(Arxiv(closed, closed, polite), Scholar(closed, polite))
    choice = {"picks": [{"key": "moor2021", "why": "the baseline"}]}
    with Journal.in_memory() as journal, journal.run(pipeline="paper", request={}) as run:
        (found,) = trace_lineage(
            paper, Goal(), Scripted([choice]), run, most=1, box=box, library=None, clients=clients,
            checkouts=tmp_path / "checkouts", search=CodeSearch(closed, polite),
        )  # fmt: skip
    assert (found.summary, found.files, found.repository) == ("", (), "")
    assert any("could not be fetched" in note for note in found.notes)
    assert any("cannot be reached" in note for note in found.notes)
