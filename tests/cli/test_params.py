"""`reenact params`: what a user sees."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from reenact.cli.edge import guarded
from reenact.cli.main import reenact

CORPUS = Path(__file__).parent.parent / "corpus"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = guarded(reenact, ["params", *words])
    found = capsys.readouterr()
    return code, found.out, found.err


def test_the_table_names_place_value_and_alternatives(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CORPUS / "torch_argparse_given")
    code, out, _ = run(capsys, "run.py", "--lr", "0.1", "--epochs=3", "--opt", "adam")
    assert code == 0
    assert "run.py:10:44" in out
    assert "--lr; source:" in out
    assert "sgd, rmsprop" in out


def test_json_holds_everything(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CORPUS / "keras_notebook")
    code, out, _ = run(capsys, "--output-format", "json", "study.ipynb")
    data = json.loads(out)["data"]
    assert code == 0
    assert data["framework"] == "keras3"
    rate = next(param for param in data["knobs"] if param["kind"] == "learning-rate")
    assert (rate["value"], rate["where"]) == (0.01, "study.ipynb cell 3 line 6")
    assert [layer["type"] for layer in data["layers"]] == ["Input", "Dense", "Dense"]


def test_launcher_lines_and_packages(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CORPUS / "torch_launcher")
    assert run(capsys, "--", "torchrun", "--standalone", "ddp.py")[0] == 0
    monkeypatch.chdir(CORPUS / "torch_package")
    code, out, _ = run(capsys, "--output-format", "json", "-m", "ember")
    assert code == 0
    assert "ember/settings.py:8:17" in [
        param["where"] for param in json.loads(out)["data"]["knobs"]
    ]


@pytest.mark.parametrize(
    "words",
    [("nowhere.py",), ("syntax_error.py",), ("utf16.py",), ("truncated.ipynb",)],
)
def test_a_bad_program_is_a_sentence(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    monkeypatch.chdir(CORPUS.parent / "corpus_bad")
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith("reenact: ")
    assert words[0] in err
    assert "Traceback" not in err


def test_an_option_behind_the_program_is_the_programs_and_that_is_stated(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CORPUS / "torch_argparse_given")
    _, _, err = run(capsys, "run.py", "--output-format", "json", "--lr", "0.1")
    assert err == (
        "reenact: --output-format is after the program's name, so the program gets it. "
        "Options of reenact come first: reenact params --output-format ... run.py\n"
    )
    _, out, err = run(capsys, "run.py", "--", "--output-format", "json", "--lr", "0.125")
    assert (err, "0.125" in out) == ("", True)


@pytest.mark.parametrize(("old", "new"), [("knobs", "params"), ("neutral", "alternatives")])
def test_an_old_name_works_and_says_the_new_one(
    old: str, new: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert guarded(reenact, [old, "--help"]) == 0
    out, err = capfd.readouterr()
    assert f"`reenact {old}` is now `reenact {new}`" in err
    assert "PROGRAM" in out
    assert old not in {*reenact.list_commands(click.Context(reenact))}


def test_an_old_option_works_and_says_the_new_one(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert guarded(reenact, ["repair", "--chance", "3", "missing.py"]) == 2
    assert "--chance is now --search-seed" in capfd.readouterr().err


def test_an_option_that_reenact_does_not_have_is_refused_with_the_one_that_is_near(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert guarded(reenact, ["params", "--outputformat", "json", "train.py"]) == 2
    assert (
        "No such option '--outputformat'. Did you mean '--output-format'?"
        in capsys.readouterr().err
    )
