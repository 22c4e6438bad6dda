"""The page of a paper: claims first, its text beside the code, lineage, rounds, runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from reenact.codegen.project import Project
from reenact.intake.papers.paper import Paper, Paragraph, Section, Sentence
from reenact.journal import Journal
from reenact.paper.criterion import Category, CodeLine, Criterion, Judged, Level, Value
from reenact.paper.develop.checks import Stage
from reenact.paper.develop.development import Development, Round
from reenact.paper.fingerprint.fingerprint import Fingerprint
from reenact.paper.lineage.code import CitedFile
from reenact.paper.lineage.trace import Exemplar
from reenact.paper.measure.curves import Curve
from reenact.paper.measure.gap import Comparison, Grade
from reenact.paper.measure.gap_repair import GapRepair
from reenact.paper.measure.runs import FullRun
from reenact.paper.measure.verdict import Judgement, Verdict
from reenact.paper.options import Goal
from reenact.paper.reproduction import Reproduction
from reenact.paper.review.claims import PaperClaim
from reenact.paper.review.review import Review
from reenact.report.render import render
from reenact.report.views.paper import paper_document, paper_report
from reenact.web.state import AppState

CODE = "import torch\n\nlearning_rate = 0.001\n"


CURVES = (
    Curve("loss", "", "epoch", (1.0, 2.0, 3.0), (0.9, None, 0.2)),
    Curve("accuracy", "", "epoch", (1.0, 2.0, 3.0), (0.5, 0.8, 0.918)),
)


def a_paper(curves: tuple[Curve, ...] = CURVES) -> Reproduction:
    output = (
        Sentence("1:1.1", "We train with a rate of 0.001."),
        Sentence("1:1.2", "We reach 92.1 % accuracy."),
    )
    paper = Paper(
        "A <b>fine</b> paper",
        (),
        "main.tex",
        "latex",
        (Section("1", 1, "Method", (Paragraph("1:1", output),)),),
        (),
        (),
    )
    claim = PaperClaim(
        id="C1",
        metric="accuracy",
        value=92.1,
        unit="%",
        higher_is_better=True,
        method="ours",
        dataset="digits",
        setting="",
        spread=None,
        place="1:1.2",
        quote="92.1 %",
    )
    criterion = Criterion(
        "F1",
        "The rate is 0.001.",
        "training",
        "a rate of 0.001",
        ("1:1.1",),
        Level.CONFIGURATION,
        Category.SETUP,
        2,
    )
    judged = Judged(
        "F1",
        Value.PASS,
        "check",
        "it is",
        (CodeLine("train.py", 3, "learning_rate = 0.001"),),
    )
    missing = Criterion(
        "F2",
        "It decays.",
        "training",
        "We reach",
        ("1:1.2",),
        Level.PARAGRAPH,
        Category.SETUP,
        1,
    )
    unclear = Judged("F2", Value.FAIL, "judge", "nowhere to be seen")
    rounds = (
        Round(1, Stage.METHOD, "a", False, (), (), (), (), ("it does not run",), 40, 3),
        Round(2, Stage.EXPERIMENT, "b", True, ("F1",), ("F2",), (), ("F1",), (), 12),
    )
    compared = Comparison(claim, "accuracy", 91.8, 0.2, 3, 0.003, Grade.A)
    return Reproduction(
        paper=paper,
        goal=Goal(),
        judgement=Judgement(Verdict.REPRODUCED, "All 1 claims hold.", 0.003, 0.003),
        review=Review((), (), ()),
        claims=(claim,),
        exemplars=(
            Exemplar(
                "doe",
                "An older paper",
                "the baseline",
                (),
                "It did so.",
                "acme/older",
                "MIT",
                (CitedFile("net.py", "net = 1\n", "the network"),),
            ),
        ),
        fingerprint=Fingerprint((criterion, missing), ()),
        development=Development(
            Project({"train.py": CODE}), rounds, 2, True, (judged, unclear), ()
        ),
        runs=(
            FullRun(
                0,
                True,
                {"accuracy": 0.918},
                "",
                12.0,
                11.0,
                300.0,
                "epoch 1",
                curves=curves,
            ),
        ),
        comparisons=(compared,),
        gap_repair=GapRepair("Nothing was to be repaired."),
        scale=1.0,
        tokens=10,
        money=None,
        seconds=30.0,
        run_id="x",
        notes=("a note",),
    )


@pytest.fixture(params=[CURVES])
def page(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    make_state: Callable[[Path], AppState],
    enter: Callable[[AppState], TestClient],
) -> str:
    found = a_paper(request.param)
    with (
        Journal.open(tmp_path) as journal,
        journal.run(pipeline="paper", request={}, what="A paper") as run,
    ):
        run.note("result", found)
        run.finish(found.in_short())
    answer = enter(make_state(tmp_path)).get(f"/runs/{run.record.id}")
    assert "<b>fine" not in answer.text
    return unescape(answer.text)


def test_verdict_and_claims_come_first(page: str) -> None:
    assert "reproduced: All 1 claims hold." in page
    assert page.index('id="claims"') < page.index('id="criteria"') < page.index('id="text"')
    for output in ("92.1%", "91.8% ± 0.2", "0.3%"):
        assert output in page


def test_a_sentence_leads_to_its_line_and_the_line_to_its_sentence(page: str) -> None:
    assert re.search(r'<a id="p-1:1\.1" class="passage good" href="#code-0-L3"[^>]*>We train', page)
    assert 'id="code-0-L3"' in page
    assert re.search(
        r'<a class="squiggle good" href="#p-1:1\.1"[^>]*>learning_rate = 0\.001</a>',
        page,
    )
    assert '<a href="#code-0-L3">train.py:3</a>' in page
    assert re.search(r'<a id="p-1:1\.2" class="passage error" href="#criterion-F2"', page)


def test_every_link_on_the_page_leads_somewhere(page: str) -> None:
    wanted = set(re.findall(r'href="#([^"]+)"', page))
    assert wanted <= set(re.findall(r'id="([^"]+)"', page)) | {"main"}


def test_lineage_rounds_and_runs_are_reported(page: str) -> None:
    assert "An older paper [doe]" in page
    assert "2. experiment" in page
    assert "turned: F1" in page
    assert "it does not run" in page
    assert "What the run with seed 0 printed" in page
    assert "Nothing was to be repaired." in page


def test_how_it_trained_is_drawn_with_the_papers_number_across(page: str) -> None:
    training = page[page.index('id="training"') : page.index('id="runs"')]
    assert training.count("<svg") == 2
    assert "The paper's number for seed 0: C1, 92.1%." in training
    assert ">C1, 92.1%</text>" in training
    assert "seed 0: 0.9 to 0.2 at epoch 3, of which 1 with values that are not numbers." in training


@pytest.mark.parametrize("page", [()], indirect=True)
def test_a_run_that_logged_nothing_of_its_training_is_stated(page: str) -> None:
    assert "The runs logged nothing of their training: no printed line and no log file" in page


def test_the_report_has_the_pictures_and_their_words() -> None:
    found = a_paper()
    html = render(paper_document(found), "html")
    assert html.count('<figure class="chart">') == 3
    assert "C1, 92.1%" in html
    written = paper_report(found)["REPORT.md"]
    assert "seed 0: 0.5 to 0.918 at epoch 3." in written
    assert "1 with values that are not numbers" in written
    assert "The runs logged nothing of their training" in paper_report(a_paper(()))["REPORT.md"]
