"""What is shown and written of a reproduced paper, and what a wrong call says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from reenact.cli.reproducing import paper as paper_verb
from reenact.codegen.project import Project
from reenact.errors import InputError
from reenact.intake.papers.paper import Lost, Paper, Paragraph, Section, Sentence
from reenact.paper.criterion import Category, CodeLine, Criterion, Judged, Level, Value
from reenact.paper.develop.checks import Stage
from reenact.paper.develop.development import Development, Round
from reenact.paper.fingerprint.fingerprint import Dropped, Fingerprint
from reenact.paper.lineage.trace import Exemplar
from reenact.paper.measure.gap import Match, compare
from reenact.paper.measure.gap_repair import GapRepair
from reenact.paper.measure.runs import FullRun
from reenact.paper.measure.verdict import verdict_of
from reenact.paper.options import Goal
from reenact.paper.reproduction import Reproduction
from reenact.paper.review.claims import PaperClaim
from reenact.paper.review.review import Review
from reenact.report.render import render
from reenact.report.views.paper import paper_document, paper_report

SAID = Sentence("1:1.1", "We train with a learning rate of 0.05.")
PAPER = Paper(
    "Slow | Slopes",
    (),
    "paper.md",
    "markdown",
    (Section("1", 1, "Method", (Paragraph("1:1", (SAID,)),)),),
    (),
    (Lost("figure", "The picture a.eps cannot be shown."),),
)
CLAIM = PaperClaim(
    id="C1",
    metric="error",
    value=0.07,
    unit="",
    higher_is_better=False,
    method="Slow Slopes",
    dataset="lines",
    setting="",
    spread=0.01,
    place="1:1.1",
    quote="0.07",
)
RATE = "a learning rate of 0.05"
CRITERIA = (
    Criterion(
        "F1",
        "The rate is 0.05.",
        "training",
        RATE,
        ("1:1.1",),
        Level.PARAGRAPH,
        Category.SETUP,
        2,
    ),
    Criterion(
        "F2",
        "It never changes.",
        "training",
        RATE,
        ("1:1.1",),
        Level.PARAGRAPH,
        Category.ACTION,
        1,
    ),
)
CITED = Exemplar(
    "mean21",
    "Means",
    "the baseline",
    ("1:1.1",),
    "Takes means.",
    "library:means",
    "MIT",
    (),
)
LINE = CodeLine("train.py", 1, "RATE = 0.05")
JUDGED = (
    Judged("F1", Value.PASS, "check", "RATE is 0.05.", (LINE,)),
    Judged(
        "F2",
        Value.FAIL,
        "judge",
        "It is halved.",
        (replace(LINE, line=2, text="RATE /= 2"),),
    ),
)
ROUND = Round(1, Stage.EXPERIMENT, "abc", True, ("F1",), ("F2",), (), ("F1",), (), 12)


def report_text(found: Reproduction) -> str:
    return paper_report(found)["REPORT.md"]


def reproduction(measured: float) -> Reproduction:
    runs = tuple(
        FullRun(seed, True, {"error": measured + seed / 1000}, "", 1.0, 1.0, 9.0, "")
        for seed in (0, 1)
    )
    comparisons = compare((CLAIM,), runs, (Match(claim="C1", metric="error"),))
    made = Development(
        Project({"train.py": "RATE = 0.05\nRATE /= 2\n"}),
        (ROUND,),
        1,
        True,
        JUDGED,
        ("Assumed: a seed.",),
    )
    return Reproduction(
        paper=PAPER,
        goal=Goal(task="fit a line"),
        judgement=verdict_of(comparisons, runs=True),
        review=Review((), (), ()),
        claims=(CLAIM,),
        exemplars=(CITED,),
        fingerprint=Fingerprint(CRITERIA, (Dropped("It is best.", Level.PARAGRAPH, "a result"),)),
        development=made,
        runs=runs,
        comparisons=comparisons,
        gap_repair=None,
        scale=1.0,
        tokens=1200,
        money=None,
        seconds=61.0,
        run_id="r1",
    )


def test_the_report_says_what_holds_and_what_does_not() -> None:
    text = report_text(reproduction(0.071))
    assert "**Reproduced: The number holds.**" in text
    assert (
        "| C1 | error, Slow Slopes, lines \\[1:1.1\\] | 0.07 ± 0.01 | 0.0715 ± 0.000707 | 2 | "
        "2.1% | B |"
    ) in text
    assert "| F2 | It never changes. | fail (judge) | 1:1.1 | train.py:2 | It is halved. |" in text
    assert "1 pass, 1 fail, 0 cannot be judged; 1 proposals dropped" in text
    assert "library:means (MIT)" in text
    assert "## Lost in reading\n\n    The picture a.eps cannot be shown." in text


def test_what_could_not_be_had_of_cited_work_is_on_the_page() -> None:
    lost = replace(CITED, notes=("Its text could not be fetched: no network.",))
    assert "no network." in render(
        paper_document(replace(reproduction(0.071), exemplars=(lost,))), "html"
    )


def test_what_earlier_runs_paid_for_is_stated() -> None:
    found = reproduction(0.071)
    assert "taken over" not in report_text(found)
    assert "| taken over | 3 steps of earlier runs" in report_text(replace(found, reused=3))


def test_every_metric_is_reported_whether_or_not_the_paper_has_it() -> None:
    found = reproduction(0.071)
    first, *others = found.runs
    more = replace(
        found,
        runs=(replace(first, metrics={**first.metrics, "test_recall": 0.5}), *others),
    )
    assert "| error | 0.0715 | 0.000707 | 2 | C1 |" in report_text(more)
    assert "| test\\_recall | 0.5 | - | 1 |  |" in report_text(more)
    assert "over 1 claims, 1 of them measured" in report_text(more)
    many = replace(first, metrics={f"m{number:03}": 1.0 for number in range(90)})
    assert "| and 10 more |" in report_text(replace(found, runs=(many,)))


def test_a_claim_that_misses_and_a_hypothesis_are_reported() -> None:
    found = reproduction(0.7)
    repair = GapRepair(
        "The gap became 3 %.", ("With RATE = 0.1.",), "--- a\n+++ b\n", ("epochs (F9)",)
    )
    text = report_text(replace(found, gap_repair=repair))
    assert "**Not reproduced: " in text
    assert "## What the paper may not say" in text
    assert "- With RATE = 0.1." in text
    assert "epochs (F9)" in text


def test_every_format_shows_it() -> None:
    document = paper_document(reproduction(0.071))
    reported = json.loads(render(document, "json"))
    assert reported["data"]["verdict"] == "reproduced"
    assert reported["data"]["judged"][0]["lines"][0]["file"] == "train.py"
    assert "train.py:2:1: PR001" in render(document, "concise")
    page = render(document, "html")
    assert 'href="#code-0-L2"' in page
    assert "Slow | Slopes" in page


def test_without_a_model_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(paper_verb, ["nowhere.tex"])
    assert isinstance(ended.exception, InputError)
    assert "none is named" in ended.exception.sentence
    assert "--model" in ended.exception.next_step


def test_a_paper_that_is_not_there_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(paper_verb, ["nowhere.tex", "--model", "relay:asked"])
    assert isinstance(ended.exception, InputError)
    assert "nowhere.tex" in str(ended.exception)


def test_an_addendum_that_is_no_text_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "added.bin").write_bytes(b"\xff\xfe\x00\x80")
    ended = CliRunner().invoke(
        paper_verb, ["x.tex", "--model", "relay:asked", "--addendum", "added.bin"]
    )
    assert isinstance(ended.exception, InputError)
    assert "The addendum cannot be read as text" in ended.exception.sentence
