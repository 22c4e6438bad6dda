from __future__ import annotations

import json
from pathlib import Path

import pytest

from reenact.api.reference import known_words
from reenact.claims.verdict import ClaimStatus
from reenact.cli.edge import guarded
from reenact.cli.main import reenact
from reenact.faults.fault_type import FaultType
from reenact.sandbox.box import Ending
from reenact.settings import resolve


def test_every_ending_and_fault_is_explained() -> None:
    words = known_words()
    assert {ending.value for ending in Ending} <= set(words)
    assert {fault.value for fault in FaultType} <= set(words)
    assert {status.value for status in ClaimStatus} <= set(words)


def test_explain_knows_case_insensitively(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(reenact, ["explain", "hlr"]) == 0
    assert "learning rate" in capsys.readouterr().out


def test_explain_of_an_unknown_word_suggests(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for word, meant in (("timeoutt", "timeout"), ("zero_gard", "zero_grad")):
        assert guarded(reenact, ["explain", word]) == 2
        assert f"Did you mean {meant}?" in capsys.readouterr().err


def test_explain_of_the_begin_of_a_code_lists_the_rules(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert guarded(reenact, ["explain", "re01"]) == 0
    assert "  RE010 gradients-not-cleared: " in capsys.readouterr().out


def test_a_rule_that_is_misspelt_is_suggested(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert guarded(reenact, ["lint", "--select", "gradient-not-cleared", str(tmp_path)]) == 2
    assert "Did you mean gradients-not-cleared" in capsys.readouterr().err


def test_config_prints_value_and_origin(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reenact.toml").write_text(
        "max_calls = 7\nmodel = 'command:evil'\nunheard_of = 1\n"
    )
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


def test_explain_finds_rules_by_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(reenact, ["explain", "zero_grad"]) == 0
    assert "RE010 gradients-not-cleared" in capsys.readouterr().out
    assert guarded(reenact, ["explain", "qwxyz"]) == 2
    assert len(capsys.readouterr().err) < 200


def test_rules_are_found_by_a_word_of_their_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert guarded(reenact, ["rules", "shuffled", "--output-format", "concise"]) == 0
    assert "RE009  not-shuffled" in capsys.readouterr().out
    assert guarded(reenact, ["rules", "qwxyz"]) == 2


def test_a_verb_that_is_nearly_one_is_suggested(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert guarded(reenact, ["diagnos", "train.py"]) == 2
    assert "Did you mean diagnose?" in capsys.readouterr().err


def test_a_setting_is_written_into_the_users_file_and_taken_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "reenact" / "reenact.toml"
    for words in (
        ["max-calls", "7"],
        ["max_cost", "0.5"],
        ["allow_packages", "numpy, scipy"],
        ["max_calls", "9"],
    ):
        assert guarded(reenact, ["config", "set", *words]) == 0
    known = resolve().settings
    assert (known.max_calls, str(known.max_cost), known.allow_packages) == (
        9,
        "0.5",
        ("numpy", "scipy"),
    )
    file.write_text("# mine\n" + file.read_text())
    assert guarded(reenact, ["config", "unset", "max_cost"]) == 0
    assert resolve().settings.max_cost is None
    assert "# mine" in file.read_text()
    before = file.read_text()
    assert guarded(reenact, ["config", "set", "sandbox", "paper"]) == 2
    assert guarded(reenact, ["config", "set", "unheard_of", "1"]) == 2
    assert guarded(reenact, ["config", "unset", "unheard_of"]) == 2
    assert guarded(reenact, ["config", "unset", "\x1b]0;x\x07"]) == 2
    assert "defect" not in capsys.readouterr().err
    assert guarded(reenact, ["config", "write"]) == 2
    assert file.read_text() == before


def test_an_unknown_variable_is_a_warning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REENACT_QWXYZ", "1")
    assert guarded(reenact, ["config"]) == 0
    assert "there is no setting qwxyz" in capsys.readouterr().err
