"""The pre-commit hook and the GitHub action name verbs and options that exist."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import yaml

from reenact.cli.edge import guarded
from reenact.cli.lint import lint
from reenact.cli.main import reenact

ROOT = Path(__file__).parents[2]
BROKEN = ROOT / "examples" / "broken" / "torch_spirals.py"


def test_the_hook_runs_what_it_names() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    words = shlex.split(hook["entry"])
    assert words[0] == "reenact"
    assert set(hook["types_or"]) == {"python", "jupyter"}
    assert guarded(reenact, [*words[1:], str(BROKEN)]) == 1


def test_the_script_of_the_action_annotates_and_fails(tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    step = next(step for step in action["runs"]["steps"] if step.get("id") == "lint")
    assert "${{" not in step["run"], "inputs must reach the script as variables"
    given = {name: action["inputs"][name.removeprefix("LINT_").lower()]["default"] for name in step["env"]}
    given |= {
        "LINT_PATHS": str(BROKEN),
        "LINT_SARIF": "found.sarif",
        "GITHUB_OUTPUT": str(tmp_path / "outputs"),
    }
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=tmp_path,
        env=os.environ | given | {"PATH": beside},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1, ended.stderr
    assert ended.stdout.startswith("::warning title=UM005 ")
    assert '"ruleId": "UM005"' in (tmp_path / "found.sarif").read_text()
    assert (tmp_path / "outputs").read_text() == "exit-code=1\n"


def test_the_action_uses_options_that_exist() -> None:
    text = (ROOT / "action.yml").read_text()
    known = {name for option in lint.params for name in option.opts}
    assert set(re.findall(r" (--(?:select|ignore|exclude|output-format))", text)) <= known
