from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reenact.errors import MissingPart, UnknownModel
from reenact.llm.live import open_model
from reenact.llm.recording import Replay
from reenact.testing.model import GOOD, question


def test_a_run_is_recorded_and_becomes_a_model(tmp_path: Path) -> None:
    script = tmp_path / "assistant.py"
    script.write_text(f"import sys; sys.stdin.read(); print({GOOD!r})")
    file = tmp_path / "deep" / "run.jsonl"
    answer = open_model(f"command:{sys.executable} {script}", record_to=file).ask(question())
    again = open_model(f"replay:{file}", strict=True).ask(question())
    assert again.value == answer.value
    assert again.model == answer.model


def test_a_home_folder_may_be_abbreviated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    open_model("relay:~/relay")
    assert (tmp_path / "relay").is_dir()
    (tmp_path / "run.jsonl").touch()
    assert isinstance(open_model("replay:~/run.jsonl"), Replay)


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that adds the prefixes `echo:` and `broken:`."""
    (tmp_path / "echoing.py").write_text(
        "from reenact.llm.scripted import ScriptWire\n"
        "def open_wire(rest, patience, clock):\n"
        "    return ScriptWire([{'holds': True, 'why': rest}], 'echo')\n"
    )
    info = tmp_path / "echoing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: echoing\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[reenact.models]\necho = echoing:open_wire\nbroken = echoing:missing\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("plugin")
def test_plug_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_model("echo:hello").ask(question()).value.why == "hello"
    with pytest.raises(MissingPart, match="plug-in for broken: models is broken"):
        open_model("broken:x")
    with pytest.raises(UnknownModel):
        open_model("ecco:x")
    monkeypatch.setenv("REENACT_PLUGINS", "")
    with pytest.raises(UnknownModel):
        open_model("echo:hello")
