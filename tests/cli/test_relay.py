from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from contracts.model import question
from reenact.cli.edge import guarded
from reenact.cli.serving import relay
from reenact.errors import ModelUnreachable
from reenact.llm.live import open_model
from reenact.llm.patience import ManualClock
from reenact.llm.relay import waiting

ANSWER = '{"holds": true, "why": "seen"}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with pytest.raises(ModelUnreachable):
        open_model(f"relay:{tmp_path}", clock=ManualClock()).ask(question("bug/plan"))
    return tmp_path


def test_lists_what_waits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(relay, [str(folder)]) == 0
    printed = capsys.readouterr().out
    assert "bug-plan-0-" in printed
    assert "1 waiting." in printed


def test_lists_for_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(relay, [str(folder), "--output-format", "json"]) == 0
    (request,) = json.loads(capsys.readouterr().out)["data"]["waiting"]
    assert request["step"] == "bug/plan"
    assert guarded(relay, [str(folder), request["id"], "--output-format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["request"] == request


def test_shows_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(relay, [str(folder), "bug-plan"]) == 0
    printed = capsys.readouterr().out
    assert "You judge." in printed
    assert "Does it hold?" in printed
    assert '"required"' in printed


def test_files_an_answer_from_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mine.json").write_text(ANSWER)
    assert (
        guarded(
            relay,
            [
                str(folder),
                "bug-plan",
                "--answer",
                str(folder / "mine.json"),
                "--by",
                "ann",
            ],
        )
        == 0
    )
    assert "Filed" in capsys.readouterr().out
    assert waiting(folder) == []
    answer = open_model(f"relay:{folder}").ask(question("bug/plan"))
    assert (answer.value.why, answer.model) == ("seen", "relay:ann")
    assert guarded(relay, [str(folder)]) == 0
    assert "0 waiting." in capsys.readouterr().out


def test_files_an_answer_from_stdin(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"Here: {ANSWER}".encode())))
    assert guarded(relay, [str(folder), "bug-plan", "--answer", "-"]) == 0
    assert waiting(folder) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"holds": true}', "answer: 'why' is a required property"),
        ("I do not know", "no JSON object"),
        ('{"holds": tr', "breaks off"),
    ],
)
def test_an_answer_that_does_not_fit(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, complaint: str
) -> None:
    (folder / "mine.json").write_text(text)
    assert guarded(relay, [str(folder), "bug-plan", "--answer", str(folder / "mine.json")]) == 2
    assert complaint in capsys.readouterr().err
    assert len(waiting(folder)) == 1


def test_wrong_usage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(relay, [str(folder / "nowhere")]) == 2
    assert guarded(relay, [str(folder), "no-such-id"]) == 2
    assert guarded(relay, [str(folder), "--answer", "x.json"]) == 2
    assert guarded(relay, [str(folder), "bug-plan", "--answer", str(folder / "nowhere.json")]) == 2
    complaints = capsys.readouterr().err
    assert "Which request is answered?" in complaints
    assert "nowhere.json cannot be read" in complaints
