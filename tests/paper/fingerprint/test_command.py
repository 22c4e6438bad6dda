"""`reenact fingerprint` as a user meets it: recorded answers, every format, wrong usage,
nothing found.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reenact.cli.edge import guarded
from reenact.cli.main import reenact
from reenact.llm.ask import Prompt, Request, Text
from reenact.llm.recording import Recorder
from reenact.llm.scripted import Scripted
from reenact.paper.fingerprint.fingerprint import Guide, Splits

RATE = {
    "fact": "The learning rate is 0.05.",
    "scope": "training",
    "quote": "SGD with learning rate 0.05",
    "places": ["2.1:1.3"],
    "sort": "setup",
    "weight": 2,
    "check": {"kind": "parameter", "subject": "learning rate", "value": "0.05"},
}
SEEDS = {
    "fact": "Results are averaged <b>over</b> 10 seeds.",
    "quote": "All numbers are means over 10 seeds.",
    "places": ["2.1:1.4"],
    "sort": "verification",
}
RESULT = {**SEEDS, "fact": "It reaches 84.2%.", "sort": "result"}
ANSWERS: dict[str, tuple[Any, Any]] = {
    "fingerprint/fingerprint/framework": ({"items": [SEEDS, RESULT]}, Guide),
    "fingerprint/fingerprint/configuration": ({"items": [RATE]}, Guide),
    "fingerprint/fingerprint/scan[0]/paragraphs": ({"items": []}, Guide),
    "fingerprint/fingerprint/atoms[0]/split": ({"facts": []}, Splits),
}
COMMAND = ("fingerprint", "paper.md", "--model", "replay:answers.jsonl", "--trust-code")
Command = Callable[..., tuple[int, str, str]]


def recorded(folder: Path, answers: dict[str, tuple[Any, Any]]) -> None:
    script = {step: [answer] for step, (answer, _) in answers.items()}
    model = Recorder(Scripted(script), folder / "answers.jsonl")
    for step, (_, kind) in answers.items():
        request: Request[Any] = Request(
            step, Prompt("recorded", 1, "Answer.", (Text("Which?"),)), kind
        )
        model.ask(request)


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """The command line in this process: exit code, standard output, standard error."""
    paper = Path(__file__).parents[1] / "gentle.md"
    (tmp_path / "paper.md").write_text(paper.read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REENACT_CACHE_DIR", str(tmp_path / "cache"))

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = guarded(reenact, list(words))
        return code, *capsys.readouterr()

    return run


def test_a_fingerprint_in_every_format(tmp_path: Path, command: Command) -> None:
    recorded(tmp_path, ANSWERS)
    code, out, err = command(*COMMAND, "--output-format", "json")
    assert code == 0, err
    answer = json.loads(out)
    assert answer["verdict"] == (
        "2 criteria, every quote found in the paper; a program can look for 1 of them; proposals "
        "dropped: 1."
    )
    first, second = answer["data"]["criteria"]
    assert (first["id"], first["places"], first["check"]["value"]) == (
        "F1",
        ["2.1:1.3"],
        "0.05",
    )
    assert (second["id"], second["check"]) == ("F2", None)
    assert answer["data"]["dropped"][0]["reason"] == "it is a result"
    _, full, _ = command(*COMMAND)
    assert "learning rate = 0.05" in full
    _, page, _ = command(*COMMAND, "--output-format", "html")
    assert "&lt;b&gt;over&lt;/b&gt;" in page
    assert "<b>over</b>" not in page


def test_a_model_must_be_named(command: Command) -> None:
    code, _, err = command("fingerprint", "paper.md")
    assert code == 2
    assert "--model" in err


def test_a_paper_that_is_not_there(command: Command) -> None:
    code, _, err = command(
        "fingerprint", "missing.md", "--model", "replay:answers.jsonl", "--trust-code"
    )
    assert code == 2
    assert "missing.md" in err


def test_nothing_found_is_inconclusive(tmp_path: Path, command: Command) -> None:
    nothing = {step: ({"items": []}, Guide) for step in list(ANSWERS)[:3]}
    recorded(tmp_path, nothing)
    code, out, _ = command(*COMMAND)
    assert code == 3
    assert "No criterion could be taken" in out


def test_a_paper_of_ordinary_length_is_taken(tmp_path: Path, command: Command) -> None:
    """More than a journal takes as a request: real papers have it."""
    nothing = {step: ({"items": []}, Guide) for step in list(ANSWERS)[:2]}
    recorded(tmp_path, nothing)
    long = "\n\n".join(
        f"Sentence {number} of a paper says something of its own." for number in range(1200)
    )
    (tmp_path / "paper.md").write_text(f"# Long\n\n## Abstract\n\n{long}\n")
    code, out, err = command(*COMMAND, "--without", "scan")
    assert code == 3, err
    assert "No criterion could be taken" in out
