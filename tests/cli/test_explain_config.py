from __future__ import annotations

import json
from pathlib import Path

import pytest

from reenact.api.reference import known_words
from reenact.cli.edge import guarded
from reenact.cli.main import reenact
from reenact.program.fault import Fault
from reenact.sandbox.box import Ending


def test_every_ending_and_fault_is_explained() -> None:
    words = known_words()
    assert {ending.value for ending in Ending} <= set(words)
    assert {fault.value for fault in Fault} <= set(words)


def test_explain_knows_case_insensitively(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(reenact, ["explain", "hlr"]) == 0
    assert "learning rate" in capsys.readouterr().out


def test_explain_of_an_unknown_word_suggests(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(reenact, ["explain", "timeoutt"]) == 2
    assert "Did you mean timeout?" in capsys.readouterr().err


def test_config_prints_value_and_origin(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reenact.toml").write_text("max_calls = 7\nmodel = 'command:evil'\nunheard_of = 1\n")
    assert guarded(reenact, ["config"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("Ignored: ") == 2
    assert guarded(reenact, ["config", "--output-format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["model"]["value"] == ""
    assert "Ignored" in data["unheard_of"]["help"]
    setting = data["max_calls"]
    assert setting["value"] == 7
    assert setting["origin"] == f"project file {tmp_path / 'reenact.toml'}"
