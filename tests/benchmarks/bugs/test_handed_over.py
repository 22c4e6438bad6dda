"""A test that was handed over, inside the own suite of a project."""

from __future__ import annotations

from pathlib import Path

from benchmarks.bugs.handed_over import in_own_suite
from reenact.bug.environment import prepare
from reenact.bug.options import BugOptions
from reenact.bug.project_files import project_files
from reenact.bug.script_runner import Revision, ScriptRunner
from reenact.codegen.runner import ProjectRunner
from reenact.sandbox.choose import choose

CONFTEST = """import pytest


@pytest.fixture(autouse=True)
def scaled(monkeypatch):
    monkeypatch.setattr("acme.SCALE", 2)
"""
TEST = """from acme import scaled


def test_scaled():
    assert scaled(3) == 6
"""
INI = "[pytest]\naddopts = --no-such-option\n"


def revision(folder: Path, text: str, conftest: str = CONFTEST) -> Revision:
    (folder / "acme").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "acme" / "__init__.py").write_text(text)
    (folder / "tests" / "conftest.py").write_text(conftest)
    (folder / "tests" / "test_acme.py").write_text("def test_nothing():\n    pass\n")
    (folder / "pytest.ini").write_text(INI)
    return Revision(folder.name, project_files(folder))


def runner(at: Revision) -> ScriptRunner:
    environment = prepare(at.files, (), None, BugOptions(environment="here"), None)
    return ScriptRunner(ProjectRunner(choose(trust_code=True), 30.0), environment)


def test_it_runs_with_the_conftest_of_the_project(tmp_path: Path) -> None:
    buggy = revision(tmp_path / "buggy", "SCALE = 1\n\n\ndef scaled(x):\n    return x\n")
    fixed = revision(tmp_path / "fixed", "SCALE = 1\n\n\ndef scaled(x):\n    return SCALE * x\n")
    assert in_own_suite(TEST, (buggy, fixed), runner(buggy)) == "red, green"
    assert not (tmp_path / "buggy" / "tests" / "test_reported_bug.py").exists()


def test_a_suite_that_cannot_be_collected_is_red(tmp_path: Path) -> None:
    """A test that stops the collection is none that a maintainer takes."""
    broken = revision(tmp_path / "broken", "def scaled(x):\n    return 2 * x\n")
    assert in_own_suite("def test_scaled(:\n", (broken,), runner(broken)) == "red"
    missing = revision(tmp_path / "missing", "", conftest="import nobodyhasthis\n")
    said = in_own_suite(TEST, (missing,), runner(missing))
    assert said == "no test was run", said
