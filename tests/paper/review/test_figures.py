"""Numbers of figures alone: read off with their uncertainty, marked; asked for only where none
is printed.
"""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import BudgetSpent, Inconclusive
from reenact.intake.papers.paper import Figure, Paper, Section
from reenact.journal import Journal
from reenact.llm.ask import Image
from reenact.llm.scripted import Scripted
from reenact.paper.measure.gap import Match, compare
from reenact.paper.measure.runs import FullRun
from reenact.paper.options import Goal, PaperAblations, PaperOptions
from reenact.paper.pipeline import PaperServices, reproduce
from reenact.paper.review.review import figure_claims
from reenact.report.views.paper import paper_report
from reenact.sandbox.choose import choose

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
NUMBER = {
    "metric": "accuracy",
    "value": 84.0,
    "uncertainty": 6.0,
    "unit": "%",
    "higher_is_better": True,
    "method": "Gentle",
    "dataset": "Rings",
    "figure": "[8:1]",
    "seen": "End of the blue curve, above 80.",
}
EMPTY = {
    "paper/review": {"overall": [], "method": [], "experiment": []},
    "paper/claims": {"claims": []},
}


@pytest.fixture
def drawn(paper: Paper) -> Paper:
    """The paper with a figure that can be shown."""
    section = Section(
        "8", 1, "Curves", (Figure("8:1", "Accuracy on Rings.", "fig:1", "a.png", PNG),)
    )
    return replace(paper, sections=(*paper.sections, section))


def ran(seed: int, accuracy: float) -> FullRun:
    return FullRun(seed, True, {"accuracy": accuracy}, "", 1.0, 1.0, 1.0, "")


def test_a_number_is_read_off_with_its_uncertainty(drawn: Paper, run: Any) -> None:
    stray = {**NUMBER, "figure": "9:9"}
    model = Scripted({"paper/figures": {"numbers": [NUMBER, stray]}})
    found = figure_claims(drawn, Goal(), model, run)
    assert any(isinstance(part, Image) for turn in model.calls[0].turns for part in turn.parts)
    (claim,) = found.claims
    assert (claim.id, claim.value, claim.spread, claim.unit, claim.place) == (
        "R1",
        84.0,
        6.0,
        "%",
        "8:1",
    )
    assert claim.read_off
    assert found.dropped == ("accuracy 84 of Gentle: there is no such figure (9:9)",)


@pytest.mark.parametrize(("measured", "holds"), [(0.79, True), (0.75, False)])
def test_it_holds_within_the_uncertainty_of_the_reading(
    drawn: Paper, run: Any, measured: float, holds: bool
) -> None:
    claims = figure_claims(
        drawn, Goal(), Scripted({"paper/figures": {"numbers": [NUMBER]}}), run
    ).claims
    (one,) = compare(claims, (ran(0, measured),), (Match(claim="R1", metric="accuracy"),))
    assert one.holds is holds


def test_a_reading_without_an_uncertainty_is_refused(drawn: Paper, run: Any) -> None:
    bad = {"numbers": [{**NUMBER, "uncertainty": 0.0}]}
    found = figure_claims(drawn, Goal(), Scripted({"paper/figures": [bad, bad, bad]}), run)
    assert found.claims == ()
    assert found.dropped[0].startswith("Nothing was read off the figures:")


def test_without_a_picture_nobody_is_asked(paper: Paper, run: Any) -> None:
    model = Scripted({})
    assert figure_claims(paper, Goal(), model, run).claims == ()
    assert model.calls == []


def services(model: Scripted, folder: Path) -> PaperServices:
    return PaperServices(
        journal=Journal.in_memory(),
        model=model,
        sandbox=choose(trust_code=True),
        cache=folder,
        traces=folder,
        report=paper_report,
    )


def test_with_numbers_of_figures_alone_it_goes_on_and_marks_them(
    drawn: Paper, tmp_path: Path
) -> None:
    model = Scripted(
        {
            **EMPTY,
            "paper/figures": {"numbers": [NUMBER]},
            "paper/develop/begin": [BudgetSpent("Spent.")],
        }
    )
    parts = PaperAblations(lineage=False, fingerprint=False)
    with pytest.raises(BudgetSpent):
        reproduce(
            drawn,
            services(model, tmp_path),
            options=PaperOptions(parts=parts),
            out=tmp_path / "out",
        )
    report = (tmp_path / "out" / "REPORT.md").read_text()
    assert "accuracy, Gentle, Rings (read off a figure)" in report
    assert "84% ± 6" in report


@pytest.mark.parametrize("figures", [True, False])
def test_figures_without_a_number_end_it(drawn: Paper, tmp_path: Path, figures: bool) -> None:
    model = Scripted({**EMPTY, "paper/figures": {"numbers": []}})
    options = PaperOptions(parts=PaperAblations(figures=figures))
    with pytest.raises(Inconclusive, match="states no number"):
        reproduce(drawn, services(model, tmp_path), options=options)
    assert len(model.calls) == (3 if figures else 2)
