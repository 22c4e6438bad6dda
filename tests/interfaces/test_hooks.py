"""The pre-commit hook and the GitHub action do what they say, as their runners start them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from reenact.cli.edge import guarded
from reenact.cli.main import reenact
from warm import warm_reenact

ROOT = Path(__file__).parents[2]
INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
Acted: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]
BROKEN = ROOT / "examples" / "broken" / "torch_spirals.py"


def test_the_hook_runs_what_it_names() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    words = shlex.split(hook["entry"])
    assert words[0] == "reenact"
    assert set(hook["types_or"]) == {"python", "jupyter"}
    assert guarded(reenact, [*words[1:], str(BROKEN)]) == 1


@pytest.fixture(scope="module")
def action() -> dict[str, Any]:
    reported: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return reported


@pytest.fixture
def acted(
    action: dict[str, Any], tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`acted(paths=..., fail=...)`: every script of the action with these inputs, as the runner
    starts them.

    Packages are installed already: of the installing step, what it would install is looked at.
    """
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text(f'#!/bin/sh\necho "$@" >>"{tmp_path}/installed"\n')
    (tmp_path / "bin" / "python").chmod(0o755)
    scripts = Path(warm_reenact()).parent

    def ran(**inputs: str) -> subprocess.CompletedProcess[str]:
        given = {
            name: inputs.get(name, about["default"]) for name, about in action["inputs"].items()
        }
        ended = subprocess.CompletedProcess[str]([], 0, "", "")
        for step in (step for step in action["runs"]["steps"] if "run" in step):
            own = {
                name: INPUT.sub(lambda one: given[one[1]], text)
                for name, text in step.get("env", {}).items()
            }
            places = {
                "GITHUB_OUTPUT": str(tmp_path / "outputs"),
                "GITHUB_ACTION_PATH": str(ROOT),
            }
            path = os.pathsep.join([str(tmp_path / "bin"), str(scripts), os.environ["PATH"]])
            ended = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=tmp_path,
                env=os.environ | places | own | {"PATH": path},
                capture_output=True,
                text=True,
                check=False,
            )
            if ended.returncode:
                break
        return ended

    return ran


def test_the_action_annotates_writes_sarif_and_fails(acted: Acted, tmp_path: Path) -> None:
    ended = acted(paths="examples/broken/torch_spirals.py examples/paper", sarif="found.sarif")
    assert ended.returncode == 1, ended.stderr
    assert ended.stdout.startswith("::warning title=UM005 ")
    assert "file=examples/broken/torch_spirals.py,line=23" in ended.stdout
    assert '"ruleId": "UM005"' in (tmp_path / "found.sarif").read_text()
    assert (tmp_path / "outputs").read_text() == "exit-code=1\n"
    assert (tmp_path / "installed").read_text() == f"-I -m pip install --quiet {ROOT}\n"


def test_a_module_of_the_repository_does_not_install(
    action: dict[str, Any], tmp_path: Path
) -> None:
    """`python -m pip` imports a `pip.py` of the folder that was checked out."""
    for name in ("pip", "json", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("print('planted')\n")
    (step,) = (step for step in action["runs"]["steps"] if step.get("name") == "Install")
    words = shlex.split(step["run"])
    asked = [sys.executable, *words[1 : words.index("install")], "--version"]
    ended = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "planted" not in ended.stdout
    assert ended.stdout.startswith("pip ") or "No module named pip" in ended.stderr


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("inputs", "code", "reported"),
    [
        ({"fail": "false"}, 0, "1"),
        ({"select": "NL015"}, 1, "1"),
        ({"select": "NL015", "exclude": "broken"}, 0, "0"),
        ({"ignore": "UM,NL,RE,DD,DL,TC,AT", "fail": "false"}, 0, "0"),
        ({"paths": "nowhere.py"}, 2, "2"),
        ({"select": "$(touch here)"}, 2, "2"),
    ],
)
def test_inputs_do_what_they_say_and_are_never_text_of_the_script(
    inputs: dict[str, str], code: int, reported: str, acted: Acted, tmp_path: Path
) -> None:
    ended = acted(**({"paths": "examples"} | inputs))
    assert ended.returncode == code, ended.stderr
    assert (tmp_path / "outputs").read_text() == f"exit-code={reported}\n"
    assert not (tmp_path / "here").exists()


def test_the_action_says_what_it_gives_and_takes_nothing_unasked(
    action: dict[str, Any],
) -> None:
    steps = action["runs"]["steps"]
    scripts = [step for step in steps if "run" in step]
    assert all("${{" not in step["run"] for step in scripts), (
        "inputs must reach the script as variables"
    )
    used = {
        name
        for step in scripts
        for text in step.get("env", {}).values()
        for name in INPUT.findall(text)
    }
    assert used == set(action["inputs"])
    (out,) = action["outputs"].values()
    assert re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.exit-code \}\}", out["value"])[1] in {
        step.get("id") for step in steps
    }
