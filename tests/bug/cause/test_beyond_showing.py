"""What is reported beyond showing a bug: the lines that cause it, the commit that brought it, a patch."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from reenact.bug.reproduction import Verdict
from reenact.intake.repository import open_history, open_repository
from tests.bug.test_pipeline import CRASHES

TESTS = """from acme import Meter


def test_mean():
    meter = Meter(2)
    meter.update(3.0)
    assert meter.mean() == 3.0


def test_empty_name():
    assert Meter().window == 10
"""
GUARD = """        if not self.values:
            return 0.0
"""
RETURN = "        return sum(self.values) / len(self.values)\n"


def test_the_change_that_flips_the_script_is_found(toy: Any) -> None:
    """The fixed revision changes more than the bug needs: the loss, and another file."""
    (toy.folder / "fixed" / "acme" / "more.py").write_text("VALUE = 1\n")
    found = toy.reproduce({"0/0": CRASHES}, fixed=True, cause=True)
    assert found.verdict is Verdict.REPRODUCED, found.reason
    cause = found.cause
    assert cause is not None
    assert "Changing these lines alone makes the bug go away (1 of 3 changes" in cause.how
    (line,) = cause.lines
    assert line.startswith("acme/losses.py:")
    assert "+        if not self.values:" in cause.diff
    assert "max(len(scores), 1)" not in cause.diff
    assert "more.py" not in cause.diff


def test_without_a_second_revision_the_failing_call_is_looked_at(toy: Any) -> None:
    script = "from acme import Meter\n\nmeter = Meter(3)\nprint(meter.mean())\n"
    found = toy.reproduce({"0/0": script}, cause=True)
    cause = found.cause
    assert cause is not None
    assert "Only the failing call executes these lines" in cause.how
    assert [one.partition(": ")[2] for one in cause.lines] == [RETURN.strip()]
    assert cause.diff == ""


def commit(folder: Path, message: str) -> str:
    for words in (["add", "-A"], ["commit", "-q", "-m", message]):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    said = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True
    )
    return said.stdout.strip()


def test_the_commit_that_brought_it_and_its_lines_are_named(toy: Any, monkeypatch: Any) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "somebody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "somebody@example.org")
    folder = toy.folder / "buggy"
    losses = folder / "acme" / "losses.py"
    text = losses.read_text()
    losses.write_text(text.replace(RETURN, GUARD + RETURN))
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    good = commit(folder, "Begin")
    (folder / "README.md").write_text("acme\n")
    commit(folder, "Say what it is")
    losses.write_text(text.replace("class Meter:", "class Meter:\n    # faster\n"))
    culprit = commit(folder, "Make the mean faster")
    (folder / "README.md").write_text("acme, tools\n")
    bad = commit(folder, "Say more")
    into = toy.folder / "checkouts"
    with open_history(str(folder), into=into) as history:
        found = toy.reproduce(
            {"0/0": CRASHES}, history=history, bisect=f"{good}..{bad}", cause=True
        )
    assert f"The bug came with {culprit[:12]} (Make the mean faster)" in found.brought_by
    assert found.cause is not None
    assert found.cause.how.startswith("In the commit that brought the bug: ")
    assert "+        if not self.values:" in found.cause.diff
    assert "faster" not in found.cause.diff
    assert open_repository(str(folder), good, into=into).commit == good


def edit(new: str) -> dict[str, Any]:
    return {
        "edits": [{"path": "acme/losses.py", "old": RETURN, "new": new}],
        "why": "An empty meter has a mean of zero.",
    }


def test_a_patch_is_kept_that_passes_the_script_and_the_projects_own_tests(
    toy: Any, tmp_path: Path
) -> None:
    (toy.folder / "buggy" / "tests").mkdir()
    (toy.folder / "buggy" / "tests" / "test_meter.py").write_text(TESTS)
    patches = [
        edit("        return sum(self.values) / (len(self.values) + 2)\n"),
        edit(GUARD + RETURN),
    ]
    found = toy.reproduce({"0/0": CRASHES}, patches=patches, patch=True, out=tmp_path / "out")
    patch = found.patch
    assert patch is not None
    assert "+        if not self.values:" in patch.diff, patch.why_not
    assert "2 tests of the project that touch the changed code pass as before" in patch.tests
    second = toy.models[-1].calls[-1].as_text()
    assert "test_meter.py::test_mean" in second, (
        "the first one broke a test, and the next prompt names it"
    )
    (tmp_path / "copy").mkdir()
    given = (tmp_path / "out" / "proposed.patch").read_text()
    assert given == patch.diff
    report = (tmp_path / "out" / "REPORT.md").read_text()
    assert "Proposed patch" in report
    assert "a maintainer decides" in report


def test_a_patch_that_does_not_fix_it_is_not_handed_over(toy: Any, tmp_path: Path) -> None:
    useless = edit(f"        # nothing\n{RETURN}")
    found = toy.reproduce({"0/0": CRASHES}, patches=[useless] * 3, patch=True, out=tmp_path / "out")
    assert found.patch is not None
    assert found.patch.diff == ""
    assert "none of 3 patches passed" in found.patch.why_not
    assert "The bug shows" in found.patch.why_not
    assert not (tmp_path / "out" / "proposed.patch").exists()


def test_a_patch_of_a_test_is_refused(toy: Any) -> None:
    (toy.folder / "buggy" / "tests").mkdir()
    (toy.folder / "buggy" / "tests" / "test_meter.py").write_text(TESTS)
    wrong = {
        "edits": [{"path": "tests/test_meter.py", "old": "== 3.0", "new": "== 4.0"}],
        "why": "because",
    }
    right = edit(GUARD + RETURN)
    found = toy.reproduce({"0/0": CRASHES}, patches=[[wrong, right]], patch=True)
    assert found.patch is not None
    assert found.patch.diff
    assert "is a test" in toy.models[-1].calls[-1].as_text()
