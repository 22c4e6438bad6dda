"""Paper and code side by side: every link leads somewhere, and nothing of a stranger is markup."""

from __future__ import annotations

import re
from dataclasses import replace

from reenact.codegen.project import Project
from reenact.intake.papers.paper import Equation, Paper, Paragraph, Section, Sentence
from reenact.paper.criterion import Category, CodeLine, Criterion, Judged, Level, Value
from reenact.paper.develop.development import Development
from reenact.paper.fingerprint.fingerprint import Fingerprint
from reenact.paper.measure.runs import FullRun
from reenact.paper.measure.verdict import Judgement, Verdict
from reenact.paper.options import Goal
from reenact.paper.reproduction import Reproduction
from reenact.paper.review.review import Review
from reenact.report.render import render
from reenact.report.views.paper import paper_document

PAPER = Paper(
    title="On <script>alert(1)</script>",
    authors=(),
    source="paper.md",
    form="markdown",
    sections=(
        Section(
            "3",
            1,
            "Method",
            (Paragraph("3:1", (Sentence("3:1.2", "We use <b>Adam</b>."),)),),
        ),
        Section("3.1", 2, "Loss", (Equation("3.1:2", "l = x^2", ""),)),
    ),
    references=(),
    lost=(),
)
CRITERIA = (
    Criterion(
        "F1",
        "Adam is used.",
        "training",
        "We use Adam",
        ("3:1.2",),
        Level.FRAMEWORK,
        Category.SETUP,
        2,
    ),
    Criterion(
        "F2",
        "The loss is l.",
        "loss",
        "l = x^2",
        ("3.1:2",),
        Level.PARAGRAPH,
        Category.ACTION,
        3,
    ),
    Criterion(
        "F3",
        "Nobody looked.",
        "",
        "l = x^2",
        ("3.1:2",),
        Level.PARAGRAPH,
        Category.ACTION,
        1,
    ),
)
JUDGED = (
    Judged("F1", Value.PASS, "check", "found", (CodeLine("train.py", 2, "Adam()"),)),
    Judged("F2", Value.FAIL, "judge", "<i>no</i> such line", ()),
)
PROJECT = Project({"train.py": "import x\nAdam()\n", "data/load.py": "1 < 2\n"})


FOUND = Reproduction(
    paper=PAPER,
    goal=Goal(),
    judgement=Judgement(Verdict.REPRODUCED, "It <i>holds</i>.", 0.0, 0.0),
    review=Review((), (), ()),
    claims=(),
    exemplars=(),
    fingerprint=Fingerprint(CRITERIA, ()),
    development=Development(PROJECT, (), 0, True, JUDGED, ()),
    runs=(),
    comparisons=(),
    gap_repair=None,
    scale=1.0,
    tokens=0,
    money=None,
    seconds=1.0,
    run_id="x",
)


def page() -> str:
    return render(paper_document(FOUND), "html")


def test_every_link_leads_to_one_place() -> None:
    targets = re.findall(r'id="([^"]+)"', page())
    links = re.findall(r'href="#([^"]+)"', page())
    assert len(targets) == len(set(targets))
    assert set(links) <= set(targets)
    assert len(links) >= 7


def test_what_comes_from_outside_is_text() -> None:
    assert "<script" not in page()
    assert "On &lt;script" in page()
    assert "<b>Adam" not in page()
    assert "It &lt;i&gt;holds" in page()
    assert "&lt;i&gt;no" in page()


def test_a_sentence_leads_to_its_line_and_the_line_back() -> None:
    assert re.search(r'<a id="p-3:1\.2" class="passage good" href="#code-0-L2"', page())
    assert re.search(r'<a class="squiggle good" href="#p-3:1\.2"[^>]*>Adam\(\)</a>', page())


def test_places_of_a_pdf_stand_below_their_page() -> None:
    sections = (
        Section(
            "3",
            1,
            "Method",
            (Paragraph("3:1", (Sentence("3:1.2", "We use Adam."),), 4),),
        ),
        Section(
            "3.1",
            2,
            "Loss",
            (Equation("3.1:2", "l = x^2", "", 4), Equation("3.1:3", "y = 1", "", 5)),
        ),
    )
    address = "https://example.org/paper.pdf"
    for source, link in (("my/paper.pdf", ""), (address, f'href="{address}#page=4"')):
        paper = replace(PAPER, source=source, sections=sections)
        text = render(paper_document(replace(FOUND, paper=paper)), "html")
        order = [
            text.index(one)
            for one in (
                'id="page-4"',
                'id="p-3:1.2"',
                'id="p-3.1:2"',
                'id="page-5"',
                'id="p-3.1:3"',
            )
        ]
        assert order == sorted(order)
        assert text.count("Page 4 of the PDF") == 1
        assert (link or 'id="page-4"') in text
        assert ("my/paper.pdf#page" in text) is False
    assert "of the PDF" not in page()


def test_formulas_are_drawn() -> None:
    assert '<math display="block">' in page()


def test_what_was_decided_and_assumed_is_folded_by_kind_and_whole_in_the_text() -> None:
    notes = (
        "Decided: The batch size is 8.",
        "Assumed: No bias.",
        "git is not installed.",
    )
    made = Development(PROJECT, (), 0, True, JUDGED, notes)
    document = paper_document(replace(FOUND, development=made))
    shown = render(document, "html")
    assert "<summary>Decided where the paper is silent <small>1</small></summary>" in shown
    assert "<li>No bias.</li>" in shown
    text = render(document, "markdown")
    assert "## Assumed by the code" in text
    assert "git is not installed." in text


def test_criteria_that_hold_are_folded_below_the_others() -> None:
    assert "<summary>Met by the code <small>1</small></summary>" in page()
    assert page().index("Nobody looked.") < page().index("Met by the code")


def test_a_run_out_of_time_shows_what_it_had() -> None:
    late = FullRun(0, False, {}, "timeout", 9.0, 8.0, 1.0, "", late=True, partial={"accuracy": 0.5})
    shorter = FullRun(0, True, {"accuracy": 0.7}, "", 2.0, 2.0, 1.0, "", 0.25)
    shown = render(paper_document(replace(FOUND, runs=(late, shorter), scale=0.25)), "html")
    assert "partial: out of time" in shown
    assert "(0.5)" in shown
    assert "25% of the paper&#x27;s training" in shown


def test_a_criterion_nobody_verified_says_so() -> None:
    assert "not verified" in page()
    assert page().count('class="error"') >= 1
