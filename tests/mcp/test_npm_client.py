"""The server with the SDK of npm, which shares no line with the client that the other tests use."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reenact.demo import CASES
from warm import warm_reenact

pytestmark = [
    pytest.mark.release,
    pytest.mark.skipif(shutil.which("npm") is None, reason="needs node and npm"),
]
CLIENT = Path(__file__).parent / "npm_client"
LONGEST_S = 900


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the client printed of its walk."""
    folder = tmp_path_factory.mktemp("npm")
    for file in CLIENT.iterdir():
        shutil.copyfile(file, folder / file.name)
    shutil.copyfile(CASES / "train.py", folder / "train.py")
    install = ("npm", "install", "--silent", "--no-package-lock", "--ignore-scripts")
    subprocess.run(install, cwd=folder, check=True, timeout=LONGEST_S)
    answer = subprocess.run(
        ("node", "walk.mjs", warm_reenact(), "train.py"),
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        env={**os.environ, "REENACT_NO_NETWORK_MODELS": "1", "OMP_NUM_THREADS": "1"},
    )
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return found


def test_it_lists_the_tools_and_reads_a_program(walk: dict[str, Any]) -> None:
    assert {"lint", "diagnose", "result", "apply"} <= set(walk["tools"])
    assert json.loads(walk["linted"])["findings"]


def test_one_call_waits_for_a_diagnosis_and_hears_of_its_progress(walk: dict[str, Any]) -> None:
    ended = json.loads(walk["ended"])
    assert ended["result"]["findings"]
    assert walk["reports"]


def test_what_is_not_allowed_is_refused_with_the_flag_that_allows_it(walk: dict[str, Any]) -> None:
    assert "--allow-apply" in walk["refused"]
