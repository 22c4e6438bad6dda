"""`lint --fix`: safe fixes, and unsafe ones where they are asked for; files change only then."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import reenact
from reenact.api.fixing import put_in_place
from reenact.api.linting import program_of
from reenact.errors import InputError
from reenact.faults.fix import FixSafety, FixTried
from warm import warm_reenact

LOOP = """# -*- coding: utf-8 -*-
import torch
from torch import nn

model = nn.Linear(4, 2)   # two classes
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in batches:
    loss = nn.functional.cross_entropy(model(x), y)

    loss.backward()   # here
    optimizer.step()
"""
CLEARED = LOOP.replace(
    "    loss.backward()   # here\n", "    optimizer.zero_grad()\n    loss.backward()   # here\n"
)


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(LOOP)
    return Path("train.py")


def test_an_unsafe_fix_is_made_only_where_it_is_asked_for(script: Path) -> None:
    found = reenact.lint(script)
    (finding,) = found.findings
    assert finding.fix is not None
    assert (finding.fix.safety, finding.fix.tried) == (FixSafety.UNSAFE, FixTried.NOT_RUN)
    assert found.fix().files == ()
    assert script.read_text() == LOOP
    (changed,) = found.fix(unsafe=True).files
    assert [one.code for one in changed.applied] == ["RE010"]
    assert script.read_text() == CLEARED


def test_formatting_and_comments_stay_and_a_second_time_changes_nothing(script: Path) -> None:
    windows = LOOP.replace("\n", "\r\n").encode()
    script.write_bytes(windows)
    script.chmod(0o640)
    reenact.lint(script).fix(unsafe=True)
    assert script.read_bytes() == CLEARED.replace("\n", "\r\n").encode()
    assert script.stat().st_mode & 0o777 == 0o640
    assert reenact.lint(script).fix(unsafe=True).sentence == "Nothing was fixed."
    assert script.read_bytes() == CLEARED.replace("\n", "\r\n").encode()


def test_several_files_are_fixed_each_by_itself(script: Path) -> None:
    Path("notes.py").write_text("print('no training')\n")
    Path("broken.py").write_text("import torch\nfor\n")
    Path("other.py").write_text(LOOP)
    fixes = reenact.lint(".").fix(unsafe=True)
    assert [one.path for one in fixes.files] == ["other.py", "train.py"]
    assert fixes.sentence == "2 findings in 2 files fixed."
    assert Path("other.py").read_text() == script.read_text() == CLEARED
    assert Path("broken.py").read_text() == "import torch\nfor\n"


def test_the_diff_names_the_file_as_it_was_named_and_git_takes_it(script: Path) -> None:
    Path("src").mkdir()
    script.rename("src/train.py")
    found = reenact.lint("src")
    fixes = found.fix(unsafe=True, write=False)
    assert Path("src/train.py").read_text() == LOOP
    assert fixes.diff.startswith("--- a/src/train.py\n+++ b/src/train.py\n")
    assert found.findings[0].fix is not None
    assert found.findings[0].fix.diff == fixes.diff
    subprocess.run(["git", "apply", "-"], input=fixes.diff.encode(), check=True)
    assert Path("src/train.py").read_text() == CLEARED


def test_a_cell_of_a_notebook_is_fixed(script: Path) -> None:
    cells = [
        {"cell_type": "code", "source": part, "metadata": {}, "outputs": []}
        for part in (LOOP.partition("for x")[0], "for x" + LOOP.partition("for x")[2])
    ]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    Path("study.ipynb").write_text(json.dumps(book, indent=1))
    script.unlink()
    reenact.lint("study.ipynb").fix(unsafe=True)
    after = json.loads(Path("study.ipynb").read_text())
    text = "".join(after["cells"][1]["source"])
    assert "    optimizer.zero_grad()\n    loss.backward()   # here\n" in text
    assert after["cells"][0] == cells[0]


def test_a_file_that_changed_since_it_was_read_is_not_overwritten(script: Path) -> None:
    read = program_of(script)
    script.write_text(LOOP + "print(loss)\n")
    with pytest.raises(InputError, match="not overwritten"):
        put_in_place(script, read, read)
    assert script.read_text() == LOOP + "print(loss)\n"


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [warm_reenact(), "lint", *words], capture_output=True, text=True, check=False
    )


def test_a_diff_writes_nothing_and_ends_with_1(script: Path) -> None:
    hidden = command("--diff", str(script))
    assert (hidden.returncode, hidden.stdout) == (0, "")
    assert "1 more finding fixable with --unsafe-fixes" in hidden.stderr
    shown = command("--diff", "--unsafe-fixes", str(script))
    assert shown.returncode == 1
    assert "+    optimizer.zero_grad()" in shown.stdout
    assert script.read_text() == LOOP


def test_after_fixing_what_is_left_decides_the_exit_code(script: Path) -> None:
    left = command("--fix", str(script))
    assert left.returncode == 1
    assert script.read_text() == LOOP
    fixed = command("--fix", "--unsafe-fixes", str(script))
    assert fixed.returncode == 0
    assert "1 finding in 1 file fixed." in fixed.stdout
    assert script.read_text() == CLEARED


def test_a_baseline_and_fixes_are_not_given_together(script: Path) -> None:
    Path("known.json").write_text("{}")
    ended = command("--fix", "--baseline", "known.json", str(script))
    assert ended.returncode == 2
    assert "one or the other" in ended.stderr


def test_sarif_hands_out_the_edit(script: Path) -> None:
    shown = command("--output-format", "sarif", str(script))
    (result,) = json.loads(shown.stdout)["runs"][0]["results"]
    (fix,) = result["fixes"]
    assert fix["description"]["text"] == "unsafe; not run"
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == str(script)
    (replacement,) = change["replacements"]
    line = LOOP.splitlines().index("    loss.backward()   # here") + 1
    assert replacement == {
        "deletedRegion": {"startLine": line, "startColumn": 1, "endLine": line, "endColumn": 1},
        "insertedContent": {"text": "    optimizer.zero_grad()\n"},
    }


def test_json_says_that_nothing_was_run(script: Path) -> None:
    data = json.loads(command("--output-format", "json", str(script)).stdout)["data"]
    fix = data["findings"][0]["fix"]
    assert (fix["tried"], fix["safety"]) == ("not run", "unsafe")
    assert fix["diff"].startswith(f"--- a/{script}\n")
    assert "+    optimizer.zero_grad()" in fix["diff"]
