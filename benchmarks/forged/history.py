"""The small repository of the bug cases as a git history of two commits, made for each case."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks.forged.case import HISTORIES

DAY = "2026-01-05T12:00:00+00:00"
_IDENTITY = (
    "-c",
    "user.name=acme",
    "-c",
    "user.email=acme@localhost",
    "-c",
    "commit.gpgSign=false",
)
WALL_S = 60.0


@dataclass(frozen=True, slots=True)
class History:
    """A repository and its two commits."""

    folder: Path
    buggy: str
    fixed: str


def make_history(name: str, folder: Path) -> History:
    """`buggy` as the first commit, then what `fixed` changes."""
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    buggy = _commit(folder, HISTORIES / name / "buggy", "First version")
    fixed = _commit(folder, HISTORIES / name / "fixed", "Second version")
    return History(folder, buggy, fixed)


def _commit(folder: Path, files: Path, message: str) -> str:
    shutil.copytree(files, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    _git(folder, "add", "--all")
    _git(folder, *_IDENTITY, "commit", "--quiet", "--message", message)
    return _git(folder, "rev-parse", "HEAD").strip()


def _git(folder: Path, *words: str) -> str:
    ran = subprocess.run(  # noqa: S603
        ["git", *words],  # noqa: S607
        cwd=folder,
        env={
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": DAY,
            "GIT_COMMITTER_DATE": DAY,
        },
        capture_output=True,
        text=True,
        timeout=WALL_S,
        check=True,
    )
    return ran.stdout
