"""A helper of ours in an untrusted folder sees nothing of what lies there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reenact.errors import ReenactError
from reenact.sandbox.files.host_python import run_host_python


@pytest.fixture
def poisoned(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    trip = f"open({str(tmp_path / 'tripwire')!r}, 'w').close()\n"
    for name in ("json.py", "sitecustomize.py", "usercustomize.py", "conftest.py", "x.pth"):
        (folder / name).write_text(trip)
    return folder


def test_a_careless_helper_is_caught(poisoned: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", "import json"], cwd=poisoned, check=True)
    assert (tmp_path / "tripwire").exists()


def test_ours_is_not(poisoned: Path, tmp_path: Path) -> None:
    script = "import json, sys; print(json.dumps([sys.argv[1], sys.stdin.read()]))"
    assert run_host_python(script, "a", folder=poisoned, stdin=b"b") == b'["a", "b"]\n'
    assert not (tmp_path / "tripwire").exists()


def test_the_environment_is_clean(poisoned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(poisoned))
    monkeypatch.setenv("SECRET", "x")
    assert run_host_python("import os; print(os.environ.get('SECRET'))", folder=poisoned) == b"None\n"


def test_failures_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(ReenactError, match="status 1: ValueError: bad"):
        run_host_python("raise ValueError('bad')", folder=tmp_path)
    with pytest.raises(ReenactError, match="did not end"):
        run_host_python("while True: pass", folder=tmp_path, wall_s=0.5)
