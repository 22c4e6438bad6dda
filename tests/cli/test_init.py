"""`reenact init`: files that work as they are written, and none of the user's changed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

from reenact.cli.edge import guarded
from reenact.cli.init import HOOKS, SETTINGS, WORKFLOW
from reenact.cli.main import reenact
from reenact.settings import resolve


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_three_files_are_written_and_can_be_read(project: Path) -> None:
    assert guarded(reenact, ["init"]) == 0
    assert tomllib.loads(SETTINGS.read_text()) == {}
    (hook,) = yaml.safe_load(HOOKS.read_text())["repos"][0]["hooks"]
    assert hook["entry"].startswith("reenact lint")
    assert "lint" in yaml.safe_load(WORKFLOW.read_text())["jobs"]


def test_every_setting_it_offers_is_one_that_a_project_may_set(project: Path) -> None:
    guarded(reenact, ["init"])
    lines = SETTINGS.read_text().splitlines()
    offered = [line.removeprefix("# ") for line in lines if " = " in line]
    SETTINGS.write_text("\n".join(offered))
    resolved = resolve(cwd=project, environ={}, user_file=project / "none.toml")
    assert resolved.ignored == ()
    set_here = [name for name, origin in resolved.origins.items() if "project" in origin]
    assert len(set_here) == len(offered) == 5


def test_what_exists_is_left_alone_and_the_hook_is_printed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    HOOKS.write_text("repos: []\n")
    assert guarded(reenact, ["init", "--no-ci"]) == 0
    assert HOOKS.read_text() == "repos: []\n"
    assert "id: reenact" in capsys.readouterr().out
    assert not WORKFLOW.exists()


def test_a_second_time_changes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    guarded(reenact, ["init"])
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert guarded(reenact, ["init"]) == 0
    assert capsys.readouterr().out.count("was not changed") == 3
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before
