"""Commits of the output folder: ours alone, once each, and none in somebody else's history."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from reenact.codegen.project import Project
from reenact.errors import InputError
from reenact.journal import Journal
from reenact.paper.develop.development import History, commit_all, in_short


def git(out: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=out, capture_output=True, text=True, check=True
    ).stdout.strip()


def kept(out: Path, *versions: Project) -> tuple[History, list[str]]:
    history = History(out)
    with Journal.in_memory().run(pipeline="paper", request={}, argv=(), what="x") as run:
        commits = [
            history.keep(version, f"Round {number}", run.under("round", attempt=number))
            for number, version in enumerate(versions)
        ]
    return history, commits


def test_each_version_is_a_commit_by_us_without_hooks(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first, second = Project({"a.py": "x\n", "b.py": "y\n"}), Project({"a.py": "z\n"})
    _, commits = kept(out, first, second)
    assert git(out, "rev-parse", "HEAD") == commits[1] != commits[0]
    assert git(out, "log", "--format=%an <%ae>") == "\n".join(["reenact <reenact@localhost>"] * 2)
    assert git(out, "ls-tree", "--name-only", "HEAD") == "a.py"
    assert not (out / ".git" / "hooks").exists()


def test_the_folder_may_be_named_from_where_we_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _, commits = kept(Path("out"), Project({"a.py": "x\n"}))
    assert git(tmp_path / "out", "rev-parse", "HEAD") == commits[0]


def test_a_commit_that_an_interruption_left_is_found_again(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x\n")
    first = commit_all(tmp_path, ["a.py"], "Round 0")
    assert commit_all(tmp_path, ["a.py"], "Round 0") == first
    (tmp_path / "a.py").write_text("y\n")
    assert commit_all(tmp_path, ["a.py"], "Round 0") != first


def test_a_history_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    history, commits = kept(tmp_path, Project({"a.py": "x\n"}))
    assert commits == [""]
    assert "not ours" in history.notes[0]
    assert (tmp_path / "a.py").read_text() == "x\n"
    assert git(tmp_path, "for-each-ref") == ""


def test_without_git_the_files_are_written_and_noted(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    history, commits = kept(tmp_path / "out", Project({"a.py": "x\n"}))
    assert commits == [""]
    assert "git is not installed" in history.notes[0]
    assert (tmp_path / "out" / "a.py").read_text() == "x\n"


def test_files_of_somebody_else_are_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("mine\n")
    with pytest.raises(InputError, match="not reenact's own"):
        kept(tmp_path, Project({"a.py": "x\n"}))
    assert (tmp_path / "a.py").read_text() == "mine\n"
    assert not (tmp_path / ".git").exists()


def test_long_rows_of_criteria_are_shortened() -> None:
    assert in_short(("F1", "F2", "F3", "F5", "F6", "F9")) == "F1-F3, F5, F6, F9"
    assert in_short(("F2", "F1")) == "F2, F1"
    assert in_short(("mine", "yours")) == "mine, yours"
    assert in_short(()) == ""
