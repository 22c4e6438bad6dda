"""The cases of `python -m benchmarks forged`: complete, distinct and what they say they are."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from benchmarks.forged.answers import CLAIM, bug_answers, paper_answers, paper_text
from benchmarks.forged.case import (
    BugCase,
    ForgedCase,
    Origin,
    PaperCase,
    catalogue,
    read_case,
)
from reenact.bug.symptom import Symptom
from reenact.codegen.project import EXPECTED
from reenact.errors import InputError

CASES = catalogue()


def _named(case: ForgedCase) -> str:
    return case.id


def test_the_review_is_there_and_as_many_more() -> None:
    by_origin = {origin: [case for case in CASES if case.origin is origin] for origin in Origin}

    assert len([case for case in by_origin[Origin.REVIEW] if isinstance(case, PaperCase)]) == 13
    assert len([case for case in by_origin[Origin.REVIEW] if isinstance(case, BugCase)]) == 12
    assert len(by_origin[Origin.OWN]) >= 10
    assert sum(case.knows_controls for case in by_origin[Origin.OWN]) >= 5


def test_honest_controls_have_one_verdict_to_keep_and_not_all_the_same() -> None:
    for kind in (PaperCase, BugCase):
        honest = [case for case in CASES if isinstance(case, kind) and not case.is_forged]

        assert len(honest) >= 3
        assert all(len(case.right) == 1 for case in honest)
        assert {case.right[0] for case in honest} == {"reproduced", "not reproduced"}


@pytest.mark.parametrize("case", CASES, ids=_named)
def test_every_case_is_python_and_its_own(case: ForgedCase) -> None:
    texts = case.program() if isinstance(case, PaperCase) else {"script.py": case.script}  # type: ignore[attr-defined]

    for name, text in texts.items():
        if name.endswith(".py"):
            ast.parse(text, name)
    others = [other for other in CASES if other is not case]
    assert case.identity not in {other.identity for other in others}
    assert case.trick not in {other.trick for other in others}


@pytest.mark.parametrize(
    "case", [case for case in CASES if isinstance(case, PaperCase)], ids=_named
)
def test_a_paper_has_its_claim_a_whole_program_and_true_quotes(case: PaperCase) -> None:
    answers = paper_answers(case)
    program = case.program()
    paper = paper_text(case)

    assert set(EXPECTED) <= set(program)
    assert CLAIM not in paper + json.dumps(answers)
    claim = answers["paper/claims"]["claims"][0]
    assert claim["value"] == float(case.claim)
    assert claim["quote"] in paper
    for verdict in answers["paper/develop/verify/judge[0]/verdicts"]["verdicts"]:
        for line in verdict["lines"]:
            assert program[line["file"]].splitlines()[line["line"] - 1] == line["text"]
    written = [
        file["path"]
        for stage in ("data", "method", "experiment")
        for file in answers[f"paper/develop/{stage}/write"]["files"]
    ]
    assert sorted(written) == sorted(program)


@pytest.mark.parametrize("case", [case for case in CASES if isinstance(case, BugCase)], ids=_named)
def test_a_bug_has_a_symptom_that_its_report_states(case: BugCase) -> None:
    answers = bug_answers(case)
    symptom = Symptom.model_validate(answers["bug/symptom"])

    assert symptom.is_silent or symptom.grounded(case.report_file.read_text())
    assert answers["bug/context[0]/attempt[0]/script"] == {"script": case.script}


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ('origin = "own"', "is not a case"),
        (
            'trick = "x"\norigin = "own"\nknows_controls = true\nright = ["reproduced"]',
            "cannot be right",
        ),
        (
            'trick = "x"\norigin = "own"\nknows_controls = true\nright = ["believed"]',
            "do not exist: believed",
        ),
    ],
)
def test_a_case_that_is_not_well_formed_is_named(tmp_path: Path, about: str, words: str) -> None:
    folder = tmp_path / "bugs" / "strange"
    folder.mkdir(parents=True)
    bug = 'history = "plain"\nreport = "nan"\nfixed = true\n'
    (folder / "about.toml").write_text(bug + about)

    with pytest.raises(InputError, match=words) as refused:
        read_case(folder)
    assert "bugs/strange" in str(refused.value)


def test_a_case_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(InputError, match="Received: nothing-like-it") as refused:
        catalogue(["nothing-like-it"])

    assert "g1-crash" in refused.value.next_step
