"""The files for a public CI: no service of this project runs them, so linters read them instead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"
SCHEMAS = {
    "github-workflows": WORKFLOWS,
    "github-actions": [ROOT / "action.yml"],
    "github-issue-forms": sorted({*FORMS.glob("*.yml")} - {FORMS / "config.yml"}),
    "github-issue-config": [FORMS / "config.yml"],
}
UNPINNED = """\
name: unpinned
on: push
permissions: {}
jobs:
  test:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v4
        with:
          persist-credentials: false
"""


def linted(*words: object) -> subprocess.CompletedProcess[str]:
    """What a linter says; both are installed by `make test`, and ask no network."""
    return subprocess.run(
        [str(BIN / str(words[0])), *map(str, words[1:])],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("schema", SCHEMAS)
def test_each_file_is_of_its_form(schema: str) -> None:
    assert SCHEMAS[schema]
    ended = linted("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *SCHEMAS[schema])
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_linter_of_workflows_finds_nothing() -> None:
    ended = linted("zizmor", "--offline", "--no-progress", *WORKFLOWS, ROOT / "action.yml")
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_linter_sees_an_action_that_may_be_replaced(tmp_path: Path) -> None:
    workflow = tmp_path / ".github" / "workflows" / "test.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(UNPINNED, encoding="utf-8")
    ended = linted("zizmor", "--offline", "--no-progress", workflow)
    assert ended.returncode != 0
    assert "unpinned-uses" in ended.stdout
    workflow.write_text(UNPINNED.replace("runs-on", "runs-upon"), encoding="utf-8")
    ended = linted("check-jsonschema", "--builtin-schema", "vendor.github-workflows", workflow)
    assert ended.returncode != 0


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_says_whether_it_ran(workflow: Path) -> None:
    assert "Not run by any service yet" in workflow.read_text(encoding="utf-8")
