"""The pages of the rules: complete, from the docstrings, and the committed ones are up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.report.rule_pages import INDEX, pages, rule_help, write_pages
from reenact.rules.reading import SECTIONS
from reenact.rules.registry import all_rules

COMMITTED = Path(__file__).parents[2] / "docs" / "rules"


def test_every_rule_has_a_page_with_all_sections_and_a_line_in_the_index() -> None:
    made = pages()
    assert set(made) == {INDEX, *(f"{rule.code}.md" for rule in all_rules())}
    for rule in all_rules():
        page = made[f"{rule.code}.md"]
        assert [name for name in SECTIONS if f"## {name}\n" not in page] == [], rule.code
        assert f"[{rule.code}]({rule.code}.md)" in made[INDEX]


def test_the_committed_pages_are_those_that_the_docstrings_make() -> None:
    made = pages()
    committed = {file.name: file.read_text(encoding="utf-8") for file in COMMITTED.glob("*.md")}
    stale = sorted(name for name in made.keys() | committed.keys() if made.get(name) != committed.get(name))
    assert not stale, f"run `reenact rules --write docs/rules`; it differs in {', '.join(stale[:8])}"


def test_writing_takes_away_pages_of_rules_that_are_no_more(tmp_path: Path) -> None:
    (tmp_path / "ZZ999.md").write_text("gone")
    (tmp_path / "notes.md").write_text("mine")
    written = write_pages(tmp_path)
    assert not (tmp_path / "ZZ999.md").exists()
    assert (tmp_path / "notes.md").read_text() == "mine"
    assert len(written) == len(all_rules()) + 1


@pytest.mark.parametrize("code", ["MD001", ""])
def test_a_code_without_a_rule_has_no_help(code: str) -> None:
    assert rule_help(code) == ""
