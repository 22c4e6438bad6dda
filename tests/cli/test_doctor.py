from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reenact.cli.doctor import problems
from reenact.settings import Settings
from warm import warm_reenact


def doctor(folder: Path, **environ: str) -> tuple[int, dict[str, object]]:
    process = subprocess.run(
        [warm_reenact(), "doctor", "--output-format", "json"],
        cwd=folder,
        env=os.environ | environ,
        capture_output=True,
        text=True,
        check=False,
    )
    return process.returncode, json.loads(process.stdout)


def test_it_tells_the_truth_about_this_machine(tmp_path: Path) -> None:
    code, document = doctor(tmp_path)
    data = document["data"]
    tiers = {tier["name"]: tier for tier in data["sandbox"]}
    assert tiers["bubblewrap"]["works"] == (shutil.which("bwrap") is not None)
    assert tiers["none"]["chosen"] is False
    assert data["interpreter"]["torch"].startswith("2.")
    assert data["programs"]["git"] == shutil.which("git")
    assert code == (0 if tiers["bubblewrap"]["chosen"] else 1)


def test_a_key_is_reported_by_name_and_never_by_value(tmp_path: Path) -> None:
    _, document = doctor(tmp_path)
    assert document["data"]["keys_set"]["OPENAI_API_KEY"] is True
    assert os.environ["OPENAI_API_KEY"] not in json.dumps(document)


@pytest.mark.parametrize(
    ("environ", "code"),
    [
        ({"REENACT_MODEL": "opnai:gpt"}, "DR007"),
        ({"REENACT_MODEL": "deepseek:chat", "DEEPSEEK_API_KEY": ""}, "DR007"),
        ({"REENACT_SANDBOX": "podman"}, "DR001"),
        ({"REENACT_SANDBOX": "none"}, "DR001"),
    ],
)
def test_something_to_fix_is_exit_1_with_the_next_step(
    tmp_path: Path, environ: dict[str, str], code: str
) -> None:
    if environ.get("REENACT_SANDBOX") == "podman" and shutil.which("podman"):
        pytest.skip("podman is installed here")
    exit_code, document = doctor(tmp_path, **environ)
    found = {notice["code"]: notice for notice in document["notices"]}
    assert exit_code == 1
    assert found[code]["next_step"]


def test_a_damaged_journal_is_named(tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_bytes(b"not a database" * 100)
    found = {notice.code for notice in problems(Settings(runs_dir=tmp_path))}
    assert "DR003" in found


def test_it_speaks_of_the_interpreter_that_a_program_is_started_with(
    tmp_path: Path,
) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    python = str(tmp_path / "env" / "bin" / "python")
    for environ, how in (
        ({"VIRTUAL_ENV": str(tmp_path / "env")}, "the active environment"),
        ({"REENACT_PYTHON": python}, "chosen by the setting python"),
    ):
        code, document = doctor(tmp_path, **environ)
        data = document["data"]["interpreter"]
        assert data["path"] == f"{python} ({how})"
        assert (data["torch"], data["keras"]) == ("missing", "missing")
        notice = {one["code"]: one for one in document["notices"]}["DR009"]
        assert "--python PATH" in notice["next_step"]
        assert "[torch]" not in json.dumps(document)
    code, document = doctor(tmp_path, REENACT_PYTHON=str(tmp_path / "none"))
    assert code == 1
    assert (
        "cannot be started" in {one["code"]: one for one in document["notices"]}["DR008"]["message"]
    )
