"""A run as one file: everything in it, nothing fetched, no script."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reenact.journal import JournalReader
from reenact.report.recorded import Stored
from reenact.report.run_report import report_page

VOID = {"meta", "br", "input", "link", "img", "hr"}


class Checked(HTMLParser):
    """Notes what a browser would run or fetch, and whether every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "iframe", "object", "link", "img", "form"):
            self.wrong.append(tag)
        self.wrong += [
            f"{tag} {name}" for name, _ in attrs if name.startswith("on") or name == "src"
        ]
        self.wrong += [
            f"{tag} {value}"
            for name, value in attrs
            if name == "href" and not (value or "").startswith("#")
        ]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Drawings close their own elements."""

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")


@pytest.mark.parametrize(
    "pipeline", ["diagnose", "repair", "bug", "alternatives", "rehearsal", "failed"]
)
def test_a_report_stands_alone(runs_dir: Path, ids: dict[str, str], pipeline: str) -> None:
    with JournalReader.open(runs_dir) as shelf:
        text = report_page(Stored(shelf, shelf.find(ids[pipeline]), runs_dir))
    checked = Checked()
    checked.feed(text)
    assert checked.wrong == []
    assert checked.open == []
    assert "url(" not in text
    assert "data-figure" not in text
    assert "<style>" in text
    assert "prefers-color-scheme: dark" in text


def test_the_drawings_and_the_conversation_are_in_it(runs_dir: Path, ids: dict[str, str]) -> None:
    with JournalReader.open(runs_dir) as shelf:
        repair = report_page(Stored(shelf, shelf.find(ids["repair"]), runs_dir))
        asked = report_page(Stored(shelf, shelf.find(ids["rehearsal"]), runs_dir))
    assert repair.count("<svg") == 4, "before and after, curves, the best so far, trials"
    assert "You are asked." in asked
    assert "part-129" in asked
    assert re.search(r"131 steps: \d+ done", asked)


def test_links_in_it_lead_to_places_in_it(runs_dir: Path, ids: dict[str, str]) -> None:
    with JournalReader.open(runs_dir) as shelf:
        text = report_page(Stored(shelf, shelf.find(ids["diagnose"]), runs_dir))
    wanted = set(re.findall(r'href="#([^"]+)"', text))
    assert wanted
    assert wanted <= set(re.findall(r'id="([^"]+)"', text))


def test_several_runs_stand_in_one_file_without_a_clash_of_anchors(
    runs_dir: Path, ids: dict[str, str]
) -> None:
    with JournalReader.open(runs_dir) as shelf:
        chosen = [ids["diagnose"], ids["repair"], ids["bug"]]
        text = report_page(*(Stored(shelf, shelf.find(one), runs_dir) for one in chosen))
    checked = Checked()
    checked.feed(text)
    assert checked.wrong == []
    named = re.findall(r' id="([^"]+)"', text)
    assert len(named) == len(set(named))
    assert set(re.findall(r' href="#([^"]+)"', text)) <= set(named)
    assert set(chosen) <= set(named)
    assert text.count('<article class="of-several"') == 3
    assert ".of-several { margin-top" in text, "space between the table and the first run"
