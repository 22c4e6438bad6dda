"""Pictures and help texts in every format."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import PurePosixPath

import pytest
from pydantic_sarif.model import (
    StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif,
)

from reenact.report.document import Diagnostic, Document, Level, Picture
from reenact.report.fault_pages import detector_help
from reenact.report.line_plot import Curve, line_plot
from reenact.report.render import FORMATS, render
from reenact.types import Place


@pytest.fixture
def document() -> Document:
    curve = line_plot("loss", [Curve("loss", [0, 1, 2], [3.0, 2.0, 1.0])], words="falls").svg
    place = Place(PurePosixPath("my folder/train.py"), 12, 4, 12, 9)
    notice = Diagnostic(
        "UM005",
        "learning-rate-high",
        Level.WARNING,
        "learning rate 10\x1b[31m",
        place,
        help=detector_help("UM005"),
        pictures=(Picture("Range test", curve, "the loss rises from 1 on"),),
    )
    bare = Diagnostic("MD001", "model-opinion", Level.NOTE, "no page", None)
    return Document(
        "diagnose",
        "Diagnosis",
        "2 findings.",
        (Picture("Loss", curve, "loss ▇▄▁  3 -> 1"),),
        (notice, bare),
    )


def test_html_embeds_every_picture(document: Document) -> None:
    page = render(document, "html")
    assert page.count("<svg") == page.count("</svg>") == 2
    assert 'aria-label="loss: falls"' in page
    assert "Range test" in page
    assert "<script" not in page


@pytest.mark.parametrize("chosen", ["full", "markdown"])
def test_text_says_what_a_picture_shows(document: Document, chosen: str) -> None:
    text = render(document, chosen)
    assert "loss ▇▄▁  3 -> 1" in text
    assert "svg" not in text


@pytest.mark.parametrize("chosen", [name for name in FORMATS if name != "html"])
def test_no_other_format_carries_a_drawing(document: Document, chosen: str) -> None:
    assert "<svg" not in render(document, chosen)
    assert "<path" not in render(document, chosen)


def test_sarif_fits_the_types_made_from_the_official_schema_and_carries_the_rule_page(
    document: Document,
) -> None:
    text = render(document, "sarif")
    Sarif.model_validate_json(text)
    run = json.loads(text)["runs"][0]
    first, second = run["tool"]["driver"]["rules"]
    assert "## Instead" in first["help"]["markdown"]
    assert first["help"]["text"] == detector_help("UM005")
    assert "help" not in second
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "my%20folder/train.py"


def test_markdown_keeps_the_lines_of_a_finding_as_code(document: Document) -> None:
    detailed = replace(
        document.diagnostics[0],
        source="   48 | lr=10\n      | ^^",
        reasons=(("saw", "<b>*much*</b>"),),
        aside="sure",
    )
    text = render(replace(document, diagnostics=(detailed,)), "markdown")
    assert "\n         48 | lr=10\n" in text
    assert "\n      saw      <b>*much*</b>\n" in text
    assert text.index("saw  ") < text.index("## Loss"), "findings come first"


@pytest.mark.parametrize("chosen", ["concise", "github"])
def test_a_finding_stays_one_line(document: Document, chosen: str) -> None:
    assert len(render(document, chosen).splitlines()) == 3
