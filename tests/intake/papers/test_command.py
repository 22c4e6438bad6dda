"""`reenact read`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from reenact.cli.main import reenact
from reenact.cli.read import counts_of, paper_document
from reenact.intake.papers.paper import Paper
from reenact.report.render import FORMATS, render


def test_outline_counts_and_losses(latex: Paper) -> None:
    assert counts_of(latex) == {
        "sections": 6,
        "sentences": 17,
        "equations": 3,
        "tables": 1,
        "figures": 2,
        "algorithms": 1,
        "references": 2,
    }
    shown = render(paper_document(latex), "full", width=120, color=False)
    assert "Narrow Layers Learn Late" in shown
    assert "2.2" in shown
    assert "1 table, 2 figure" in shown
    assert "No one defines \\odd" in shown
    assert "lost in reading: 4" in shown


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_shows_what_was_lost_in_reading(latex: Paper, form: str) -> None:
    shown = render(paper_document(latex), form, width=120, color=False)
    assert "sections/missing is included, and it is not there." in shown
    assert "The picture curve.eps cannot be shown" in shown
    assert "undone: it was left out." in shown


def test_the_command_prints_json_and_text(fixtures: Path) -> None:
    place = str(fixtures / "narrow.md")
    result = CliRunner().invoke(
        reenact, ["read", place, "--output-format", "json"], catch_exceptions=False
    )
    data = json.loads(result.stdout)
    assert data["kind"] == "read"
    text = CliRunner().invoke(reenact, ["read", place, "--text"], catch_exceptions=False)
    assert "[1:1.1] Let $x" in text.stdout
