"""`reenact test-hypothesis` and `reenact keep` on a terminal: exit codes, the JSON, the sentences."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from reenact.cli.edge import guarded
from reenact.cli.main import reenact
from tests.claims.conftest import CHECK, FIX, RETURNS

CLAIM = "The first step has the most to come"
WORDS = ("--claim", CLAIM, "--edit", "fix.diff", "--no-effect")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(RETURNS)
    (tmp_path / "fix.diff").write_text(FIX)
    (tmp_path / "check.py").write_text(CHECK)
    (tmp_path / "holds.py").write_text(CHECK.replace("1.0 + 0.5 + 0.25", "1.0"))
    (tmp_path / "unreached.py").write_text("observed = reference = 1\n")
    (tmp_path / "empty.diff").write_text("nothing\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> int:
    return int(guarded(reenact, ["test-hypothesis", *words, "train.py"]))


def test_the_json_is_as_its_schema_says(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(*WORDS, "--check", "check.py", "--output-format", "json") == 0
    whole = json.loads(capfd.readouterr().out)
    schema = json.loads(files("reenact.report").joinpath("result.schema.json").read_text())
    jsonschema.validate(whole, schema)
    assert (whole["kind"], whole["exit_code"]) == ("test-hypothesis", 0)
    data = whole["data"]
    assert data["status"] == "remark"
    assert data["claim"]["says"] == CLAIM
    assert {gate["gate"]: gate["passed"] for gate in data["gates"]}["red on the program"] is True
    assert data["red"] == ["observed 1, reference 1.75"] * 3
    for wrong in ({"status": 3}, {"gates": "all"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(whole | {"data": data | wrong}, schema)


def test_what_holds_already_is_refuted(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(*WORDS, "--check", "holds.py") == 0
    printed = " ".join(capfd.readouterr().out.split())
    assert "Refuted. Not red on the program: the property holds" in printed
    assert "before the edit 3 observed 1, reference 1" in printed
    assert guarded(reenact, ["keep", "--pytest", "test_x.py"]) == 2
    assert "shows no fault, so nothing is kept" in capfd.readouterr().err


def test_a_check_that_cannot_tell_is_not_tested(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(*WORDS, "--check", "unreached.py") == 3
    printed = " ".join(capfd.readouterr().out.split())
    assert "Not tested. The check cannot be used: The check does not reach the program" in printed


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--claim", " "), "A claim says in words what should hold."),
        (("--shows", "warns something is wrong"), "This is not a relation of `observed`."),
        (("--shows", "differs abc"), "This is not a relation of `observed`."),
        (("--edit", "empty.diff"), "There is no change in this edit."),
        (("--second", "empty.diff"), "There is no change in this edit."),
    ],
)
def test_what_cannot_be_tested_is_a_sentence(
    folder: Path, words: tuple[str, ...], says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(*WORDS, "--check", "check.py", *words) == 2
    assert says in " ".join(capfd.readouterr().err.split())


def test_nothing_to_keep_is_a_sentence(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert guarded(reenact, ["keep", "--pytest", "test_x.py"]) == 2
    assert "No run has been recorded here" in capfd.readouterr().err
    assert not (folder / "test_x.py").exists()
