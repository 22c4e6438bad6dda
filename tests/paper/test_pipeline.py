"""A paper without numbers ends early: after two requests, with what the user can do about it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import BudgetSpent, Inconclusive, InputError, Stopped
from reenact.intake.papers.paper import Paper
from reenact.journal import Journal
from reenact.llm.ask import Call
from reenact.llm.scripted import Scripted
from reenact.paper.fingerprint.pipeline import run_fingerprint
from reenact.paper.options import Goal, PaperAblations, PaperOptions
from reenact.paper.pipeline import PaperServices, reproduce
from reenact.report.views.paper import paper_report
from reenact.sandbox.choose import choose
from reenact.types import Progress, Stop, tell_nobody

EMPTY = {
    "paper/review": {"overall": [], "method": [], "experiment": []},
    "paper/claims": {"claims": []},
}


def services(model: Scripted, tmp_path: Path, journal: Journal | None = None) -> PaperServices:
    return PaperServices(
        journal=journal or Journal.in_memory(),
        model=model,
        sandbox=choose(trust_code=True),
        cache=tmp_path,
        traces=tmp_path,
    )


def test_without_a_number_it_ends_after_the_second_request(paper: Paper, tmp_path: Path) -> None:
    model, notes = Scripted(EMPTY), list[str]()

    def tell(progress: Progress) -> None:
        notes.append(progress.note if not model.calls else "")

    with pytest.raises(Inconclusive, match="states no number for this task") as ended:
        reproduce(paper, replace(services(model, tmp_path), tell=tell))

    assert len(model.calls) == 2
    assert notes[0].startswith("cost: about "), "before the first request"
    assert "--claim" in str(ended.value.next_step)
    assert "--anyway" in str(ended.value.next_step)


@pytest.mark.parametrize(
    "options",
    [
        PaperOptions(anyway=True),
        PaperOptions(claims=("accuracy of Gentle on moons > 0.9",)),
    ],
)
def test_with_a_claim_of_the_user_or_anyway_it_goes_on(
    paper: Paper, tmp_path: Path, options: PaperOptions
) -> None:
    model = Scripted(EMPTY)

    with pytest.raises(Exception) as ended:  # noqa: PT011 - the script has no further answer
        reproduce(paper, services(model, tmp_path), options=options)

    assert not isinstance(ended.value, Inconclusive) or "states no number" not in str(ended.value)
    assert len(model.calls) > 2


def test_a_claim_that_cannot_be_read_costs_no_request(paper: Paper, tmp_path: Path) -> None:
    model = Scripted(EMPTY)

    with pytest.raises(InputError, match="This is not a claim"):
        reproduce(
            paper,
            services(model, tmp_path),
            options=PaperOptions(claims=("it is good",)),
        )

    assert model.calls == []


def test_a_fingerprint_that_was_taken_before_is_not_paid_for_again(
    paper: Paper, tmp_path: Path
) -> None:
    journal, guide = Journal.in_memory(), {"items": []}
    asked = ("framework", "configuration", "scan[0]/paragraphs")
    taking = Scripted({f"fingerprint/fingerprint/{step}": guide for step in asked})
    run_fingerprint(paper, Goal(), taking, journal, PaperAblations(), tell_nobody, what="gentle")
    assert len(taking.calls) == len(asked)

    model = Scripted(EMPTY)
    with pytest.raises(Exception):  # noqa: B017, PT011 - the script has no further answer
        reproduce(
            paper,
            services(model, tmp_path, journal),
            options=PaperOptions(anyway=True, exemplars=0),
        )

    steps = [call.step for call in model.calls]
    assert steps == ["paper/review", "paper/claims", "paper/develop/begin"]


CLAIM = {
    "metric": "accuracy",
    "value": 84.2,
    "unit": "%",
    "higher_is_better": True,
    "method": "Gentle targets",
    "dataset": "Rings",
    "place": "2.2:2",
    "quote": "84.2 ± 0.4",
    "asked": True,
}
REVIEW = {**EMPTY, "paper/claims": {"claims": [CLAIM]}}


def test_a_run_that_is_stopped_leaves_a_report_of_what_there_is(
    paper: Paper, tmp_path: Path
) -> None:
    stop, out = Stop(), tmp_path / "out"

    def script(call: Call) -> Any:
        if call.step.startswith("paper/fingerprint"):
            stop.ask()
            raise Stopped("Stopped while a model was asked.")
        return REVIEW[call.step]

    asked = replace(services(Scripted(script), tmp_path), stop=stop, report=paper_report)
    with pytest.raises(Stopped):
        reproduce(paper, asked, options=PaperOptions(exemplars=0), out=out)

    text = (out / "REPORT.md").read_text()
    assert "Inconclusive: It ended early, at step 3 of 6 (take its fingerprint)." in text
    assert "84.2%" in text, "what the paper claims is known already"
    assert "<!doctype html>" in (out / "report.html").read_text()


def test_a_report_of_somebody_else_is_not_written_over(paper: Paper, tmp_path: Path) -> None:
    (tmp_path / "REPORT.md").write_text("mine")
    asked = replace(
        services(Scripted([BudgetSpent("The budget is spent.")]), tmp_path),
        report=paper_report,
    )
    with pytest.raises(BudgetSpent):
        reproduce(paper, asked, out=tmp_path)
    assert (tmp_path / "REPORT.md").read_text() == "mine"
