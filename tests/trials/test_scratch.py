"""Scratch folders: held while their process lives, removed by the next one when it was killed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from reenact.own_process import own_environment
from reenact.trials.folder import SCRATCH, Scratch

DIES = """
import os, signal
from reenact.trials.folder import Scratch
made = Scratch.make()
(made.path / "data.bin").write_bytes(b"x" * 1000)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of this process and those it starts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def folders(place: Path) -> list[Path]:
    return sorted(place.glob(f"{SCRATCH}*"))


def test_what_a_killed_process_left_is_removed_by_the_next_one(place: Path) -> None:
    killed = subprocess.run([sys.executable, "-P", "-c", DIES], env=own_environment(), check=False)
    assert killed.returncode == -9
    assert len(folders(place)) == 1
    made = Scratch.make()
    assert folders(place) == [made.path]
    made.close()
    assert folders(place) == []


def test_what_somebody_uses_stays(place: Path) -> None:
    first, second = Scratch.make(), Scratch.make()
    assert folders(place) == sorted([first.path, second.path])
    for one in (first, second):
        one.close()


def test_what_only_looks_like_one_is_not_followed(
    place: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept").write_text("mine")
    (place / f"{SCRATCH}link").symlink_to(elsewhere)
    Scratch.make().close()
    assert (elsewhere / "kept").read_text() == "mine"
