"""`reenact evaluate` from the command line: formats, forms, what is missing, and nothing asked
twice.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reenact.cli.reproducing import evaluate as command
from reenact.errors import InputError
from reenact.intake.papers.paper import Paper
from reenact.journal import Journal
from reenact.llm.scripted import Scripted
from reenact.paper.criterion import Value
from reenact.paper.evaluate.evaluation import (
    EvaluateOptions,
    EvaluateServices,
    evaluate,
)
from reenact.report.render import FORMATS, render
from reenact.report.views.evaluation import evaluation_document
from reenact.sandbox.choose import choose

LEAF = {
    "id": "a",
    "requirements": "The average has a lag",
    "weight": 1,
    "sub_tasks": [],
    "task_category": "Code Development",
}
FAILED = {
    "verdicts": [
        {
            "number": 1,
            "expected": "e",
            "found": "no lag",
            "verdict": "not satisfied",
            "lines": [{"file": "model.py", "line": 6}],
        }
    ]
}


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, *args: str) -> Any:
    monkeypatch.chdir(folder)
    return CliRunner().invoke(command, args, standalone_mode=False, catch_exceptions=False)


def test_quality_alone_needs_neither_paper_nor_model(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(tmp_path, monkeypatch, str(code), "--output-format", "json")
    data = json.loads(done.stdout)["data"]
    assert done.return_value == 0
    assert data["quality"]["files"] == 2


def test_a_form_is_written_empty_and_read_filled(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = tmp_path / "rater.toml"
    run(tmp_path, monkeypatch, str(code), "--form", str(form))
    form.write_text(form.read_text().replace('score = ""', "score = 5"))
    done = run(tmp_path, monkeypatch, str(code), "--form", str(form))
    assert "people 15.0 of 20" in done.stdout


def test_runs_lists_and_judges_side_by_side(
    code: Path, paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "good.json").write_text('{"accuracy": 90.0}')
    (tmp_path / "bad.json").write_text('{"accuracy": NaN}')
    (tmp_path / "expert.txt").write_text("Plain Averages: Means of Weights\n")
    (tmp_path / "judges.csv").write_text("item,one,two\na,1,1\nb,2,2\nc,3,4\n")
    done = run(
        tmp_path,
        monkeypatch,
        str(code),
        "--paper",
        paper.source,
        "--run",
        "good.json",
        "--run",
        "bad.json",
        "--metric",
        "accuracy",
        "--value",
        "100",
        "--expert",
        "expert.txt",
        "--exemplars",
        "1",
        "--judgements",
        "judges.csv",
        "--output-format",
        "json",
    )
    data = json.loads(done.stdout)["data"]
    assert (data["executed"]["rate"], data["executed"]["gap"]) == (0.5, 0.55)
    assert data["executed"]["gap_executed"] == pytest.approx(0.1)
    assert (data["lineage"]["top1"], data["lineage"]["hits"]) == (True, 1)
    assert data["panel"]["pairs"][0]["n"] == 3


def test_code_is_run_in_the_sandbox_where_that_is_asked_for(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code / "train.py").write_text(
        "import json, sys\nseed = int(sys.argv[2])\nassert seed != 1\n"
        "json.dump({'accuracy': 90.0 + seed}, open('metrics.json', 'w'))\n"
    )
    asked = (
        "--execute",
        "3",
        "--metric",
        "accuracy",
        "--value",
        "100",
        "--output-format",
        "json",
    )
    done = run(tmp_path, monkeypatch, str(code), "--trust-code", *asked)
    data = json.loads(done.stdout)["data"]
    assert data["executed"]["rate"] == pytest.approx(2 / 3)
    assert data["executed"]["gap_executed"] == pytest.approx(0.09)
    assert any("Seed 1: It ended with exit code 1" in note for note in data["notes"])


def test_code_without_an_entry_is_not_run(code: Path) -> None:
    (code / "train.py").unlink()
    box = choose(trust_code=True)
    with (
        Journal.in_memory() as journal,
        pytest.raises(InputError, match="nothing to run"),
    ):
        evaluate(
            EvaluateOptions(code, execute=1, metric="m", value=1.0),
            None,
            EvaluateServices(journal, sandbox=box),
        )


def test_what_is_missing_is_named(code: Path, paper: Paper) -> None:
    with Journal.in_memory() as journal:
        with pytest.raises(InputError, match="none is named"):
            evaluate(EvaluateOptions(code, align=True), paper, EvaluateServices(journal))
        with pytest.raises(InputError, match="against the paper"):
            evaluate(
                EvaluateOptions(code, align=True),
                None,
                EvaluateServices(journal, Scripted([])),
            )
        with pytest.raises(InputError, match="A gap needs"):
            evaluate(EvaluateOptions(code, metrics=(code,)), None, EvaluateServices(journal))


def test_failed_requirements_are_notices_in_every_format(
    code: Path, paper: Paper, tmp_path: Path
) -> None:
    rubric = tmp_path / "rubric.json"
    rubric.write_text(json.dumps(LEAF))
    options = EvaluateOptions(code, rubric=rubric)
    model = Scripted([FAILED])
    with Journal.in_memory() as journal:
        found = evaluate(options, paper, EvaluateServices(journal, model))
        again = evaluate(options, paper, EvaluateServices(journal, model))
    assert len(model.calls) == 1, "the same question is not paid twice"
    assert again.rubric == found.rubric
    assert found.rubric is not None
    assert found.rubric.count(Value.FAIL) == 1
    document = evaluation_document(found)
    assert "model.py" in render(document, "github")
    for chosen in FORMATS:
        assert render(document, chosen)


def test_a_silent_judge_is_inconclusive_and_no_zero(
    code: Path, paper: Paper, tmp_path: Path
) -> None:
    rubric = tmp_path / "rubric.json"
    rubric.write_text(json.dumps(LEAF))
    with Journal.in_memory() as journal:
        found = evaluate(
            EvaluateOptions(code, rubric=rubric),
            paper,
            EvaluateServices(journal, Scripted(["?"] * 9)),
        )
    assert found.is_silent
    assert found.unjudged == 1
    assert "1 could not be judged" in evaluation_document(found).verdict
