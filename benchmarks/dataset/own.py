"""A program that is kept here, diagnosed or repaired in a copy of its folder that does not hold
the truth.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.children import environment
from benchmarks.dataset.ran import Ran
from benchmarks.dataset.training import TRAININGS, TRUTH, Training, read_training
from reenact.types import JsonValue

SOUND = "-sound"
"""How the folder of a sound twin ends."""
START_AND_END = 120.0
"""Seconds that the process takes besides its task."""
MOST_OUTPUT = 500
"""Characters of an error that are kept."""


def copy_of(training: Training, scratch: Path) -> Path:
    """The folder in which its user starts it."""
    folder = scratch / "programs" / training.shown
    shutil.copytree(
        TRAININGS / training.id,
        folder,
        ignore=shutil.ignore_patterns(TRUTH, "__pycache__"),
    )
    return folder


def twin_of(training: Training) -> Training | None:
    """Its sound twin, which stands for the author's fix; none where there is none, and for a package."""
    name = f"{training.id}{SOUND}"
    if training.module or not (TRAININGS / name / TRUTH).is_file():
        return None
    twin = read_training(name)
    return twin if twin.twin == training.id and twin.path.endswith(".py") else None


def _beside(twin: Training, scratch: Path) -> str:
    """The twin in a folder of its own; where its program is, as seen from the other one's."""
    folder = copy_of(twin, scratch)
    return f"../{folder.name}/{twin.path}"


def run_here(
    training: Training,
    task: Mapping[str, JsonValue],
    *,
    recording: Path | None,
    seconds: float,
    workers: int,
) -> Ran:
    """What came of a task next to the program, which is ours: it runs as a user's would."""
    with tempfile.TemporaryDirectory(prefix="reenact-training-") as scratch:
        answer = Path(scratch) / "answer.json"
        twin = twin_of(training) if task["task"] == "repair" else None
        fixed = _beside(twin, Path(scratch)) if twin is not None else ""
        given = {
            **task,
            "folder": ".",
            "words": list(training.words),
            "fixed": fixed,
            "recording": str(recording or ""),
            "answer": str(answer),
        }
        try:
            ended = subprocess.run(
                [sys.executable, "-m", "benchmarks.dataset.inside"],
                input=json.dumps(given),
                capture_output=True,
                text=True,
                cwd=copy_of(training, Path(scratch)),
                env=environment(
                    KERAS_BACKEND="torch",
                    MPLBACKEND="Agg",
                    OMP_NUM_THREADS=str(workers),
                ),
                timeout=seconds + START_AND_END,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Ran(why="no answer within its time")
        if answer.is_file():
            return Ran(answer=answer.read_bytes())
    return Ran(why=f"exit code {ended.returncode}: {ended.stderr[-MOST_OUTPUT:]}")
